#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster sees no difference between a node and its unpacked record: this machine, and machines with a
# nested PCI tree.
[ -n "${TMPDIR-}" ] || [ ! -w /dev/shm ] || export TMPDIR=/dev/shm # thousands of small files
. "$(dirname "$0")/command.sh"
needs muster

fixtures=$top_srcdir/tests/fixtures

again() { # ROOT NAME
    "$fixtures/record" "$1" >"$dir/$2.tree" &&
        "$fixtures/unpack" "$dir/$2.tree" "$dir/$2.again" &&
        "$muster" inventory --json --root "$1" >"$dir/$2.json" &&
        "$muster" inventory --json --root "$dir/$2.again" >"$dir/$2.again.json"
}

for tree in two-fabrics gaudi3 bond; do
    "$fixtures/unpack" "$fixtures/$tree.tree" "$dir/$tree"
    ok "$tree is recorded" again "$dir/$tree" "$tree"
    ok '... and has the same inventory' diff "$dir/$tree.json" "$dir/$tree.again.json"
done
like "$(<"$dir/two-fabrics.tree")" '/0000:18:00.0/0000:19:00.0/	.*	vendor	' 'the nested PCI tree is recorded'

ok 'this machine is recorded' again / live
ok '... and has the same inventory' diff "$dir/live.json" "$dir/live.again.json"

printf 'from bond.tree\nsys/class/net/bond0\t(gone)\n' >"$dir/less.tree"
cp "$fixtures/bond.tree" "$dir/"
ok 'a tree that extends another one is unpacked' "$fixtures/unpack" "$dir/less.tree" "$dir/less"
ok '... with the files of the other' test -e "$dir/less/sys/class/net/eno1/ifindex"
ok '... without those that are gone' test ! -e "$dir/less/sys/class/net/bond0"
for line in '../etc/passwd	x' '/etc/passwd	x' 'no tab' 'sys/	x' 'sys/	../x	y'; do
    printf '%s\n' "$line" >"$dir/bad.tree"
    ok "'$line' is refused" eval '! "$fixtures/unpack" "$dir/bad.tree" "$dir/bad" 2>"$dir/err"'
    like "$(<"$dir/err")" "^$dir/bad.tree:1: " '... with file and line'
done
done_testing
