#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster interfaces shows wanted and found settings, makes them and restores the old ones. Runs in a
# network namespace, on the two ends of a virtual cable.
. "$(dirname "$0")/../tap.sh"

muster=$(realpath "${top_builddir:-.}/muster")
[ -x "$muster" ] || skip_all 'muster is not built'
check=$(realpath "${top_builddir:-.}/tests/record-check" 2>/dev/null)
records=${top_srcdir:-.}/doc/records.md
[ "$(id -u)" -eq 0 ] || skip_all 'needs root'
if [ "${1-}" != inside ]; then
    unshare -n true 2>/dev/null || skip_all 'no network namespaces here'
    exec unshare -n "$0" inside
fi
command -v ip >/dev/null || skip_all 'no ip(8)'
ip link add rail1 type veth peer name rail2 2>/dev/null || skip_all 'no virtual cables here'
dir=$(mktemp -d)
tap_cleanup() { rm -r "$dir"; }
export MUSTER_CONF=$dir/conf
for name in arp_ignore rp_filter; do
    for interface in all rail1 rail2; do echo 0 >/proc/sys/net/ipv4/conf/$interface/$name; done
done
ip address add 10.1.0.1/24 dev rail1

conf() { printf '%s\n' "InterfaceJournal=$dir/journal" "$@" >"$MUSTER_CONF"; }
state() {
    ip -o link show | sed 's/ qdisc .* qlen/ qlen/; s/,M-DOWN//'
    grep . /proc/sys/net/ipv4/conf/rail?/*_{ignore,filter}
}
before=$(state)

conf
is "$("$muster" interfaces)" "INTERFACE  SETTING  WANTED  FOUND  STATE
-          -        -       -      muster.conf has no Interface line" 'without Interface lines'

conf 'Interface=rail[1-2] mtu=4000 up=yes' 'Interface=rail1 rp_filter=2 address=10.1.0.0/16'
is "$("$muster" interfaces)" "INTERFACE  SETTING    WANTED       FOUND  STATE
rail1      mtu        4000         1500   made for jobs, line 2
rail1      up         yes          no     made for jobs, line 2
rail2      mtu        4000         1500   made for jobs, line 2
rail2      up         yes          no     made for jobs, line 2
rail1      rp_filter  2            0      made for jobs, line 3
rail1      address    10.1.0.0/16  yes    is so, line 3" 'wanted and found settings are shown'
is "$(state)" "$before" '... and nothing is changed'
is "$("$muster" interfaces --apply)" '5 settings applied, 0 restored, 0 failed' '--apply'
like "$(ip -o link show rail1)" ',UP.* mtu 4000 ' '... makes the settings'
is "$("$muster" interfaces --apply)" '0 settings applied, 0 restored, 0 failed' '... once'
like "$("$muster" interfaces)" '^rail1 +mtu +4000 +4000 +is so, line 2$' '... and they are shown as made'
like "$("$muster" interfaces)" '^rail1 +mtu +4000 +1500 +held by job 0 \(--apply\)$' '... with the old value'
is "$(stat -c '%a %u' "$dir/journal")" '600 0' 'only root may read the journal'
"$muster" interfaces --json >"$dir/records"
if [ -x "$check" ]; then
    ok '... and as records' "$check" "$records" <"$dir/records"
else
    skip 1 'record-check is not built'
fi
like "$(grep '"rail1: mtu: made ' "$dir/records")" '"rail1: mtu: made 4000, before 1500; held by job 0 \(--apply\)"' \
    '... the journal with new and old value'
is "$("$muster" interfaces --restore --job 12)" '0 settings applied, 0 restored, 0 failed' \
    '--restore of another job restores nothing'
is "$("$muster" interfaces --restore)" '0 settings applied, 5 restored, 0 failed' '--restore'
is "$(state)" "$before" '... restores everything'
not_ok '... and removes the journal' test -e "$dir/journal"

conf 'Interface=rail[1,3] mtu=65535 rx-ring=512'
got=$("$muster" interfaces)
is "$?" 1 'a setting that is impossible is status 1'
like "$got" '^rail3 +- +- +- +is not on this node, line 2$' '... a missing interface'
got=$("$muster" interfaces --apply)
is "$?" 1 'a setting that cannot be made is status 1'
like "$got" '^rail1: rx-ring 512 cannot be set: its driver has no rings to set: Operation not supported; Interface line 2 of muster.conf$' \
    '... a ring that the driver does not have'
"$muster" interfaces --restore >/dev/null
conf 'Interface=absent[1-40] mtu=4000'
like "$("$muster" interfaces --apply)" '^16 more lines$' 'failures beyond 16 lines are counted'
conf 'Interface=rail1 mtu=4000'
ip link set rail1 mtu 9000
"$muster" interfaces --apply >/dev/null
ip link set rail1 mtu 2000
like "$("$muster" interfaces --restore)" '^rail1: mtu 2000 was changed by another program .*not restored to mtu 9000$' \
    "a value set by another program stays"

echo x >"$dir/journal"
got=$("$muster" interfaces --restore)
is "$?" 1 'an invalid journal: status 1'
like "$got" 'journal: line 1: found no "muster-interfaces 1"' '... with file and line'

"$muster" interfaces --apply --restore >/dev/null 2>&1
is "$?" 2 '--apply and --restore together'
"$muster" interfaces --job 12 >/dev/null 2>&1
is "$?" 2 'a job without --restore'
"$muster" interfaces --restore --job x >/dev/null 2>&1
is "$?" 2 'a job that is not a number'
is "$("$muster" interfaces --help | head -1)" 'Usage: muster interfaces [OPTION...]' '--help'
done_testing
