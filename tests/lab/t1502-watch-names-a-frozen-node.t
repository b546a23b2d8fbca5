#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A node that freezes or is cut off while it is measured is named, and srun returns.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/battery.sh"

for fault in frozen cut-off; do
    : >"$work/records"
    { within 30 grep -q latency "$work/records" && lab fault $fault n3 >/dev/null; } &
    battery 1 muster-links --repeats 20
    wait
    is "$(of '.metric == "frozen"' .node .part .verdict)" 'n3 rank 2 fail' "$fault: n3 is named"
    is "$(of '.verdict == "fail" and .node != "n3" and .peer != "n3"' .message)" '' \
        '... and nobody without it'
    within_s 25 '... srun returns'
    valid '...'
    ok '... heal' lab heal
done
battery 1 muster-launch
is "$status" 0 'afterwards the cluster is healthy'
done_testing
