#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster compare from the lines of a run: by majority, by hardware, against a golden file.
. "$(dirname "$0")/command.sh"
needs muster

: >"$dir/conf"
compare() { "$muster" compare --config "$dir/conf" "$@"; }

tree=$dir/tree
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/dgx-h100.tree" "$tree"
facts() { "$muster" check --json --only host.config --root "$tree" --node "$1"; }
{ facts g1 && facts g2 && facts g3; } >"$dir/run"
mkdir -p "$tree/proc/sys/vm" && echo 1500 >"$tree/proc/sys/vm/nr_hugepages"
facts g4 >>"$dir/run"

text=$(compare "$dir/run")
is "$?" 0 'a difference that breaks nothing is status 0'
like "$text" '^4 nodes, [0-9]+ facts, 1 group$' 'the number of nodes, facts and groups'
like "$text" 'g\[1-4\]: .*H100' '... the nodes of the group'
unlike "$text" 'NODES' 'a fact that only one node has is not a difference'
like "$text" 'no differences' '... and the output says so'

# values that only one node may have
identity() { # NODE METRIC PART VALUE
    printf '{"suite":"check","test":"net.addresses","metric":"%s","node":"%s","part":"%s","message":"%s","time":1,"run":"r"}\n' \
        "$2" "$1" "$3" "$4"
}
{ cat "$dir/run" && identity g1 address eth1 10.1.1.1 && identity g2 address eth1 10.1.1.3 &&
    identity g3 address eth1 10.1.1.3; } >"$dir/twice"
text=$(compare "$dir/twice")
is "$?" 3 'an address that two nodes have is status 3'
like "$text" '^unknown  g2  eth1 has the address 10.1.1.3, and so has g3 \(eth1\)' '... reported for one node'
like "$text" '^unknown  g3  eth1 has the address 10.1.1.3, and so has g2 \(eth1\)' '... and for the other'
unlike "$text" ' g1 ' '... and for no third'

# the same file twice, and a file that also has an earlier run
is "$(compare "$dir/twice" "$dir/twice" | grep ' g2 ')" "$(grep ' g2 ' <<<"$text")" 'a file that is given twice adds nothing'
dated() { # RUN TIME
    sed -E "s/\"time\":[0-9.]+/\"run\":\"$1\",\"time\":$2/" "$3"
}
dated new 200 "$dir/run" >"$dir/new"
dated old 100 <(sed '/"node":"g4"/s/"1500"/"700"/' "$dir/run") >"$dir/old"
text=$(compare --all "$dir/new" "$dir/old" 2>&1)
like "$text" 'hugepages +g4 +1500$' 'of two runs the newer one counts, in any order of files'
like "$text" '^muster compare: of each node its newest run; [0-9]+ records of other runs left out$' '... with a message'

sed '/"node":"g4"/{/"part":"mlx5_0:1"/s/400000/100000/g}' "$dir/run" >"$dir/slow"
text=$(compare "$dir/slow")
is "$?" 1 'a rail of another speed is status 1'
like "$text" '^fail +g4 +mlx5_0:1 +speed +100000 Mb/s +400000 Mb/s \(3 of 4\) +the slowest rail' \
    '... with node, part, fact, both values, and the effect'
like "$(compare --all "$dir/slow")" '^mlx5_0:1 +speed +g\[1-3\] +400000 Mb/s$' '--all shows the nodes of each value'

if command -v jq >/dev/null; then
    is "$(compare --json "$dir/slow" | jq -r '"\(.suite) \(.test) \(.node) \(.part) \(.verdict)"')" \
        'compare host.config g4 mlx5_0:1 fail' '--json has a record for each difference'
else
    skip 1 'no jq'
fi
records_hold '... that matches the schema' < <(compare --json "$dir/slow")

# machines of another kind are another group
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/mi300x.tree" "$dir/other"
for node in m1 m2 m3; do
    "$muster" check --json --only host.config --root "$dir/other" --node "$node"
done >"$dir/mixed"
cat "$dir/run" >>"$dir/mixed"
text=$(compare "$dir/mixed")
like "$text" ' 2 groups$' 'nodes with other hardware are a separate group'
like "$text" 'no differences' '... and are compared within their group'

# two nodes have no majority
grep -E '"node":"g[34]"' "$dir/slow" >"$dir/two"
text=$(compare "$dir/two")
is "$?" 0 'two nodes that differ fail no node'
like "$text" 'too few for a majority' '... with a message'
like "$text" '^warn +- +mlx5_0:1 +speed +- +no majority: ' '... with both values'

# some nodes lack a fact: a node without the rail has a fault; for a node that reports only some facts
# of the rail it is not known
rail='"node":"g[24]".*"part":"mlx5_0:1"|"part":"mlx5_0:1".*"node":"g[24]"'
{ grep -vE "$rail" "$dir/slow" && facts g5 && facts g6 && facts g7 && grep '"node":"g2"' "$dir/run" |
    grep '"part":"mlx5_0:1"' | grep '"metric":"carrier"\|"metric":"firmware"'; } >"$dir/lack"
text=$(compare "$dir/lack")
is "$?" 1 'a missing rail is status 1'
like "$text" '^fail +g4 +mlx5_0:1 +speed +missing +400000 Mb/s' '... for the node without it'
like "$text" '^unknown +g2 +mlx5_0:1 +speed +missing +400000 Mb/s' '... but unknown for a node that does not report it'
grep -v '"node":"g4"' "$dir/lack" >"$dir/silent"
compare "$dir/silent" >/dev/null
is "$?" 3 'an unknown fact that may break jobs is status 3'
grep -E '"node":"g[34]"' "$dir/lack" >"$dir/two-lack"
like "$(compare "$dir/two-lack")" '^warn +- +mlx5_0:1 +speed +- +no majority: 400000 Mb/s \(1\), missing \(1\) of 2' \
    'a rail that one of two nodes lacks is a warning'

# long values: the message shows where they differ
for node in g1 g2 g3 g4; do
    line="BOOT_IMAGE=/boot/vmlinuz-6.1.0-13-amd64 root=UUID=0c1d5c5e-7f4d-4b53-9e38-1f7c0a3f3b2e ro"
    [ $node = g3 ] && line="$line iommu=off" || line="$line iommu=pt"
    echo '{"suite":"check","test":"host.config","metric":"cmdline","node":"'$node'","message":"'$line'"}'
done >"$dir/long"
like "$(compare "$dir/long")" '^warn +g3 +- +cmdline +\.\.\.iommu=off +\.\.\.iommu=pt \(3 of 4\)' \
    'for long values the difference is shown'

# golden
mkfifo "$dir/fifo" # like /dev/null not a regular file, which must not be replaced
compare --save-golden "$dir/fifo" "$dir/run" >/dev/null 2>&1
ok 'a golden file that is not a regular file is not replaced' test $? -ne 0 -a -p "$dir/fifo"
text=$(timeout 600 "$muster" compare --config "$dir/conf" --golden "$dir/fifo" "$dir/run" 2>&1)
is "$text" "muster compare: $dir/fifo: is not a regular file" '... and reading a FIFO does not hang'
ok '--save-golden writes a file' compare --save-golden "$dir/golden" "$dir/run"
like "$(cat "$dir/golden")" '^group g\[1-4\]$' '... with the nodes of each group'
like "$(cat "$dir/golden")" '^mlx5_0:1 speed = 400000 Mb/s$' '... and the value of most of them'
like "$(compare --golden "$dir/golden" "$dir/run")" 'no differences' 'the nodes do not differ from their golden file'
text=$(compare --golden "$dir/golden" "$dir/two")
is "$?" 1 'two nodes can be compared with a golden file'
like "$text" '^fail +g4 +mlx5_0:1 +speed +100000 Mb/s +400000 Mb/s \(golden:[0-9]+\)' '... with file and line'
echo "Golden=$dir/golden" >"$dir/conf"
like "$(compare "$dir/two")" 'golden:[0-9]' 'the configuration may name the golden file'
: >"$dir/conf"
echo 'frob' >"$dir/golden"
text=$(compare --golden "$dir/golden" "$dir/two" 2>&1)
is "$?" 2 'a bad golden file is a usage error'
like "$text" "^muster compare: $dir/golden:1: found \"frob\", expected" '... with file and line'

# bad input
{ cat "$dir/run" && echo '{"test":"host.config"' && echo '{"test":"host.config","suite":7}'; } >"$dir/bad"
text=$(compare "$dir/bad" 2>&1)
is "$?" 3 'a line that is not a record is status 3'
lines=$(wc -l <"$dir/run")
like "$text" "^muster compare: $dir/bad:$((lines + 1)): ignored a line that is not a record$" '... with file and line'
like "$text" 'no differences' '... and the rest is compared'
text=$(compare "$dir/nowhere" 2>&1)
is "$?" 2 'a missing file is status 2'
like "$text" 'nowhere: No such file' '... and is named'
text=$(compare /dev/null 2>&1)
is "$?" 3 'a file without facts is status 3'
like "$text" 'no facts of host.config' '... with a message'
compare --by frob "$dir/run" 2>/dev/null
is "$?" 2 'an unknown value of --by is refused'
compare -w n1 "$dir/run" 2>/dev/null
is "$?" 2 'files and nodes together are refused'
done_testing
