#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster check of a recorded node: exit status, table, records.
. "$(dirname "$0")/command.sh"
needs muster

node=$dir/node
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/lab-node.tree" "$node"

text=$("$muster" check --root "$node" --only net,gpu)
is "$?" 0 'a healthy node passes'
like "$text" '^pass +net.interfaces  eth1 +Ethernet, 10 Gb/s, MTU 9000, 10.156.1.1/24$' 'each rail has a line'
like "$text" '^skip +gpu.enumerate +no supported GPU found' 'a skipped check has its reason'
unlike "$text" 'host\.' '--only leaves out other checks'
unlike "$text" $'\033' 'no color without a terminal'

echo 1500 >"$node/sys/class/net/eth2/mtu"
text=$("$muster" check --root "$node" --only net)
is "$?" 0 'a warning is status 0'
like "$text" '^warn +net.interfaces  eth2 ' '... and names the part'
echo 9000 >"$node/sys/class/net/eth2/mtu"

echo 0 >"$node/sys/class/net/eth1/carrier"
text=$("$muster" check --root "$node" --only net)
is "$?" 1 'a failure is status 1'
is "$(grep -c '^fail' <<<"$text")" 1 '... one part is at fault'
like "$text" '^fail +net.interfaces  eth1 +eth1 has no carrier; check cable or switch port$' '... the right part, with the next step'

# A rail that is a bond, and a VLAN on top of it.
bonded=$dir/bonded
"$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/bond.tree" "$bonded"
rm -r "$bonded/sys/class/infiniband/mlx5_bond_0"
printf '%s\n' ManagementInterface=ens3f0np0 FabricInterfaces=bond0 >"$dir/bond.conf"
text=$("$muster" check --root "$bonded" --config "$dir/bond.conf" --only net)
like "$text" '^pass +net.interfaces  bond0 +Ethernet, 50 Gb/s' 'a bond is a rail'
echo 0 >"$bonded/sys/class/net/eno2/carrier"
text=$("$muster" check --root "$bonded" --config "$dir/bond.conf" --only net)
is "$?" 0 'a bond that has lost a member does not fail'
like "$text" '^warn +net.interfaces  bond0 +eno2 of bond0 has no carrier, so bond0 runs on the others; ' '... but warns with the member'
unlike "$text" 'eno1' '... and no other'
net=$bonded/sys/class/net
mkdir "$net/bond0.7"
cp "$net"/bond0/{carrier,flags,ifindex,mtu,operstate,speed,type} "$net/bond0.7/"
printf 'DEVTYPE=vlan\nINTERFACE=bond0.7\n' >"$net/bond0.7/uevent"
ln -s ../bond0 "$net/bond0.7/lower_bond0"
sed -i 's/ bond0$/ bond0.7/' "$bonded/proc/net/if_inet6"
text=$("$muster" check --root "$bonded" --config "$dir/bond.conf" --only net)
is "$?" 3 'a rail with its address on a VLAN is unknown'
like "$text" '^unknown +net.interfaces  bond0 +bond0 has no IP address, but bond0.7 on top of it has one; name bond0.7 in FabricInterfaces instead$' \
    '... with the name to configure instead'
sed -i 's/=bond0/=bond0.7/' "$dir/bond.conf"
text=$("$muster" check --root "$bonded" --config "$dir/bond.conf" --only net)
like "$text" '^warn +net.interfaces  bond0.7 +eno2 of bond0 has no carrier' '... then the bond below it is checked'

mkdir -p "$node/dev"
text=$("$muster" check --root "$node" --only host.log)
is "$? $text" "0 $(printf 'skip     %-14s  %-8s  %s' host.log '' \
    "cannot read the kernel log: $node/dev/kmsg: No such file or directory")" 'a missing kernel log is reported'
{
    echo '6,1,1000000,-;NVRM: loading NVIDIA UNIX Open Kernel Module'
    echo '12,2,1500000,-;NVRM: Xid (PCI:0000:9b:00): 79, a user writes'
    echo '4,3,2000000,-;NVRM: Xid (PCI:0000:9b:00): 31, pid=7, name=python3, Ch 00000008'
    echo '4,4,3000000,-;nvme nvme0: I/O 12 QID 4 timeout, reset controller'
} >"$node/dev/kmsg"
text=$("$muster" check --root "$node" --only host.log)
is "$?" 0 'entries of the kernel log fail no node'
like "$text" '^warn +host.log +nvme0 +nvme timeout \(a drive did not answer and is reset\), 0 s ago: nvme nvme0: ' \
    '... but warn with the part'
like "$text" "^pass +host.log +0000:9b:00 +1 fault of jobs' programs, no fault of the node: xid 31 " \
    "... a fault of a job's program is separate"
unlike "$text" ' 79 ' "... a line written by a user is ignored"
echo '4,5,4000000,-;NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.' >>"$node/dev/kmsg"
text=$("$muster" check --root "$node" --only host.log)
like "$text" '^warn +host.log +0000:9b:00 +xid 79 \(GPU has fallen off the bus\)' 'a bad entry warns'
text=$("$muster" check --root "$node" --only host.log --nagios)
is "$?" 2 '... and is critical with --nagios'
like "$text" '^MUSTER CRITICAL - host.log 0000:9b:00: xid 79 ' '... with its name'
echo 'KernelLog=xid:79:ignore' >"$dir/ignore.conf"
text=$("$muster" check --root "$node" --config "$dir/ignore.conf" --only host.log)
unlike "$text" ' xid 79 ' 'KernelLog= can make it ignored'
rm "$node/dev/kmsg"

rm "$node/etc/slurm/slurm.conf" && mkdir "$node/etc/slurm/slurm.conf"
text=$("$muster" check --root "$node" --only slurm)
is "$?" 3 'an unknown result is status 3'
like "$text" '^unknown +slurm.gres ' '... with the verdict unknown'
text=$("$muster" check --root "$node")
is "$?" 1 'a failure takes precedence over unknown'
rmdir "$node/etc/slurm/slurm.conf"
echo 'NodeName=n1 Gres=gpu:1' >"$node/etc/slurm/slurm.conf"
text=$("$muster" check --root "$node" --only slurm)
is "$?" 1 'a missing GPU device fails'
like "$text" 'gpu0 +/etc/slurm/gres.conf:2: /dev/gpu0 does not exist' '... and is named with file and line'
like "$("$muster" check --root "$node" --only slurm --node x9)" 'no NodeName x9' '--node sets the name of the node'
like "$(SLURMD_NODENAME=x8 "$muster" check --root "$node" --only slurm)" 'no NodeName x8' \
    '... as SLURMD_NODENAME does'

if command -v jq >/dev/null; then
    "$muster" check --json --root "$node" >"$dir/json"
    is "$?" 1 '--json has the same status'
    ok '... and prints JSON lines only' jq -e 'type == "object"' "$dir/json"
    is "$(jq -r 'select(.test == "net.interfaces" and .part == "eth1") | .verdict + " " + .node' "$dir/json")" \
        'fail n1' 'a record has verdict, node and part'
    is "$(jq -r 'select(.suite != "check" or .time == null)' "$dir/json")" '' 'all records have suite and time'
    is "$(jq -r 'select(.metric == "mtu" and .part == "eth2") | "\(.value) \(.unit) \(.message)"' "$dir/json")" \
        '9000 bytes 9000' 'a fact has value, unit and text'
else
    skip 5 'no jq'
fi
record_check=$top_builddir/tests/record-check
# leaks of record-check do not matter
check_records() { ASAN_OPTIONS=detect_leaks=0 "$record_check" "$top_srcdir/doc/records.md" <"$dir/json"; }
if [ -x "$record_check" ]; then
    for tree in bond broken ethernet gaudi3 h100-ib lab-node mi300x-roce; do
        "$top_srcdir/tests/fixtures/unpack" "$top_srcdir/tests/fixtures/$tree.tree" "$dir/$tree"
        "$muster" check --json --root "$dir/$tree" >"$dir/json"
        ok "$tree: the records are of the schema" check_records
    done
    : >"$dir/empty"
    "$muster" check --json --config "$dir/empty" >"$dir/json"
    ok 'records of this machine, too' check_records
else
    skip 8 'record-check is not built'
fi
"$muster" check --root "$node" --only "$(printf 'gpu,%.0s' {1..100})gpu" >/dev/null
is "$?" 0 'a long list of tests is accepted'
"$muster" check --root "$node" --only "$(printf 'gpu,%.0s' {1..100})frob" >/dev/null 2>&1
is "$?" 2 '... and read to its end'
text=$("$muster" check --only net,frob 2>&1)
is "$?" 2 'an unknown test is a usage error'
like "$text" "no test 'frob'; the tests are net.interfaces, " '... with a list of tests'
done_testing
