#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Flow control and the priorities of DSCPs, on a driver with DCB: dcb(8) shows what muster sets, and
# that it is restored, also after kills, and if a DSCP had several priorities before. muster-links counts
# the frames of flow control around each of its tests.
. "$(dirname "$0")/testguest.sh"

module=$top/.lab/rdma/muster_dcb.ko
export module
[ -e "$module" ] || skip_all "the driver with DCB was not built, see $top/.lab/rdma/fetch.log"

state() {
    dcb pfc show dev dcb0 | awk '{ $1 = $1; print }'
    dcb -N app show dev dcb0 | xargs
}

conf() { printf '%s\n' 'InterfaceJournal=/run/journal' "$@" >/run/muster.conf; }

priorities() {
    export MUSTER_CONF=/run/muster.conf
    local before _
    insmod "$module" || return
    dcb pfc set dev dcb0 prio-pfc 2:on
    dcb app add dev dcb0 dscp-prio 26:1 26:4 48:0
    dcb app add dev dcb0 ethtype-prio 0x8915:5
    before=$(state)
    conf 'FabricInterfaces=dcb0'
    echo '== facts'
    "$muster" check --only host.config --json
    conf 'Interface=dcb0 pfc=3+5 dscp26=3 dscp48=none dscp10=7'
    echo '== before'
    state
    echo '== plan'
    "$muster" interfaces
    echo '== apply'
    "$muster" interfaces --apply
    state
    "$muster" interfaces --apply
    echo '== restore'
    "$muster" interfaces --restore
    state
    for _ in 05 10 15 20 30 40 60; do
        timeout -s KILL 0.$_ "$muster" interfaces --apply
        timeout -s KILL 0.$_ "$muster" interfaces --restore
    done >/dev/null 2>&1
    "$muster" interfaces --restore >/dev/null
    echo '== after kills'
    state
    conf 'Interface=dcb0 pfc=3+4+5 dscp26=3'
    echo '== refused'
    "$muster" interfaces --apply
    "$muster" interfaces --restore
    [ "$(state)" = "$before" ] || return
    rmmod muster_dcb
    insmod "$module" netdev=eth2 pauses=7
    echo '== pauses'
    links_of_two --passes=verbs --verbs=write --message=16K --quick --json
    rmmod muster_dcb
    insmod "$module" netdev=eth2 pauses=0
    echo '== no pauses'
    links_of_two --passes=verbs --verbs=write --message=16K --quick --json
    echo "status $?"
}
in_guest priorities --topology pair --memory 1500 --time-limit 400
is "$status" 0 'at the end everything is as before'
is "$(section before)" 'pfc-cap 8 macsec-bypass off delay 7
prio-pfc 0:off 1:off 2:on 3:off 4:off 5:off 6:off 7:off
ethtype-prio 8915:5 dscp-prio 26:1 26:4 48:0' 'the state before'
is "$(section facts | jq -r 'select(.part == "dcb0" and (.metric == "pfc" or .metric == "trust")) | "\(.metric) \(.message)"' | sort | xargs)" \
    'pfc 2 trust dscp 26:1+4 48:0' '... as a fact that is compared over the nodes'
is "$(section plan | awk '{ print $1, $2, $3, $4 }')" 'INTERFACE SETTING WANTED FOUND
dcb0 pfc 3+5 2
dcb0 dscp10 7 none
dcb0 dscp26 3 1+4
dcb0 dscp48 none 0' 'muster interfaces shows it'
is "$(section apply)" '4 settings applied, 0 restored, 0 failed
pfc-cap 8 macsec-bypass off delay 7
prio-pfc 0:off 1:off 2:off 3:on 4:off 5:on 6:off 7:off
ethtype-prio 8915:5 dscp-prio 10:7 26:3
0 settings applied, 0 restored, 0 failed' '... sets what is wanted, once, and changes nothing else'
is "$(section restore)" "0 settings applied, 4 restored, 0 failed
$(section before)" '... and restores it'
is "$(section 'after kills')" "$(section before)" 'killed at any point, it is restored'
is "$(section refused | sed 's/; Interface line .*//')" 'dcb0: pfc 3+4+5 cannot be set: Invalid argument
1 settings applied, 0 restored, 1 failed
0 settings applied, 1 restored, 0 failed' 'a setting that the card refuses is named'
pauses() { section pauses | jq -Rr "fromjson? | select(.metric == \"pauses_received\") | $1"; }
is "$(pauses '.node + " " + .part' | sort -u)" 'n2 rxe2:1' \
    'muster-links names the port of the two that its switch paused during a test'
is "$(pauses '.value % 7' | sort -u)" 0 '... with the number of frames'
like "$(pauses .message)" 'rxe2:1 of n2 counted [0-9]+ more pauses_received while n1 was at the other end: the switch paused it' \
    '... and their meaning'
is "$(section 'no pauses' | jq -Rr 'fromjson? | select(.metric == "pauses_received") | .message')" '' \
    '... and no port if there are no such frames'
like "$(section 'no pauses')" '^status 0$' '... and muster-links passes'
records_are_in_schema pauses '... with records as doc/records.md has them'
done_testing
