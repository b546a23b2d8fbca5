#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links: the MTU of a path end to end and of a rail against its peers, the receiver's figure, and
# how certain a figure is.
. "$(dirname "$0")/battery.sh"

battery 1 muster-links --quick
is "$status" 0 'a healthy fabric passes'
valid '...'
is "$(record_fields '.metric == "path" and "MTU 9000 end to end" not in .message' .message)" '' \
    '... packets of the MTU arrive everywhere'
is "$(record_fields '.metric == "bandwidth_received"' .node .part .peer | sort -u | wc -l)" 24 \
    '... the receiver reports each bandwidth too'
is "$(record_fields '.metric == "bandwidth" and .stopped not in ("interval", "budget")' .node)" '' \
    '... each figure says why its samples ended'
is "$(record_fields '.metric == "bandwidth" and .stopped == "interval" and not 0.9 * .high <= .low' .low .value .high)" '' \
    '... and a figure that ended by its interval has a narrow one'

ok 'inject wrong-mtu n2 eth2' lab fault wrong-mtu n2 eth2
battery 1 muster-links --quick --rounds 1
is "$status" 1 'a rail with another MTU than its peers fails'
valid '...'
is "$(record_fields '.verdict == "fail"' .metric .node .part .value .limit .limit_source)" \
    'mtu n2 eth2 1500 9000 majority' '... it is named, and nothing else'
ok 'heal' lab heal

ok 'inject path-mtu n1 eth1' lab fault path-mtu n1 eth1
battery 1 muster-links --quick --rails eth1 --pairs n2:n1,n1:n3,n3:n4
is "$status" 1 'a switch that swallows long packets fails'
valid '...'
is "$(record_fields '.metric == "path_mtu"' .node .part .peer .value .limit | sort)" \
    $'n1 eth1 n2 1500 9000\nn1 eth1 n3 1500 9000\nn2 eth1 n1 1500 9000\nn3 eth1 n1 1500 9000' \
    '... in its four directions, with the MTU that gets through'
like "$(record_fields '.value == 0' .message | sed -n 1p)" 'packets of the full MTU do not arrive' \
    '... and the bandwidth that could not be measured says why'
ok 'heal' lab heal

battery 1 muster-links --quick --pairs n3:n4 --rails eth1 --inject lie:2
record_fields '.metric in ("bandwidth", "bandwidth_received")' .metric .node .value >"$work/told"
is "$(awk '{ told[$1 $2] = $3 } END { for (i = 3; i <= 4; i++)
    print "n" i, (told["bandwidthn" i] > 1.2 * told["bandwidth_receivedn" i]) }' "$work/told")" \
    $'n3 1\nn4 0' "a node that lies is contradicted by the receiver's figure"
done_testing
