#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links: two nodes that stop reaching each other, and a rail that dies in a stream, are told
# as what they are.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/battery.sh"

during() { # COMMAND...: once the first round has begun
    within 20 grep -q 'round 1' "$work/noise" && sleep 1 && "$@"
}
cut() { # n2 from n3, on all networks
    local rail
    for rail in 0 1 2; do
        lab on n2 ip route add blackhole "$(address n3 $rail)/32"
    done
}
export MUSTER_PROGRESS=1

: >"$work/noise"
during cut &
battery 1 muster-links --passes pairs --pairs n1:n2,n1:n4,n2:n3
wait
is "$status" 1 'a pair that cannot meet is no pass'
valid '...'
is "$(of '.verdict == "fail"' .metric .node .part .peer)" 'state n2 None n3' \
    '... both are named, and nobody else'
like "$(of '.metric == "state"' .message)" '^n2 and n3 do not reach each other by TCP' '... it says why'
ok 'heal' lab on n2 ip route flush type blackhole

: >"$work/noise"
during lab on n2 ip link set eth1 down &
battery 1 muster-links --passes together --pairs n1:n2 --rails eth1 --repeats 60 --time-limit 18
wait
is "$(of '.verdict == "fail"' .test .metric .node .part .peer)" \
    $'links bandwidth_together n1 eth1 n2\nlinks bandwidth_together n2 eth1 n1' \
    'a rail that dies in a stream fails, and its nodes are not taken for hung'
done_testing
