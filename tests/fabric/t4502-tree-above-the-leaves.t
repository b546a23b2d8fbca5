#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster compares topology.conf with the subnet above the leaves, too: a leaf whose uplinks go to another
# pod's spines, a level that the cables do not have, a switch without a line. The file that muster
# writes itself, and a tree with less detail than the cables, have no finding. If each rail has a subnet of
# its own, crossed rails are found without topology.conf, too.
. "$(dirname "$0")/../tap.sh"

top=$(cd -P "$(dirname "$0")/../.." && pwd)
muster=$top/.lab/prefix/bin/muster
[ -x "$muster" ] || bail "$muster is not there: make install, or ./quickstart"
dir=$(mktemp -d) || bail 'no folder to work in'
tap_cleanup() { rm -rf "$dir"; }
make() { python3 "$top/tests/fabric/make-subnet" "$@" || bail 'the subnet cannot be made'; }

judge() { # CONF: sets $status and $findings
    local text
    text=$("$muster" topology --fabric --from "$dir/net" -t "$1" 2>"$dir/err")
    status=$?
    findings=$(grep -E '^(fail|warn) ' <<<"$text")
}

pods='--nodes 96 --per-leaf 8 --spines 4 --pods 3'
# shellcheck disable=SC2086
make $pods >"$dir/net"
"$muster" topology --fabric --from "$dir/net" --write-topology "$dir/conf" >/dev/null
judge "$dir/conf"
is "$status $findings" '0 ' 'three levels as muster writes them'
# shellcheck disable=SC2086
make $pods --conf >"$dir/flat"
judge "$dir/flat"
is "$status $findings" '0 ' '... and one switch above all, which has less detail'

sed -e 's/Switches=leaf\[1-4\]/Switches=leaf[1-3,5]/' -e 's/Switches=leaf\[5-8\]/Switches=leaf[4,6-8]/' \
    "$dir/conf" >"$dir/crossed"
judge "$dir/crossed"
line=$(grep -n 'leaf\[4,6-8\]' "$dir/crossed" | cut -d: -f1)
is "$status $(grep -c . <<<"$findings")" '1 2' 'two leaves under each other'\''s spines are two findings'
like "$findings" "^fail +.*/crossed line $line has leaf4 under spine-1, but its uplinks go to spine1-1 \\(0x[0-9a-f]+\\), spine1-2 \\(0x[0-9a-f]+\\), \\.\\.\\., with those of the leaves of spine: move its uplinks to the spines of spine-1, or correct topology.conf\$" \
    '... with the line, the spines and where they belong'

sed 's/Switches=leaf\[9-12\]/Switches=leaf[9-13]/' "$dir/conf" >"$dir/unknown"
judge "$dir/unknown"
is "$status $(grep -c . <<<"$findings")" '1 1' 'a switch without a line is one finding'
like "$findings" 'has leaf13 under spine-2, and no line says what leaf13 is: correct its name, or add its line$' \
    '... with its name'

make --nodes 32 --per-leaf 8 --spines 2 >"$dir/net"
make --nodes 32 --per-leaf 8 --spines 2 --conf >"$dir/flat"
sed '$d' "$dir/flat" >"$dir/deep"
printf '%s\n' 'SwitchName=pod1 Switches=leaf[1-2]' 'SwitchName=pod2 Switches=leaf[3-4]' \
    'SwitchName=core Switches=pod[1-2]' >>"$dir/deep"
judge "$dir/flat"
is "$status $findings" '0 ' 'two levels as they are'
judge "$dir/deep"
is "$status $(grep -c . <<<"$findings")" '0 1' 'a level that the cables do not have is one finding'
like "$findings" '^warn +.*/deep line 5 keeps the leaves of pod1 apart from those of pod2, but spine1 \(0x[0-9a-f]+\) joins them' \
    '... with the switch that joins both'

make --nodes 8 --per-leaf 8 --spines 0 --rails 2 --fault 'crossed n3 0 1' >"$dir/net"
is "$("$muster" topology --fabric --from "$dir/net" | grep -E '^(fail|warn) ' | sed 's/  */ /; s/ (0x[^)]*)//g')" \
    'fail n3 has its rails crossed: mlx5_0:1 is on leaf1b port 3 and mlx5_1:1 is on leaf1a port 3, each where the other belongs: swap the two cables' \
    'a node with its rails crossed between two subnets is named'
make --nodes 8 --per-leaf 8 --spines 0 --rails 2 >"$dir/net"
is "$("$muster" topology --fabric --from "$dir/net" | grep -E '^(fail|warn) ')" '' '... and nothing if they are not'
done_testing
