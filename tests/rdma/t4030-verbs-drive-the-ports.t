#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links drives RDMA ports by libibverbs itself, every verb both ways. Each mis-tuning has its
# message: one GID index that means two kinds of GID, and a path that drops packets which both
# ports support; without them nothing is wrong.
. "$(dirname "$0")/testguest.sh"

# shellcheck disable=SC2016
facts() {
    local n
    echo '== verbs'
    links_of_two --passes=verbs --message=16K --quick --json
    echo "status $?"
    echo '== long packets are swallowed'
    for n in 1 2; do # as a switch on the way with an MTU of 1000
        tc qdisc add dev eth$n clsact
        tc filter add dev eth$n egress protocol ip u32 match u16 0x0400 0x0400 at 2 action drop
    done
    links_of_two --passes=verbs --verbs=write --message=16K --quick --json
    echo "status $?"
    for n in 1 2; do
        tc qdisc del dev eth$n clsact
    done
    echo '== long datagrams are swallowed'
    for n in 1 2; do # on the way: the sender gets no error
        tc qdisc add dev eth$n clsact
        tc filter add dev eth$n ingress protocol ip u32 match u16 0x0400 0x0400 at 2 action drop
    done
    links_of_two --passes=verbs --verbs=ud --message=16K --quick --json
    for n in 1 2; do
        tc qdisc del dev eth$n clsact
    done
    echo '== GIDs of two kinds'
    ip address del 10.77.0.2/24 dev eth2 # the next one takes its index
    ip address add 2001:db8::2/64 dev eth2
    ip address add 10.77.0.2/24 dev eth2
    links_of_two --passes=verbs --gid-index=1 --message=16K --quick --json
    echo '== good again'
    ip address flush dev eth2 scope global
    ip address add 10.77.0.2/24 dev eth2
    links_of_two --passes=verbs --verbs=write --gid-index=1 --message=16K --quick --json
    echo "status $?"
}

in_guest facts --memory 1500 --time-limit 600
is "$status" 0 'a guest with two ports'
links() { # SECTION FILTER
    section "$1" | jq -Rr "fromjson? | $2"
}

for verb in rc_write rc_read rc_send ud_send; do
    for figure in bandwidth latency; do
        is "$(links verbs "select(.metric == \"${figure}_$verb\" and .value > 0) | .node" | sort | xargs)" \
            'n1 n2' "$figure of $verb, both ways"
    done
done
is "$(links verbs 'select(.metric == "damaged") | .node')" '' 'all that arrived is what was sent'
like "$(section verbs)" '^status 0$' '... and it passes' ||
    { section verbs; cat "$work/err"; } | tail -n 8 | cut -c 1-400 | sed 's/^/# /' >&2
records_are_in_schema verbs '... with records as doc/records.md has them'

is "$(links 'GIDs of two kinds' 'select(.metric == "state") | .message')" \
    'rxe1:1 of n1 uses GID index 1 (RoCE v2, ::ffff:10.77.0.1), rxe2:1 of n2 GID index 1 (RoCE v2, 2001:db8::2): connections between them hang; use GIDs of the same kind on all nodes (UCX_IB_GID_INDEX, NCCL_IB_GID_INDEX)' \
    'one index that means two kinds of GID is named once, with both GIDs'
like "$(links 'long packets are swallowed' 'select(.verdict == "fail") | .message')" \
    '^n1 rxe1:1 -> n2 rxe2:1: packets of MTU 1024, which both ports support, are lost, packets of MTU 512 arrive: ' \
    'a path that drops long packets is distinguished from a dead one, with the MTU that passes'
like "$(section 'long packets are swallowed')" '^status 1$' '... and fails'
is "$(links 'long datagrams are swallowed' 'select(.verdict == "fail") | "\(.metric) \(.message)"' |
    sed 's/of [0-9]* datagrams/of N datagrams/' | sort)" \
    "bandwidth_ud_send n1 rxe1:1 -> n2 rxe2:1: ud_send: all of N datagrams of 1024 bytes were lost, shorter ones arrive: the path has a smaller MTU; check the MTU of switches and interfaces
bandwidth_ud_send n2 rxe2:1 -> n1 rxe1:1: ud_send: all of N datagrams of 1024 bytes were lost, shorter ones arrive: the path has a smaller MTU; check the MTU of switches and interfaces" \
    'datagrams that never arrive are not reported as damaged'
is "$(links 'good again' 'select(.verdict == "warn" or .verdict == "fail") | .message')" '' \
    'without these faults nothing is wrong'
like "$(section 'good again')" '^status 0$' '... and it passes again'
done_testing
