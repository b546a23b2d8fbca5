#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On real RDMA devices muster agrees with the verbs library on devices, their interfaces, states and
# GIDs, and the GID to use. The check passes, and names a port that is down. muster-links sends its
# messages over reliable connections of exactly these ports.
. "$(dirname "$0")/testguest.sh"

facts() {
    local n
    for n in 1 2; do
        echo "FabricInterfaces=rxe$n" >"/run/muster$n.conf"
    done
    echo '== devices'
    ibv_devices | awk 'NR > 2 { print $1 }' | xargs
    for n in 1 2; do
        echo "== gids of rxe$n"
        ibv_devinfo -v -d rxe$n | sed -n 's/^\t*GID\[ *\([0-9]*\)\]:\t*\(.*\), \(RoCE v[12]\).*/\1 \2 \3/p'
        echo "== state of rxe$n"
        ibv_devinfo -d rxe$n | awk '$1 == "state:" { sub("PORT_", "", $2); print $2 }'
    done
    echo '== inventory'
    "$muster" inventory --json
    echo '== check'
    "$muster" check --only net.interfaces,host.limits
    echo "status $?"
    echo '== explain'
    "$muster" explain
    "$top/tests/fixtures/record" >"$work/rxe-pair.tree"
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 MUSTER_ALLOW_ROOT=1
    echo '== links'
    # two ranks that act as two nodes
    # shellcheck disable=SC2016
    timeout 60 mpirun --oversubscribe --mca mpi_yield_when_idle 1 --mca pml ob1 --mca btl self,vader -np 2 \
        sh -c 'n=$((OMPI_COMM_WORLD_RANK + 1)); export MUSTER_CONF=/run/muster$n.conf n
            exec unshare --uts sh -c "hostname n$n
                LD_PRELOAD=$work/last_wqe.so exec $prefix/bin/muster-links --quick --bytes 64K --json"'
    echo "status $?"
    ip link set eth2 down
    echo '== check of a port that is down'
    "$muster" check --only net.interfaces
    echo "status $?"
    ip link set eth2 up
    for n in {1..100}; do
        grep -q ACTIVE /sys/class/infiniband/rxe2/ports/1/state && break
        sleep 0.05
    done
    echo '== check of a port that is up again'
    "$muster" check --only net.interfaces
    echo "status $?"
}

${CC:-cc} -shared -fPIC -O2 -o "$work/last_wqe.so" "$rdma_dir/last_wqe.c" -Wl,--no-as-needed -libverbs ||
    bail 'last_wqe.c cannot be built'
in_guest facts --memory 1500 --time-limit 400
is "$status" 0 'a guest with two ports'
is "$(section devices)" 'rxe1 rxe2' '... both seen by the verbs library'
json() { section inventory | jq -r "$1"; }
is "$(json '[.rdma[].device] | join(" ")')" 'rxe1 rxe2' '... and by muster'
for n in 1 2; do
    port=".rdma[] | select(.device == \"rxe$n\")"
    is "$(json "$port | .netdev")" "eth$n" "rxe$n is on eth$n"
    is "$(json "$port | .state")" "$(section "state of rxe$n")" "... in the state that the library reports"
    is "$(json "$port | .gids[] | \"\\(.index) \\(.gid) \\(.type)\"" |
        while read -r index gid type; do
            # as the library writes it
            python3 -c 'import ipaddress, sys
a = ipaddress.ip_address(sys.argv[1])
print(sys.argv[2], "::ffff:%s" % a.ipv4_mapped if a.ipv4_mapped else a, *sys.argv[3:])' "$gid" "$index" "$type"
        done)" "$(section "gids of rxe$n")" '... with the GIDs of the library'
    index=$(section "gids of rxe$n" | awk '/::ffff:/ { print $1 }')
    is "$(json ".fabric.rails[] | select(.name == \"rxe$n:1\") | .gid_index")" "$index" \
        '... of which the one over IPv4 is used'
done
like "$(section explain)" "^  NCCL_IB_GID_INDEX=$index\$" 'explain gives NCCL that index'
# with the one over IPv4 muster-links could not have connected
like "$(section explain)" "^  UCX_IB_GID_INDEX=$(section "gids of rxe2" | awk '/ fe80:/ { print $1; exit }')\$" \
    '... and UCX the link-local one, which it needs on soft-RoCE'
like "$(section explain)" '^  NCCL_IB_HCA==rxe1:1,rxe2:1$' '... and NCCL both ports'
like "$(section check)" '^pass +net.interfaces +rxe1:1 +RoCE v2, 10 Gb/s, MTU 1500, 10.77.0.1/24$' 'the check passes'
like "$(section check)" '/dev/infiniband exists' '... and has seen the devices'
like "$(section check)" '^status 0$' '... as a whole'

links() { section links | jq -Rr "fromjson? | $1"; }
is "$(links 'select(.metric == "path") | "\(.node) \(.part) \(.verdict)"' | sort | xargs)" \
    'n1 rxe1:1 pass n2 rxe2:1 pass' 'muster-links verifies the path by the counters of both ports'
like "$(links 'select(.metric == "path") | .message' | head -n 1)" '^rc_verbs/rxe1:1' '... over reliable connections'
is "$(links 'select(.metric == "bandwidth" and .value > 0) | .node' | sort | xargs)" 'n1 n2' \
    '... in both directions'
like "$(section links)" '^status 0$' '... and passes'
section links | grep '^{' >"$work/records"
is_in_schema() { "$record_check" "$top/doc/records.md" <"$work/records"; }
record_check=$top/.lab/build/tests/record-check
if [ -x "$record_check" ]; then
    ok '... with records as doc/records.md has them' is_in_schema
else
    skip 1 'record-check is not built'
fi
like "$(section 'check of a port that is down')" '^fail +net.interfaces +rxe2:1 ' 'a port that is down is named'
like "$(section 'check of a port that is down')" '^status 1$' '... and fails the check'
like "$(section 'check of a port that is up again')" '^status 0$' '... until it is up again'

[ -z "${RDMA_RECORD-}" ] || cp "$work/rxe-pair.tree" "$RDMA_RECORD"
"$top/tests/fixtures/unpack" "$work/rxe-pair.tree" "$work/tree"
is "$("$muster" inventory --root "$work/tree" --json | jq -c .rdma)" "$(json .rdma | jq -c .)" \
    'muster reads the same from the recorded guest'
done_testing
