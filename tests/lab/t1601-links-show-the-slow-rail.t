#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A slow rail shows in exactly its pairs, a rail that is down or leads nowhere is named.
. "$(dirname "$0")/battery.sh"

touching_n3_eth1='.part == "eth1" and "n3" in (.node, .peer)'

are_measured() { [ -z "$(record_fields ".metric == 'bandwidth' and .value < (44 if $touching_n3_eth1 else 150)" .node)" ]; }
ok 'inject slow-rail n3 eth1' lab fault slow-rail n3 eth1
battery_until are_measured 1 muster-links --floor 80
is "$status" 1 'a slow rail fails'
valid 'slow rail'
is "$(record_fields ".metric == 'bandwidth' and $touching_n3_eth1 and not 44 <= .value <= 51" \
    .node .part .peer .value)" '' 'its six directions have the 50 Mb/s that were injected'
is "$(record_fields ".metric == 'bandwidth' and $touching_n3_eth1 and .verdict == 'fail'" .node | wc -l)" 6 \
    '... and fail'
is "$(record_fields ".metric == 'bandwidth' and not ($touching_n3_eth1) and not 150 <= .value <= 201" \
    .node .part .peer .value)" '' 'all others have their full speed'
ok 'heal' lab heal

ok 'inject rail-down n3 eth2' lab fault rail-down n3 eth2
battery 1 muster-links --quick
is "$status" 1 'a rail that is down fails'
valid 'rail down'
is "$(record_fields '.verdict == "fail"' .metric .node .part .message)" 'state n3 eth2 rail eth2 is down' \
    '... it is named, and nothing else'
is "$(record_fields '.metric == "bandwidth"' .node | wc -l)" 18 '... the other 18 directions are measured'
ok 'heal' lab heal

lab on n3 ip address flush dev eth1
lab on n3 ip address add 10.99.1.3/24 dev eth1
fast() { record_fields '.metric == "bandwidth" and .value > 150' .node | wc -l; }
six_are_fast() { [ "$(fast)" = 6 ]; }
battery_until six_are_fast 1 muster-links --quick --rails eth1
is "$status" 1 'a rail with an address of another network fails'
valid 'no connection'
is "$(record_fields '.verdict == "fail"' .metric .value .node .peer | sort | xargs)" \
    'bandwidth 0 n1 n3 bandwidth 0 n2 n3 bandwidth 0 n3 n1 bandwidth 0 n3 n2 bandwidth 0 n3 n4 bandwidth 0 n4 n3' \
    '... in its six directions'
like "$(record_fields '.metric == "bandwidth" and .value == 0' .message | sed 1q)" 'n[0-9] eth1 -> n[0-9] eth1: no connection' '... with a message'
is "$(fast)" 6 '... the others are measured'
done_testing
