#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# If lldpd runs on the nodes, muster certify compares their cables with topology.conf: a cable in
# another switch is a warning with node, port and where it belongs, an lldpd that does not run is the
# node's deviation, and nobody is drained for either; if the cable is right nothing is reported.
. "$(dirname "$0")/../tap.sh"
command -v lldpcli >/dev/null || skip_all 'no lldpd (Debian: lldpd)'
getent passwd _lldpd >/dev/null || skip_all 'lldpd has no user to be'
. "$(dirname "$0")/../lab/testlab.sh"
. "$(dirname "$0")/../lab/certify.sh"

pids=()
tap_cleanup() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null
    wait
    lab down >/dev/null
}

leaf() { # NAME PATTERN: starts an lldpd that announces the switch NAME on the ports that match PATTERN
    mkdir -p "$work/$1"
    ip netns exec "muster-$name-fabric" unshare -u -m sh -c \
        "hostname $1; mount -t tmpfs none /run; mkdir -p /run/lldpd; exec lldpd -d -C $1 -I '$2' -u $work/$1/socket" \
        >"$work/$1/log" 2>&1 &
    pids+=($!)
}
node() { # NAME: starts lldpd there
    lab on "$1" sh -c 'mkdir -p /run/lldpd; exec lldpd -d' >"$work/$1.log" 2>&1 &
    pids+=($!)
}
has_neighbor() { # NODE INTERFACE SWITCH
    lab on "$1" "$muster" topology --neighbors 2>/dev/null | grep -q "^$2  *$3 "
}

logs() {
    diag "$(tail -n 3 "$work"/leaf*/log "$work"/n*.log)" "$(lab on n2 "$muster" topology --neighbors 2>&1)"
}

chmod 711 "$work"
configure_lldpd() { # SWITCH WORD...
    lldpcli -u "$work/$1/socket" configure "${@:2}" >/dev/null 2>&1
}

# Waits until the lldpd of both leaves is set to send each second, and all four cables are heard of; $heard
# counts these, 6 in all. lldpd looks for ports after each interval, 30 s at the start; neighbors forget what
# it sent after tx-hold intervals.
wait_for_neighbors() { # CABLE...
    local end=$((SECONDS + 100)) switch cable
    while [ $SECONDS -lt $end ]; do
        heard=0
        for switch in leaf1 leaf2; do
            configure_lldpd $switch lldp tx-hold 20 && configure_lldpd $switch lldp tx-interval 1 && heard=$((heard + 1))
        done
        for cable in "$@"; do
            # shellcheck disable=SC2086
            has_neighbor $cable && heard=$((heard + 1))
        done
        [ $heard -eq 6 ] && break
        sleep 0.2
    done
}
leaf leaf1 'n1-eth*,n2-eth2'
leaf leaf2 'n2-eth1,n3-eth*,n4-eth*'
for i in 1 2 3; do node n$i; done
wait_for_neighbors 'n1 eth1 leaf1' 'n2 eth1 leaf2' 'n2 eth2 leaf1' 'n3 eth2 leaf2'
is "$heard" 6 'muster topology --neighbors prints what lldpd has heard' || logs
is "$(lab on n4 "$muster" topology --neighbors 2>&1 >/dev/null | grep -c 'is lldpd running?$')" 1 '... and says that none runs'

certify --dry-run --level quick
record() { # JQ-CONDITION
    jq -r "select(.suite == \"certify\" and .test == \"net.topology\" and ($1)) | \"\(.node) \(.part) \(.verdict): \(.message)\"" "$work/records"
}
is "$status" 0 'a cable in the wrong switch, and a node without lldpd' || diag "$output"
like "$(record '.metric == "place"')" \
    '^n2 eth1 warn: n2 eth1 is on leaf2 n2-eth1, it belongs on leaf1 \(.*topology.conf line 2 has n2 under leaf1\): move its cable there' \
    'the cable is named with its port and where it belongs' || diag "$(record true)"
is "$(record '.verdict == "warn" or .verdict == "fail"' | grep -c .)" 1 '... and nothing else'
is "$(record '.metric == "leaf"' | sed 's/ null null: / /' | xargs)" 'n1 leaf1 n2 leaf1 n3 leaf2 n4 leaf2' \
    'leaves stay those of topology.conf unless all nodes have lldpd'
like "$(jq -r 'select(.suite == "certify" and .test == "host.config") | "\(.node) \(.part) \(.message)"' "$work/records")" \
    'n4 .*lldpd.*not running' 'the node without lldpd is reported to differ'
is "$(verdicts)" 'n1 pass n2 pass n3 pass n4 pass' '... and all are certified'
valid 'all records are as doc/records.md says'

configure_lldpd leaf1 system interface pattern 'n1-eth*,n2-eth*'
configure_lldpd leaf2 system interface pattern 'n3-eth*,n4-eth*'
wait_for_neighbors 'n1 eth1 leaf1' 'n2 eth1 leaf1' 'n2 eth2 leaf1' 'n3 eth2 leaf2'
is "$heard" 6 'the cable is where it belongs' || logs
certify --dry-run --level quick
is "$status" 0 '... and all is well' || diag "$output"
is "$(record '.verdict == "warn" or .verdict == "fail"')" '' '... with no warning'
done_testing
