#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-launch: a healthy cluster passes; missing nodes, wrong counts and a lying rank are named.
. "$(dirname "$0")/battery.sh"

battery 2 muster-launch --started "$EPOCHREALTIME" --expect-nodes 'n[1-4]' --expect-ranks-per-node 2
is "$status" 0 'a healthy cluster passes'
is "$stderr_text" '' '... with nothing on standard error'
valid 'healthy'
is "$(record_fields '.verdict != "pass" and .metric != "end"' .message)" '' 'every verdict is pass'
is "$(record_fields '.metric == "end"' .value)" 0 '... and the last record has the exit status'
is "$(record_fields '.test == "mpi.launch" and .node' .node | sort | xargs)" 'n1 n2 n3 n4' 'start time of each node'
is "$(record_fields '.test == "mpi.launch" and .node and not 0.05 < .value < 30' .node .value)" '' '... which is plausible'
is "$(record_fields '.test == "workers.enumerate"' .node .value | sort | xargs)" 'n1 2 n2 2 n3 2 n4 2' \
    'two ranks on each node'
is "$(record_fields '.metric == "messages"' .node .value | sort | xargs)" 'n1 84 n2 84 n3 84 n4 84' \
    'each rank got 6 messages from each of 7'
is "$(record_fields '.metric == "coverage"' .value .message)" '1 all pairs of 8 ranks exchanged messages' \
    '... from all others'
is "$(record_fields '.test == "host.clock"' .node | sort | xargs)" 'n2 n3 n4' 'clocks are compared with that of n1'
is "$(record_fields '.test == "host.clock" and abs(.value) > 50' .node .value)" '' '... and agree'

battery 1 muster-launch --expect-nodes 'n[1-3,9]' --expect-ranks-per-node 2
is "$status" 1 'nodes and counts that are not as expected fail'
valid 'unexpected'
is "$(record_fields '.verdict == "fail"' .node .value | sort | xargs)" 'n1 1 n2 1 n3 1 n4 1 n9 0' \
    '... each node by name'
like "$records" 'n9 is missing, but was expected' '... the missing node'
like "$records" 'n4 takes part, but was not expected' '... the unexpected node'
like "$records" 'n2 has 1 rank, expected 2' '... and the count'

battery 2 muster-launch --inject lie:5
is "$status" 1 'a rank that damages what it sends fails'
valid 'lying'
is "$(record_fields '.verdict == "fail"' .node .part | sort | uniq -c | xargs)" '7 n3 rank 5' \
    '... named as sender in all its pairs, and nobody else'
like "$(record_fields '.verdict == "fail"' .message | sed 1q)" 'rank 5 on n3 -> rank [0-9] on n[0-9]: byte [0-9]+ of ' \
    '... with the byte'

battery 2 muster-launch --confidence 0.5 --inject lie:5
is "$status" 1 'with less confidence a lying rank fails as well'
valid 'sampled'
is "$(record_fields '.metric == "coverage" and 0.42 < .value < 0.43' .message)" \
    'each of 8 ranks exchanged messages with 3 of the 7 others; a fault that affects one pair only may be in an untested pair' \
    '... and the record says which share of the pairs was tested'
is "$(record_fields '.verdict == "fail"' .node .part | sort | uniq -c | xargs)" '3 n3 rank 5' \
    '... named by all its partners'

# Ranks learn of each other through a few ranks; otherwise each of 8 would connect to 24 on other nodes.
for _ in 1 2 3; do # again if it crashes in MPI_Init, as in battery()
    OMPI_MCA_btl_tcp_if_include=eth0 as_muster srun -N4 --ntasks-per-node=8 "$work/muster-launch" --time-limit 20 \
        --inject 'hang:0@messages round 2' >/dev/null 2>&1 </dev/null &
    most=0
    while kill -0 $! 2>/dev/null; do
        count=$(lab on n4 ss -Htn state established src "$(lab on n4 hostname -i)" 2>/dev/null | wc -l)
        [ "$count" -le "$most" ] || most=$count
        sleep 0.3
    done
    status=0
    wait $! || status=$?
    [ $status = 139 ] || break
done
like "$most" '^([1-9][0-9]|1[0-2][0-9])$' 'until the messages 8 ranks of a node have 129 connections at most, not 192'

MUSTER_CONF='' battery 2 muster-launch --config /no/such/file
is "$status" 2 'a missing configuration is a usage error'
is "$(grep -c 'muster-launch: /no/such/file does not exist' <<<"$stderr_text")" 1 '... reported once'
battery 2 muster-launch --nonsense
is "$status" 2 'an unknown option is a usage error'
is "$(grep -c 'muster-launch: unknown option --nonsense' <<<"$stderr_text")" 1 '... reported once'
done_testing
