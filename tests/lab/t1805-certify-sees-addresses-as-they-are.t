#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Rails with addresses of other kinds are seen. An address that two nodes have is reported for both and
# takes neither out of service. A port that no node uses fails nobody, one that the other nodes use does.
. "$(dirname "$0")/certify.sh"

check() { lab on "$1" "$muster" check --only net 2>&1; }
net=$(address n1 1)
net=${net%.*}

lab on n1 ip -batch - <<BATCH
addr flush dev eth1
addr add $net.1/32 dev eth1 noprefixroute
rule add from $net.1 lookup 101
route add $net.0/24 dev eth1 src $net.1 table 101
addr flush dev eth2
addr add fd00:2::1/64 dev eth2 nodad
BATCH
text=$(check n1)
is "$?" 0 'a rail with a /32 and its own table, and one with IPv6 only'
like "$text" "^pass +net.interfaces +eth1 .*, $net.1/32" '... are seen'
like "$text" '^pass +net.interfaces +eth2 .*, fd00:2::1/64' '... both of them'
like "$text" "^net.addresses +address +eth1 +$net.1\$" '... and reported'
lab on n1 ip -batch - <<BATCH
rule del from $net.1 lookup 101
addr flush dev eth1
addr add $net.1/24 dev eth1
addr flush dev eth2
addr add ${net%.*}.2.1/24 dev eth2
BATCH
is "$(lab on n1 ip -4 -o addr show dev eth2 | wc -l)" 1 'the addresses are as before'

own=$(address n2 1)
lab on n2 ip addr del "$own/24" dev eth1
lab on n2 ip addr add "$net.3/24" dev eth1
like "$(check n2)" "^unknown +net.addresses +eth1 +another host, MAC [0-9a-f:]*:03, also answers to the address $net.3 of eth1" \
    'another host answers to an address'
lab on n4 sh -c 'cp /etc/hosts /tmp/hosts; echo 192.0.2.1 n2 >/etc/hosts; grep -v "[[:space:]]n2" /tmp/hosts >>/etc/hosts'
certify -l quick
is "$status $(verdicts)" '3 n1 pass n2 unknown n3 unknown n4 pass' "n2 with n3's address" || show
like "$output" '^/etc/hosts differs between nodes: n2 is [0-9.]+ on n\[1-3\], 192.0.2.1 on n4;' \
    'an /etc/hosts that differs is reported, and fails nobody' || show
lab on n4 sh -c 'cat /tmp/hosts >/etc/hosts'
like "$output" "eth1 has the address $net.3, and so has n3 \\(eth1\\)" '... is reported'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' '... and nobody is drained'
lab on n2 ip addr del "$net.3/24" dev eth1
lab on n2 ip addr add "$own/24" dev eth1
is "$(check n2 | grep -c '^unknown')" 0 'the addresses are as before'

for host in head n1 n2 n3 n4; do
    lab on $host sed -i 's/^NominalSpeed=eth\[1-2\]/NominalSpeed=eth1/; /^FabricInterfaces/d' /etc/muster/muster.conf
    [ $host = head ] || lab on $host ip addr flush dev eth2
    [ $host = head ] || lab on $host ip link set eth2 down
done
text=$(check n1)
is "$?" 0 'a port that is down and without an address'
like "$text" '^skip +net.interfaces +eth2 +eth2 is down and not configured to come up, so it is not used as a rail' \
    '... is reported'
certify_settled -l quick
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' '... and fails nobody' || show
for node in n1 n3 n4; do
    lab on $node ip link set eth2 up
    lab on $node ip addr add "${net%.*}.2.${node#n}/24" dev eth2
done
like "$(lab run "$muster" compare)" '^fail +n2 +eth2 +carrier +no +yes \(3 of 4\)' \
    '... except a node whose peers use it'
valid 'records of the schema'
done_testing
