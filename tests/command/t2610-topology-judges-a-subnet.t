#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster topology --fabric with recorded subnets: each fault is one finding with what, where and what to
# do; sound subnets have none; bad files are named with their line; topology.conf is written.
. "$(dirname "$0")/command.sh"
needs muster
command -v python3 >/dev/null || skip_all 'no python3, which makes the subnets'
make=$top_srcdir/tests/fabric/make-subnet

. "$top_srcdir/tests/fabric/judging.sh"

sound '--nodes 16 --per-leaf 4 --spines 4'
fault 'missing n6' 'fail +n6 is not in the subnet \(.*/conf line 2 expects it under leaf2\): see whether it is powered, its driver loaded and its cable plugged in; it belongs on leaf2 \(0x00000000000a0002\), its port 2 is empty$'
fault 'misplaced n6 0 leaf3' 'fail +n6 mlx5_0:1 is on leaf3 \(0x00000000000a0003\) port 9, it belongs on leaf2 \(0x00000000000a0002\) \(.*/conf line 2 has n6 under leaf2\): move its cable there, its port 2 is empty, or correct topology.conf$'
fault 'misplaced n6 0 spine2' 'fail +n6 mlx5_0:1 is on spine2 \(.*\) port 5, a switch that joins leaves, it belongs on leaf2 '
fault 'swapped n6 n9 0' "fail +n6 mlx5_0:1 and n9 mlx5_0:1 are in each other's place, on leaf3 \(0x00000000000a0003\) port 1 and leaf2 \(0x00000000000a0002\) port 2 .*: swap the two cables"
fault 'uplink leaf2 spine3' 'fail +leaf2 \(0x00000000000a0002\) has 3 uplinks, 3 of 3 switches like it have 4: check the cable of its port 7 to spine3 \(0x00000000000b0003\) port 2$'
fault 'uplink-moved leaf2 spine3 spine1' 'fail +leaf2 \(0x00000000000a0002\) port 7 goes to spine1 \(0x00000000000b0001\) port 5, which has one uplink too many; one is missing to spine3 \(0x00000000000b0003\) port 2: move it there$'
fault 'uplink-moved leaf2 spine3 leaf4' 'fail +leaf2 \(.*\) port 7 is cabled to leaf4 \(.*\) port 9, a switch of the same level: uplinks belong into the switches above, where leaf2 lacks 1 to spine3 '
fault 'uplinks-swapped leaf2 leaf3 spine1 spine4' "fail +uplinks of leaf2 \(.*\) port 5 \(to spine4 \(.*\)\) and leaf3 \(.*\) port 8 are in each other's place: swap the two cables$"
fault 'leaf leaf2' 'fail +leaf2: none of its 4 nodes \(n\[5-8\]\) is in the subnet: see whether the switch is powered and its uplinks are in'

sound '--nodes 16 --per-leaf 4 --spines 4 --rails 2'
fault 'missing-rail n6 1' 'fail +n6 mlx5_1:1 has no link, 3 of its 3 neighbors have: check cable and adapter; it belongs on leaf2b '
fault 'misplaced n6 1 leaf3b' 'fail +n6 mlx5_1:1 is on leaf3b .*, it belongs on leaf2b '
fault 'crossed n6 0 1' 'fail +n6 has its rails crossed: mlx5_0:1 is on leaf2b \(0x00000000000a1002\) port 2 and mlx5_1:1 is on leaf2a \(0x00000000000a0002\) port 2, each where the other belongs: swap the two cables$'
fault 'moved n6 3' 'fail +n6 is under leaf3 with all its rails, it belongs under leaf2 .*: move its cables, or correct topology.conf$'
fault 'leaf leaf2b' 'fail +leaf2: none of its 4 nodes has its rail mlx5_1:1 in the subnet'

# two nodes on a leaf, one of them crossed: it cannot be told which, so both are named
subnet --nodes 8 --per-leaf 2 --spines 2 --rails 2 --fault 'crossed n4 0 1'
judge -t "$dir/conf"
is "$status $(grep -c . <<<"$findings")" '0 1' 'a crossed node that cannot be told from another is a warning' || diag "$text"
like "$findings" '^warn +.*/conf line 2 puts 2 nodes under leaf2, but mlx5_0:1 of n3 is on leaf2a .* and of n4 on leaf2b ' '... that names both'

# a node on a spine: on the only spine, and in a subnet with few nodes
sound '--nodes 16 --per-leaf 4 --spines 1 --cables 4'
fault 'misplaced n6 0 spine1' 'fail +n6 mlx5_0:1 is on spine1 .*, a switch that joins leaves, it belongs on leaf2 '
sound '--nodes 4 --per-leaf 2 --spines 4 --cables 2'
fault 'misplaced n2 0 spine3' 'fail +n2 mlx5_0:1 is on spine3 .*, a switch that joins leaves, it belongs on leaf1 '
sound '--nodes 36 --per-leaf 3 --spines 1'
fault 'uplink leaf7 spine1' 'fail +leaf7 \(0x00000000000a0007\) with 3 nodes has no uplink at all: check its cables to the switches above$'

subnet --nodes 16 --per-leaf 4 --spines 4 --fault 'leaf spine2'
judge -t "$dir/conf"
is "$status $(grep -c . <<<"$findings")" '0 1' 'a spine that is off is a warning' || diag "$text"
like "$findings" '^warn +all 4 switches like leaf1 have no cable in port 6, between ports that lead up, and 1 uplink fewer than nodes: see whether a switch above is off$' '... with the reason'

# each rail is a subnet of its own, of which ibnetdiscover prints one at a time
for rail in 0 1; do
    subnet --nodes 8 --per-leaf 4 --spines 2
    sed "s/mlx5_0/mlx5_$rail/; s/000000000d/00000000${rail}d/; s/000000000a/00000000${rail}a/; s/000000000b/00000000${rail}b/; /guid=/d" "$dir/net" >"$dir/net$rail"
done
cp "$dir/net0" "$dir/net"
judge --from "$dir/net1" -t "$dir/conf"
is "$status $findings" '0 ' 'two subnets with one rail each' || diag "$text" "$(<"$dir/err")"
like "$text" '^nodes +8, rails mlx5_0:1,mlx5_1:1$' '... are one network'
sed '/"n3 mlx5_1"/,/^$/d; /n3/d; /00000000[01]d000300/d' "$dir/net1" >"$dir/net2"
judge --from "$dir/net2" -t "$dir/conf"
like "$findings" '^fail +n3 mlx5_1:1 has no link, 3 of its 3 neighbors have' '... a node without one of the rails is named'

# the original format of ibnetdiscover, with rates: the majority of similar links is the reference
subnet --nodes 16 --per-leaf 4 --spines 4
sed 's/ w=3 s=7 e=7/\t# "x" lid 1 4xHDR/' "$dir/net" >"$dir/rated"
sed '/^\[2\]\t"H-000000000d000600"/s/4xHDR/1xHDR/; /"S-00000000000b0003"\[3\]/s/4xHDR/4xEDR/' "$dir/rated" >"$dir/net"
judge
is "$status $(grep -c . <<<"$findings")" '1 2' 'two links that differ from the others'
like "$findings" '^fail +n6 mlx5_0:1 - leaf2 \(0x00000000000a0002\) port 2 runs at 1x HDR \(50 Gb/s\), 3 of 4 links of its kind at 4x HDR \(200 Gb/s\): reseat or replace the cable$' '... a narrow one'
like "$findings" '^fail +leaf3 \(.*\) port 7 - spine3 \(.*\) port 3 runs at 4x EDR \(100 Gb/s\), 15 of 16 links of its kind at 4x HDR ' '... and a slow one between switches'

# Names: of managed switches, and of adapters without a node description
sed '/^Switch.*"leaf1"/s/"leaf1"/"MF0;ib-leaf-1:MQM8700\/U1"/; /^Ca.*n3 /s/"n3 mlx5_0"/"MT4123 ConnectX6   Mellanox Technologies"/' "$dir/rated" >"$dir/net"
judge
like "$text" '^ib-leaf-1 +0x00000000000a0001 +leaf +4 +4 .*n\[1-2,4\]$' 'a managed switch has its own name'
like "$text" '^1 adapter has no node' 'an adapter without a node name is reported'
printf '# names\n0xd000300 "n3 mlx5_0"\n' >"$dir/names"
judge --names "$dir/names"
like "$text" '^ib-leaf-1 .*n\[1-4\]$' '... and named by a file'
echo 'n3 mlx5_0' >"$dir/names"
judge --names "$dir/names"
is "$status $(<"$dir/err")" "2 muster topology: $dir/names:1: expected 0xGUID \"NAME\", found 'n3 mlx5_0'" '... with checked lines'

judge --names "$dir"
is "$status $(<"$dir/err")" "2 muster topology: $dir: Is a directory" '... which may not be a directory'
judge --from "$dir"
is "$status $(<"$dir/err")" "3 muster topology: $dir: Is a directory" '... neither may a recorded subnet'

# Bad files: one line with file, line number and the error
refused() { # SED-SCRIPT MESSAGE NAME
    sed "$1" "$dir/rated" >"$dir/net"
    judge
    is "$status" 3 "$3"
    like "$(<"$dir/err")" "^muster topology: $dir/net$2" '... is named'
}
refused '2s/"H-.*/H-1/' ":2: expected \"ID\"" 'a device without an ID'
refused '2s/1/300/' ':2: expected a number of ports from 1 to 254' 'a device with 300 ports'
refused '3s/\[1\]$/[9]/; 3s/"\[[0-9]*\]/"[41]/' ':3: no port 41 on S-00000000000a0001' 'a port that the other end lacks'
refused '3s/0a0001/0a0009/' ':3: "S-00000000000a0009" has no record' 'a cable to nowhere'
refused '7s/"\[2\]/"[3]/' ':.*: .*cabled to .* and to ' 'a port with two cables'
refused '$a nonsense' ":.*: expected output of ibnetdiscover, found 'nonsense'" 'an unknown line'
refused '2,$d' ': no Switch or Ca in it' 'a file without devices'
printf 'SwitchName=leaf1 Nodes=n[1-4\n' >"$dir/conf"
cp "$dir/rated" "$dir/net"
judge -t "$dir/conf"
like "$status $(<"$dir/err")" "^2 muster topology: .*/conf:1: Nodes=n\[1-4: " 'a bad list of nodes in topology.conf'
printf 'BlockName=b1 Nodes=n[1-4]\nBlockName=b2 \\\n  Nodes=n[5-8]\n# the rest\nBlockName=b3 Nodes=n[9-16]\nBlockSizes=4,8\n' >"$dir/conf"
judge -t "$dir/conf"
like "$findings" '^warn +.*/conf line 5 puts 8 nodes under b3, but mlx5_0:1 of 4 is on leaf3 .* and of 4 on leaf4 ' 'blocks are compared, too'
judge --from /nonexistent
is "$status $(<"$dir/err")" '3 muster topology: /nonexistent: No such file or directory' 'a missing file'
judge --port mlx5_0:1
is "$status" 2 '--port with a file is refused'

printf '# the east\n\nSwitchName=leaf1 Nodes=n[1-4]\nSwitchName=leaf2 Nodes=n[5-8]\n' >"$dir/east"
printf 'Include %s/east\nSwitchName=leaf3 Nodes=n[9-12]\nSwitchName=leaf4 Nodes=n[13-16]\n' "$dir" >"$dir/conf"
subnet_conf=$(<"$dir/conf")
subnet --nodes 16 --per-leaf 4 --spines 4 --fault 'missing n6'
printf '%s\n' "$subnet_conf" >"$dir/conf"
judge -t "$dir/conf"
like "$findings" "^fail +n6 is not in the subnet \\(.*/east line 4 expects it under leaf2\\)" 'an included line is named with its file'

# The written topology.conf is what was found, and Slurm accepts it
subnet --nodes 16 --per-leaf 4 --spines 4 --pods 2 --fault 'misplaced n6 0 leaf3'
judge --write-topology -
is "$(grep -v '^#' <<<"$text")" 'SwitchName=leaf1 Nodes=n[1-4]
SwitchName=leaf2 Nodes=n[5,7-8]
SwitchName=leaf3 Nodes=n[6,9-12]
SwitchName=leaf4 Nodes=n[13-16]
SwitchName=spine Switches=leaf[1-2]
SwitchName=spine-1 Switches=leaf[3-4]
SwitchName=core Switches=spine,spine-1' 'a topology.conf with three levels'
printf 'SwitchName=east Nodes=n[1-4]\nSwitchName=west Nodes=n[5-9]\n' >"$dir/conf"
judge -t "$dir/conf" --write-topology "$dir/written"
is "$(grep ^SwitchName "$dir/written" | head -n 3)" 'SwitchName=east Nodes=n[1-4]
SwitchName=west Nodes=n[5,7-8]
SwitchName=leaf3 Nodes=n[6,9]' '... with the nodes and names of the old one'

# a node that is off keeps its place in topology.conf
for absent in 'missing n6' 'leaf leaf2'; do
    subnet --nodes 12 --per-leaf 4 --spines 4 --fault "$absent"
    judge -t "$dir/conf" --write-topology "$dir/written"
    is "$(grep -v '^#' "$dir/written" | sort)" "$(sort "$dir/conf")" \
        "lines of topology.conf are kept: $absent" || diag "$(<"$dir/written")"
    like "$(<"$dir/err")" '^muster topology: .*/written has n(6|\[5-8\]) as topology.conf does: not in the network$' '... with a message'
    like "$(<"$dir/written")" '# as in topology.conf, not in the network: n(6|\[5-8\])$' '... and a comment'
done

subnet --nodes 16 --per-leaf 4 --spines 4 --pods 2 --fault 'misplaced n6 0 leaf3'
printf 'SwitchName=east Nodes=n[1-4]\nSwitchName=west Nodes=n[5-9]\n' >"$dir/conf"
judge --json -t "$dir/conf"
like "$text" '"test":"net.topology","metric":"switch","node":"n6","part":"mlx5_0:1",.*"message":"leaf3 \(0x00000000000a0003\) port 9"' 'records: the place of a rail'
like "$text" '"metric":"place","node":"n6","part":"mlx5_0:1",.*"verdict":"fail",.*"message":"n6 mlx5_0:1 is on leaf3' '... and findings'
records_hold '... that match doc/records.md' <<<"$text"

# Ethernet: the LLDP neighbors of each node
neighbor() { # LEAF PORT KIND-OF-ETHERNET
    printf '{"via":"LLDP","chassis":{"%s":{"id":{"type":"mac","value":"02:00:00:00:00:%02d"},"capability":[{"type":"Bridge","enabled":true},{"type":"Router","enabled":false}]}},"port":{"id":{"type":"ifname","value":"%s"},"descr":"to a node","auto-negotiation":{"supported":true,"current":"%s - text"}}}' \
        "$1" "${1#leaf}" "$2" "$3"
}
aged() { # SECONDS NEIGHBOR: adds how long it has been known
    printf '{"age":"0 day, 00:%02d:%02d",%s' $(($1 / 60)) $(($1 % 60)) "${2#\{}"
}
lldp() { # NODE, THEN LEAF PORT KIND for each of eth1 and eth2
    printf '{"lldp":{"interface":[{"eth1":%s},{"eth2":%s},{"eth0":{"via":"LLDP","chassis":{"pc":{"id":{"type":"mac","value":"02:00:00:00:01:01"},"capability":{"type":"Station","enabled":true}}},"port":{"id":{"type":"mac","value":"02:00:00:00:01:01"}}}}]}}' \
        "$(neighbor "${@:2:3}")" "$(neighbor "${@:5:3}")" >"$dir/lldp/$1.json"
}
ethernet() {
    text=$("$muster" topology --fabric --lldp "$dir/lldp" "$@" 2>"$dir/err")
    status=$?
    findings=$(grep -E '^(fail|warn) ' <<<"$text")
}
mkdir "$dir/lldp"
printf 'SwitchName=east Nodes=n[1-4]\nSwitchName=west Nodes=n[5-8]\n' >"$dir/conf"
for i in 1 2 3 4; do
    lldp n$i leaf1 "Eth1/$i" 200GbaseCR4 leaf2 "Eth1/$i" 200GbaseCR4
    lldp n$((i + 4)) leaf3 "Eth1/$i" 200GbaseCR4 leaf4 "Eth1/$i" 200GbaseCR4
done
ethernet -t "$dir/conf"
is "$status $findings" '0 ' 'Ethernet by LLDP: no findings' || diag "$text" "$(<"$dir/err")"
like "$text" '^leaf1 +02:00:00:00:00:01 +leaf +0 +4 +200 Gb/s +n\[1-4\]$' '... its switches and their nodes'
like "$text" 'rails eth1,eth2$|rails eth\[1-2\]$' '... neighbors that are not switches are ignored'
printf 'SwitchName=east Nodes=n[1-2]\nSwitchName=middle Nodes=n[3-4]\nSwitchName=west Nodes=n[5-8]\n' >"$dir/split"
ethernet -t "$dir/split"
like "$findings" '^warn +.*/split line 2 has middle, whose nodes are cabled to the switches of east in line 1: ' \
    'two leaves of topology.conf that are one switch' || diag "$text"
is "$(grep -c . <<<"$findings")" 1 '... in one finding'
lldp n2 leaf2 Eth1/2 200GbaseCR4 leaf1 Eth1/2 200GbaseCR4
lldp n7 leaf3 Eth1/3 50GbaseCR2 leaf4 Eth1/3 200GbaseCR4
lldp n8 leaf3 Eth1/4 200GbaseCR4 leaf2 Eth1/8 200GbaseCR4
rm "$dir/lldp/n4.json"
echo '{"lldp":{}}' >"$dir/lldp/n6.json"
ethernet -t "$dir/conf"
like "$findings" '^fail +n2 has its rails crossed: eth1 is on leaf2 \(02:00:00:00:00:02\) Eth1/2 and eth2 is on leaf1 ' 'crossed rails'
like "$findings" '^warn +n7 eth1 - leaf3 \(.*\) Eth1/3 runs at 50 Gb/s, 2 of 3 links of its kind at 200 Gb/s: reseat' 'a slow link'
like "$findings" '^fail +n8 eth2 is on leaf2 \(.*\) Eth1/8, it belongs on leaf4 \(.*\) \(.*/conf line 2 has n8 under west\)' 'a cable in another switch'
like "$findings" '^fail +n4 is not in the network that LLDP shows \(.*/conf line 1 expects it under east\): see whether it is powered, its lldpd running' 'a node without a file'
like "$findings" '^fail +n6 eth1, eth2 has no link' 'a node without a neighbor'
is "$status $(grep -c . <<<"$findings")" '1 5' '... one finding each' || diag "$text"
# lldpd keeps the previous switch of a cable for two minutes: the newest neighbor counts
for said in 'leaf1 120 leaf2 3 leaf2' 'leaf2 3 leaf1 120 leaf2' 'leaf1 3 leaf2 120 leaf1'; do
    read -r one one_s other other_s now <<<"$said"
    printf '{"lldp":{"interface":[{"eth1":%s},{"eth1":%s}]}}' \
        "$(aged "$one_s" "$(neighbor "$one" Eth1/4 200GbaseCR4)")" \
        "$(aged "$other_s" "$(neighbor "$other" Eth1/4 200GbaseCR4)")" >"$dir/lldp/n4.json"
    ethernet -t "$dir/conf"
    like "$text" "^$now +02:[0-9:]* +leaf .* n\[1-4" "a cable that was moved: $one heard for $one_s s, $other for $other_s s" || diag "$text"
done
mv "$dir/lldp/n1.json" "$dir/lldp/n1.example.org.json"
printf 'SwitchName=east Nodes=n1.example.org,n[2-4]\nSwitchName=west Nodes=n[5-8]\n' >"$dir/conf"
ethernet -t "$dir/conf"
ok 'a node has the name of its file, dots included' [ "$(grep -c 'n1.*not in the network' <<<"$findings")" = 0 ] ||
    diag "$text"
like "$text" 'n1\.example\.org' '... which the output has'
echo '{"lldp":' >"$dir/lldp/n6.json"
ethernet
like "$status $(<"$dir/err")" '^3 muster topology: .*/n6.json:[0-9]+: ' 'a file that is not JSON is named'
rm "$dir/lldp/n6.json"
mkfifo "$dir/lldp/n6.json" # without a writer
text=$(timeout 600 "$muster" topology --fabric --lldp "$dir/lldp" 2>&1)
is "$? $text" "3 muster topology: $dir/lldp/n6.json: is not a regular file" 'a FIFO is refused'
rm "$dir"/lldp/*
ethernet
like "$status $(<"$dir/err")" '^3 muster topology: .*/lldp: no NODE.json in it' 'an empty directory is refused'

done_testing
