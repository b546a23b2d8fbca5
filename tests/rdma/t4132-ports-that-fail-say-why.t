#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links measures each port with itself and with the other one of its node. The wire has the queue pairs,
# MTU and traffic class that were requested. Each reason why a port fails has its message: a missing GID, a path
# that carries nothing, a limit of locked memory, and each failure of a work request; without these nothing
# is wrong. About two minutes.
. "$(dirname "$0")/testguest.sh"

# Counts packets of RoCE v2 on eth1 by 16 bits of their header.
count_packets() { # VALUE MASK OFFSET
    tc filter add dev eth1 egress protocol ip u32 match ip dport 4791 0xffff match u16 "$1" "$2" at "$3" \
        action continue
}

# shellcheck disable=SC2016
facts() {
    echo '== local'
    links_of_two --passes=local --message=16K --quick --json
    echo "status $?"
    echo '== both ports of a node'
    rails_1='rxe[1-2]' rails_2='rxe[1-2]' links_of_two --passes=local --message=16K --quick --json
    echo "status $?"
    echo '== chosen'
    tc qdisc add dev eth1 clsact
    count_packets 0x0060 0x00fc 0 # DSCP 24
    count_packets 0x0000 0x00fc 0 # DSCP 0
    count_packets 0x0400 0x0400 2 # 1024 to 2047 bytes
    links_of_two --passes=verbs --verbs=write --queue-pairs=4 --mtu=512 --service-level=3 --traffic-class=96 --message=16K --quick --json
    echo "status $?"
    echo '== wire'
    tc -s filter show dev eth1 egress | sed -n 's/^ *match \(0[04].*\) (success \([0-9]*\).*/\1 \2/p' | grep -v 12b7
    tc qdisc del dev eth1 clsact
    echo '== named pairs'
    links_of_two --passes=verbs --verbs=write --pairs=n1:n2 --times=2 --message=16K --quick --json
    echo '== no such GID'
    links_of_two --passes=verbs --gid-index=77 --message=16K --quick --json
    echo '== locked memory'
    chmod 0666 /dev/infiniband/*
    setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock \
        bash -c "ulimit -l 64; $(declare -f two_nodes links_of_two); links_of_two --passes=local --message=16K --quick --json"
    echo '== completions'
    timeout 60 "$top/.lab/build/tests/rdma/completions" rxe1 rxe2
    echo '== path is cut'
    # otherwise no connection could be made at all
    ip neighbour replace 10.77.0.2 lladdr "$(cat /sys/class/net/eth2/address)" dev eth1 nud permanent
    ip neighbour replace 10.77.0.1 lladdr "$(cat /sys/class/net/eth1/address)" dev eth2 nud permanent
    tc qdisc add dev eth2 root netem loss 100%
    links_of_two --passes=verbs --verbs=write --message=16K --quick --json
    tc qdisc del dev eth2 root
    echo '== good again'
    links_of_two --passes=verbs,local --verbs=write --message=16K --quick --json
    echo "status $?"
}

in_guest facts --memory 1500 --time-limit 400
is "$status" 0 'a guest with two ports'
links() { # SECTION FILTER
    section "$1" | jq -Rr "fromjson? | $2"
}

is "$(links local 'select(.metric == "bandwidth_loopback" and .value > 0) | .part' | xargs)" 'rxe1:1 rxe2:1' \
    'each port writes to itself'
like "$(links local 'select(.metric == "gpu_memory" and .node == "n1") | .message')" \
    '^dma-buf: not available, the driver of rxe1:1 does not support it .*; peer memory: not available, no .*: no GPU found$' \
    '... GPU memory cannot be registered there, and the message says why'
like "$(section local)" '^status 0$' '... which is no fault'
records_are_in_schema local '... with records as doc/records.md has them'
is "$(links 'both ports of a node' 'select(.node == "n1" and .metric == "bandwidth_local" and .value > 0) |
    "\(.part) \(.message)"' | sort)" 'rxe1:1 to rxe2:1, 1 queue pair, MTU 1024
rxe2:1 to rxe1:1, 1 queue pair, MTU 1024' '... and to the other port of its node'
like "$(section 'both ports of a node')" '^status 0$' '... and passes'
is "$(links 'both ports of a node' 'select(.metric == "rounds") | "\(.value) of \(.limit)"')" '2 of 2' \
    '... in a round for each rail, with the time limit checked between'
is "$(links chosen 'select(.metric == "bandwidth_rc_write" and .node == "n1") | .message')" \
    '4 queue pairs, MTU 512, GID ::ffff:10.77.0.1, SL 3, TC 96' 'the requested settings are reported'
wire() { section wire | awk -v key="$1" '$1 == key { print ($NF > 0 ? "packets" : "none") }'; }
is "$(wire 00600000/00fc0000)" packets '... and the wire has packets of that DSCP'
is "$(wire 00000000/00fc0000)" none '... no others'
is "$(wire 00000400/00000400)" none '... and none above that MTU'

is "$(links 'named pairs' 'select(.metric == "bandwidth_rc_write" and .value > 0) | .node' | sort | xargs)" \
    'n1 n1 n2 n2' 'a pair that is named can be measured twice'
is "$(links 'no such GID' 'select(.metric == "state" and .node == "n1") | .verdict + " " + .message')" \
    'fail rxe1:1 has no GID with index 77; muster inventory lists its GIDs and the one to use' \
    'a missing GID index is named'
like "$(links 'path is cut' 'select(.verdict == "fail" and .node == "n1") | .message')" \
    'rxe2:1 of n2 does not answer \(transport retries exceeded\): its port is down, ' \
    'a path that carries nothing names the port that does not answer'
is "$(links 'locked memory' 'select(.verdict == "fail" and .node == "n1") | .message' | head -n 1)" \
    'rxe1:1 needs 17 MB of locked memory, the limit here is 0.06554 MB; set LimitMEMLOCK=infinity of slurmd'"'"'s unit and PropagateResourceLimitsExcept=MEMLOCK' \
    'too little locked memory is named, with what to set'
like "$(links 'locked memory' 'select(.verdict == "fail" and .node == "n1") | .message')" \
    'rxe1:1: cannot register .* MB, the limit of locked memory here is 0.06554 MB; set LimitMEMLOCK=infinity' \
    '... by libibverbs as well'

is "$(links 'good again' 'select(.verdict == "warn" or .verdict == "fail") | .message')" '' \
    'with a good path and enough locked memory nothing is wrong'
like "$(section 'good again')" '^status 0$' '... and it passes again'

if [ -x "$top/.lab/build/tests/rdma/completions" ]; then
    completion() { section completions | sed -n "s/^$1: //p"; }
    like "$(completion 'no receive')" '^rc_send: rxe2:1 of there had no receive buffer' 'the message for a receiver that is not ready'
    like "$(completion 'wrong key')" '^rc_write: rxe2:1 of there refused access .*protection' 'the message for a wrong key'
    like "$(completion 'wrong key of read')" '^rc_read: rxe2:1 of there refused access' '... of a read'
    like "$(completion 'no peer')" '^rc_write: rxe2:1 of there does not answer \(transport retries' 'the message for a peer that is gone'
else
    skip 4 'completions is not built'
fi
done_testing
