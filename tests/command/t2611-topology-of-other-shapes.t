#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster topology --fabric with networks that are not plain trees: three levels with separate cores per
# spine, rails exchanged between nodes, a dragonfly, switches that are off or slow as a whole; with names
# that are wrong or duplicate; and with a topology.conf that Slurm refuses. Each fault is one finding;
# sound networks have none.
. "$(dirname "$0")/command.sh"
needs muster
command -v python3 >/dev/null || skip_all 'no python3, which makes the subnets'
make=$top_srcdir/tests/fabric/make-subnet

. "$top_srcdir/tests/fabric/judging.sh"

sound '--nodes 64 --per-leaf 4 --pods 4 --spines 4 --cores 4'
fault 'leaf core6' 'fail +all 4 switches like spine1-2 \(0x[0-9a-f]+\) have 3 uplinks, those of 3 of 3 other groups have 4: port 126 is empty on all of them: see whether the switch above, to which that leads, is off$'
fault 'leaf spine3-2' 'fail +all 4 switches like leaf9 \(0x[0-9a-f]+\) have 3 uplinks, those of 3 of 3 other groups have 4: port 6 is empty on all of them: see whether'
fault 'uplink spine3-2 core6' 'fail +spine3-2 \(.*\) has 3 uplinks, 3 of 3 switches like it have 4: check the cable of its port 126 to core6 \(.*\) port 3$'
fault 'uplink-narrow spine3-2 core6' 'fail +spine3-2 \(.*\) port 126 - core6 \(.*\) port 3 runs at 1x HDR \(50 Gb/s\), 63 of 64 links'

sound '--nodes 32 --per-leaf 8 --spines 4 --cables 2'
fault 'uplinks-slow leaf2' 'warn +all 8 links to other switches of leaf2 \(0x[0-9a-f]+\) run at 4x EDR \(100 Gb/s\), 24 of 32 links of their kind at 4x HDR \(200 Gb/s\): look at the switch.s model, firmware and port settings before its cables$'
fault 'uplinks-slow spine2' 'warn +all 8 links to switches below of spine2 '
fault 'nodes-slow leaf2' 'warn +all 8 links to nodes of leaf2 \(.*\) run at 4x EDR \(100 Gb/s\), 24 of 32 links '
fault 'exchanged n5 0 n20 0' "fail +n5 mlx5_0:1 and n20 mlx5_0:1 are in each other's place"

# a cable from a node's port goes to a spine, and the node is in the port of the uplink
subnet --nodes 32 --per-leaf 8 --spines 4 --fault 'missing n5' --fault 'uplink leaf3 spine1' --fault 'uplink-extra leaf1 spine1'
judge -t "$dir/conf"
is "$(grep -c . <<<"$findings")" 3 'a node and an uplink in each other'"'"'s place are three findings' || diag "$text"
like "$findings" '^warn +leaf1 \(.*\) port 5 goes to spine1 \(.*\) port [0-9]+, one uplink more than the 4 that 2 of 3 switches like it have: see whether it is the cable of a node or of another switch$' \
    '... one of them an extra uplink'
like "$findings" '^fail +leaf3 \(.*\) has 3 uplinks, 2 of 3 switches like it have 4: check the cable of its port 9 to spine1' '... one a missing uplink'

# a leaf with a switch per rail has the name of one of its switches
subnet --nodes 8 --per-leaf 4 --spines 4 --rails 2 --fault 'exchanged n1 0 n8 1'
judge --write-topology "$dir/own"
judge -t "$dir/own"
is "$(grep -c . <<<"$findings")" 1 'the topology.conf written for a faulty network adds no finding' || diag "$text"
like "$findings" "^fail +n1 mlx5_0:1 and n8 mlx5_1:1 are in each other's place" '... to that of the fault'

# a node whose two rails are on switches of two groups: its group is found without topology.conf
for place in '0 leaf4a leaf1a' '1 leaf4b leaf1b'; do
    read -r rail found expected <<<"$place"
    for shape in '--nodes 28 --per-leaf 8' '--nodes 32 --per-leaf 8' '--nodes 16 --per-leaf 4'; do
        # shellcheck disable=SC2086
        subnet $shape --spines 4 --rails 2 --fault "misplaced n3 $rail $found"
        judge
        like "$findings" "^fail +n3 mlx5_$rail:1 is on $found .*, it belongs on $expected .*its port 3 is empty$" \
            "a node on two groups belongs to the one with an empty port: rail $rail, $shape" || diag "$text"
    done
done

# a spine that is off, with half as many uplinks as nodes
subnet --nodes 64 --per-leaf 16 --spines 8 --fault 'leaf spine4'
judge -t "$dir/conf"
like "$findings" '^warn +all 4 switches like leaf1 have no cable in port 20, between ports that lead up, and 7 uplinks for 16 nodes: see whether a switch above is off$' \
    'a spine that is off, with half as many uplinks as nodes'
is "$(grep -c . <<<"$findings")" 1 '... is one finding'

sound '--nodes 32 --per-leaf 8 --spines 4 --rails 4'
fault 'exchanged n5 2 n6 3' "fail +n5 mlx5_2:1 and n6 mlx5_3:1 are in each other's place, on leaf1d \(.*\) port 6 and leaf1c \(.*\) port 5 .*: swap the two cables, or correct topology.conf$"
fault 'leaf leaf2c' 'fail +leaf2: none of its 8 nodes has its rail mlx5_2:1 in the subnet'
judge
like "$findings" '^fail +n\[9-16\]: none of its 8 nodes has its rail mlx5_2:1 in the subnet: see whether the switch of that rail' \
    '... without topology.conf too'
fault 'missing-rail n9 1' 'fail +n9 mlx5_1:1 has no link, 7 of its 7 neighbors have: .*it belongs on leaf2b \(.*\), its port 1 is empty$'

sound '--nodes 72 --per-leaf 2 --spines 0 --mesh 4'
fault 'uplink leaf13 leaf14' 'fail +leaf13 \(0x[0-9a-f]+\) and leaf14 \(0x[0-9a-f]+\) have 4 cables to other switches each, 34 of 36 like them have 5: check the cable between them \(leaf13 port [0-9]+, leaf14 port [0-9]+\)$'
fault 'leaf leaf13' 'fail +leaf13: none of its 2 nodes \(n\[25-26\]\) is in the subnet: see whether the switch is powered'
judge
is "$(grep -c . <<<"$findings")" 1 'a switch of a mesh that is off is one finding without topology.conf'
like "$findings" '^fail +5 switches have 4 cables to other switches each, the other 30 of 35 have 5: see whether a switch that all of them lead to is off, and check the cables between them if none is \(leaf14 port 3, leaf15 port 3, leaf16 port 3, leaf20 port 6, leaf36 port 6\)$' \
    '... with the empty ports of its neighbors'
subnet --nodes 72 --per-leaf 2 --spines 0 --mesh 4 --fault 'leaf leaf13' --fault 'leaf leaf14'
judge -t "$dir/conf"
is "$(grep -c 'none of its 2 nodes' <<<"$findings") $(grep -c . <<<"$findings")" '2 2' '... two adjacent switches that are off are two findings' || diag "$text"
# two cables are missing: it cannot be told which two of four
subnet --nodes 72 --per-leaf 2 --spines 0 --mesh 4 --fault 'uplink leaf13 leaf14' --fault 'uplink leaf1 leaf3'
judge
is "$(grep -c 'cables to other switches, 32 of 36 like it have 5: check its cables to them' <<<"$findings") $(grep -c . <<<"$findings")" '4 4' \
    'two missing cables of a mesh are four findings' || diag "$text"

# ... nor in a small mesh, where a third of all switches lack a cable
subnet --nodes 12 --per-leaf 1 --spines 0 --mesh 3 --fault 'uplink leaf1 leaf2' --fault 'uplink leaf4 leaf5'
judge
is "$(grep -c 'cables to other switches, 8 of 12 like it have ' <<<"$findings")" 4 '... also in a small mesh' || diag "$text"

sound '--nodes 32 --per-leaf 2 --spines 0 --torus 4'
fault 'uplink leaf6 leaf7' 'fail +leaf6 \(0x[0-9a-f]+\) and leaf7 \(0x[0-9a-f]+\) have 3 cables to other switches each, 14 of 16 like them have 4: check the cable between them \(leaf6 port 5, leaf7 port 4\)$'
fault 'leaf leaf6' 'fail +leaf6: none of its 2 nodes \(n\[11-12\]\) is in the subnet'

# adapters of other models may be slower
subnet --nodes 16 --per-leaf 4 --spines 2 --model --fault 'slow n3 0' --fault 'modelled n3-0 1013'
judge
is "$status $findings" '0 ' 'a slower adapter of another model is not a fault'
subnet --nodes 16 --per-leaf 4 --spines 2 --model --fault 'slow n3 0'
judge
like "$findings" '^fail +n3 mlx5_0:1 - leaf1 .* runs at 4x EDR' '... one of the same model is'

# names
subnet --nodes 16 --per-leaf 4 --spines 2 --fault 'described n4 0 n3 mlx5_0'
judge -t "$dir/conf"
like "$findings" '^warn +2 adapters identify themselves as n3 mlx5_0:1, on leaf1 \(.*\) port 3 and leaf1 \(.*\) port 4: set the node description' \
    'two adapters with one name'
like "$findings" '^warn +n4 is not in the subnet, or without its name .*; it belongs on leaf1 \(.*\), where adapters without a node.s name of their own are \(port 3, port 4\)$' \
    '... and the missing node with its possible ports'
faults=()
for ((i = 1; i <= 16; i++)); do faults+=(--fault "described n$i 0 MT4123 ConnectX6   Mellanox Technologies"); done
subnet --nodes 16 --per-leaf 4 --spines 2 "${faults[@]}"
judge -t "$dir/conf"
is "$(grep -c . <<<"$findings")" 1 'adapters without any names are one finding'
like "$findings" "^fail +none of the 16 nodes of .*/conf is known in the subnet: 16 adapters are there without a node's name; set the node descriptions" \
    '... with the reason'
subnet --nodes 16 --per-leaf 4 --spines 2
sed -i 's/Nodes=n/Nodes=node/' "$dir/conf"
judge -t "$dir/conf"
like "$findings" '^fail +none of the 16 nodes of .* is known in the subnet, whose nodes are named n1 and so on: correct the names' \
    'names that differ from topology.conf'

# topology.conf itself: errors that slurmctld refuses or warns of
subnet --nodes 32 --per-leaf 8 --spines 2
cp "$dir/conf" "$dir/good"
conf() { # SED-SCRIPT SENTENCE NAME
    sed "$1" "$dir/good" >"$dir/conf"
    judge -t "$dir/conf"
    is "$(grep -c . <<<"$findings")" 1 "topology.conf: $3"
    like "$findings" "^$2" '... is reported' || diag "$text"
}
# shellcheck disable=SC2016
conf '$aSwitchName=leaf2 Nodes=n[9-16]' 'fail +.*/conf line 6 has leaf2 a second time, first in line 2: slurmctld does not start with it' 'a duplicate name'
conf 's/n\[9-16\]/n[8-16]/' 'warn +.*/conf line 2 has n8 under leaf2, line 1 has it under leaf1 too' 'a node in two leaves'
conf 's/n\[25-32\]/n[25-30]/' 'warn +n\[31-32\] are cabled to the switches of leaf4 and are in no line of topology.conf: add them to .*/conf line 4$' 'nodes in no leaf'
# shellcheck disable=SC2016
conf '$aSwitchName=a Switches=b\nSwitchName=b Switches=a' 'fail +.*/conf line 6 has a above itself: slurmctld does not start with it' 'a loop'
conf 's/leaf\[1-4\]/leaf[1-3]/' 'warn +.*/conf line 4 has leaf4, which is under no other switch though cables join it to leaf1: .* add it to the Switches= of spine$' 'a leaf outside the tree'
conf 's/leaf1 /x /; s/leaf2 /leaf1 /; s/^SwitchName=x /SwitchName=leaf2 /' 'warn +.*/conf line 1 names the switch of its nodes leaf2, but its own name is leaf1 \(.*\), and leaf2 is the switch of the nodes of line 2: correct the names$' 'two leaves with their names exchanged'
sed 's/^SwitchName=spine /&Nodes=n[1-32] /' "$dir/good" >"$dir/conf"
judge -t "$dir/conf"
is "$status $(<"$dir/err")" "2 muster topology: $dir/conf:5: spine has both Nodes= and Switches=, which slurmctld refuses: nodes are under leaves, switches under the switches above" \
    'a switch with nodes and switches is refused'
sed -e 's/^SwitchName=spine /&Level=1 LinkSpeed=1 Nodes=n[1-32] /' -e 's/ Nodes=n\[\([0-9]*\)-\([0-9]*\)\]$/ Level=0 LinkSpeed=1&/' "$dir/good" >"$dir/conf"
judge -t "$dir/conf"
is "$status $findings" '0 ' '... but accepted in the output of scontrol show topology' || diag "$(<"$dir/conf")" "$(<"$dir/err")"

# topology.yaml of Slurm 25.05 and later: the written file is read again with the same result
subnet --nodes 32 --per-leaf 8 --spines 2
judge --write-topology "$dir/written.yaml"
judge -t "$dir/written.yaml"
if ! grep -q 'without libyaml' "$dir/err"; then
    is "$status $findings" '0 ' 'a topology.yaml written by muster has no findings' || diag "$(<"$dir/err")"
    judge -t "$dir/written.yaml" --write-topology -
    is "$(grep -v '^#' <<<"$text")" "$(cat "$dir/conf")" '... and the content of topology.conf'
    yaml() { # SED-SCRIPT
        sed "$1" "$dir/written.yaml" >"$dir/changed.yaml"
        judge -t "$dir/changed.yaml"
    }
    yaml 's/n\[9-16\]/n[9-15,17]/; s/n\[17-24\]/n[16,18-24]/'
    line=$(grep -n 'switch: leaf2' "$dir/changed.yaml" | cut -d: -f1)
    like "$findings" "^fail +n16 mlx5_0:1 and n17 mlx5_0:1 are in each other's place, .*changed.yaml line [0-9]+ has n16 under leaf3" \
        '... a cable in another place is named'
    yaml "${line}s/switch: leaf2/swich: leaf2/"
    is "$status $(<"$dir/err")" "2 muster topology: $dir/changed.yaml:$line: expected switch: NAME" 'an invalid line is named'
    yaml "$((line + 1))s/ nodes:/nodes/"
    like "$status $(<"$dir/err")" "^2 muster topology: .*/changed.yaml:[0-9]+: not YAML: " 'invalid YAML is named'
    printf '%s\n' '- topology: a' '  cluster_default: true' '  flat: true' '- topology: b' '  block:' \
        '    block_sizes: [8]' '    blocks:' '      - {block: leaf1, nodes: "n[1-8]"}' \
        '      - {block: leaf2, nodes: "n[9-16]"}' '      - {block: leaf3, nodes: "n[17-24]"}' \
        '      - {block: leaf4, nodes: "n[25-32]"}' >"$dir/changed.yaml"
    judge -t "$dir/changed.yaml"
    is "$status $findings" '0 ' 'blocks, and a second topology without any' || diag "$(<"$dir/err")"
    sed -i '/^- topology: b/,$d' "$dir/changed.yaml"
    judge -t "$dir/changed.yaml"
    is "$status $(<"$dir/err")" "2 muster topology: $dir/changed.yaml: no topology in it has tree: switches: or block: blocks:" '... which alone is refused'
else
    skip 7 'muster was built without libyaml'
fi

done_testing
