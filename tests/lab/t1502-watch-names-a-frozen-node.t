#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A node that freezes, is cut off or dies while it is measured is named, srun returns, and the others
# measure all their pairs in the same launch.
. "$(dirname "$0")/battery.sh"

others_are_measured() {
    is "$(record_fields '.metric == "bandwidth" and .value > 0 and "n3" not in (.node, .peer)' \
        .node .part .peer | sort | uniq -c | awk '{ print $1 }' | xargs)" \
        '1 1 1 1 1 1 1 1 1 1 1 1' '... the pairs of the others are measured, every rail and direction'
    is "$(record_fields '.verdict == "unknown"' .metric .node)" 'complete n3' '... what n3 did not complete is unknown'
    is "$(record_fields '.metric == "rounds"' .value)" 3 '... after all three rounds'
}

for fault in frozen cut-off; do
    : >"$work/records"
    { within 100 grep -q latency "$work/records" && lab fault $fault n3 >/dev/null; } &
    battery 1 muster-links --passes pairs
    wait
    is "$(record_fields '.metric == "frozen"' .node .part .verdict)" 'n3 rank 2 fail' "$fault: n3 is named"
    is "$(record_fields '.verdict == "fail" and .node != "n3" and .peer != "n3"' .message)" '' \
        '... and no pair without n3 fails'
    others_are_measured
    within_s 25 '... srun returns'
    valid '...'
    ok '... heal' lab heal
done
battery 1 muster-links --quick --inject 'die:2@links pairs round 2'
is "$(record_fields '.metric == "died"' .node .part .verdict)" 'n3 rank 2 fail' 'a killed rank is named'
others_are_measured
ok '... no process is left' within 60 has_no_process muster-
battery 1 muster-launch
is "$status" 0 'afterwards the cluster is healthy'
done_testing
