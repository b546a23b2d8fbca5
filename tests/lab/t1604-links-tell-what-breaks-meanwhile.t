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
during lab on n1 ip link set eth1 down &
battery 1 muster-links --passes together --pairs n1:n2 --rails eth1 --repeats 60 --time-limit 18
wait
is "$(of '.verdict == "fail"' .test .metric .node .part .peer)" \
    $'links bandwidth_together n1 eth1 n2\nlinks bandwidth_together n2 eth1 n1' \
    'a rail that dies in a stream fails, and its nodes are not taken for hung'
is "$(of '.metric == "carrier_changes"' .node .part .value)" 'n1 eth1 1' \
    '... what its interface counted is told once'
ok 'heal' lab on n1 ip link set eth1 up
unset MUSTER_PROGRESS

# As a driver does that asks its NIC once a second.
late=$work/tx_bytes
lab on n3 cat /sys/class/net/eth1/statistics/tx_bytes >"$late"
lab on n3 mount --bind "$late" /sys/class/net/eth1/statistics/tx_bytes
# shellcheck disable=SC2016 # for the node's shell
lab on n3 bash -c 'until [ -e "$1.over" ]; do
    sleep 1
    awk "\$1 == \"eth1:\" { print \$10 }" /proc/net/dev >"$1"
done' late "$late" &
battery 1 muster-links --quick --pairs n3:n4 --rails eth1 --repeats 1
is "$(of '.metric == "path"' .node .verdict | sort)" $'n3 pass\nn4 pass' \
    'an interface that counts late did carry the data'
is "$(of '.metric == "bandwidth_received"' .node .peer | sort)" $'n3 n4\nn4 n3' \
    '... and the receiver tells a single sample, too'
: >"$late.over"
wait
battery 1 muster-links --quick --pairs n3:n4 --rails eth1
is "$(of '.metric == "path"' .node .verdict | sort)" $'n3 fail\nn4 pass' \
    'one that does not count at all did not'
done_testing
