#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm cluster inside a guest: the plugin gives the ranks of an MPI step their node's RDMA port and
# a GID index with which UCX connects, and their messages go over reliable connections of exactly
# these ports, as the ports' counters show. The step can lock memory and open /dev/infiniband; if it may
# not, or TCP is requested, a message says so. muster certify names a path that drops long packets, and
# passes once it drops none. Three to five minutes.
. "$(dirname "$0")/testguest.sh"
needs_slurm

sent() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/sent_pkts"; }

# shellcheck disable=SC2016
steps() {
    local before n
    # shellcheck source=slurm.sh
    . "$rdma_dir/slurm.sh"
    slurm_up "$plugin" || return
    chmod 0666 /dev/infiniband/*
    echo '== environment'
    timeout 60 srun -N2 sh -c 'echo "$(hostname) $UCX_NET_DEVICES $UCX_IB_GID_INDEX $NCCL_IB_GID_INDEX $(ulimit -l) $(
        test -w /dev/infiniband/uverbs0 && echo open)"' 2>&1 | sort
    echo '== mpi'
    before=$(sent rxe1)
    timeout 120 srun -N2 --export="ALL,LD_PRELOAD=$work/last_wqe.so,UCX_TLS=rc,OMPI_MCA_pml=ucx,OMPI_MCA_mpi_yield_when_idle=1,OMPI_MCA_opal_common_ucx_tls=any,OMPI_MCA_opal_common_ucx_devices=any" \
        "$prefix/bin/muster-launch" --json --time-limit 90
    echo "status $?"
    echo "packets $(($(sent rxe1) - before))"
    echo '== tcp'
    UCX_TLS=tcp timeout 60 srun -N2 true 2>&1
    echo '== GID index'
    UCX_IB_GID_INDEX=9 timeout 60 srun -N2 true 2>&1
    echo '== locked'
    (ulimit -l 64; timeout 60 srun -N2 --propagate=MEMLOCK true 2>&1)
    echo '== as it was'
    timeout 60 srun -N2 true 2>&1
    echo "status $?"
    export LD_PRELOAD=$work/last_wqe.so UCX_TLS=rc OMPI_MCA_pml=ucx OMPI_MCA_mpi_yield_when_idle=1 \
        OMPI_MCA_opal_common_ucx_tls=any OMPI_MCA_opal_common_ucx_devices=any
    echo '== certify'
    timeout 300 "$muster" certify -n --time-limit 600 --json - 2>&1
    echo "status $?"
    # acts as a switch on the way with an MTU of 1000, for RoCE only: MPI's TCP has no other path
    for n in 1 2; do
        tc qdisc add dev eth$n clsact
        tc filter add dev eth$n egress protocol ip u32 match ip protocol 17 0xff \
            match ip dport 4791 0xffff match u16 0x0400 0x0400 at 2 action drop
    done
    echo '== certify over a path that swallows'
    timeout 300 "$muster" certify -n --time-limit 600 --json - 2>&1
    echo "status $?"
    for n in 1 2; do
        tc qdisc del dev eth$n clsact
    done
    echo '== certify again'
    timeout 300 "$muster" certify -n --time-limit 600 --json - 2>&1
    echo "status $?"
}

${CC:-cc} -shared -fPIC -O2 -o "$work/last_wqe.so" "$rdma_dir/last_wqe.c" -Wl,--no-as-needed -libverbs ||
    bail 'last_wqe.c cannot be built'
in_guest steps --memory 3000 --time-limit 800
is "$status" 0 'a cluster of two nodes in a guest'
unlike "$output" 'cannot be preloaded' '... whose steps have what UCX needs on soft-RoCE'
is "$(section environment | sed -n 1p)" 'n1 rxe1:1 0 1 unlimited open' \
    'a rank of n1 gets its port, GID indexes, locked memory and /dev/infiniband'
is "$(section environment | sed -n 2p)" 'n2 rxe2:1 0 1 unlimited open' '... a rank of n2 gets those of n2'
like "$(section mpi)" '^status 0$' 'an MPI program of two nodes runs over UCX'
is "$(section mpi | awk '$1 == "packets" { print ($2 > 1000) }')" 1 '... and its messages went by the RDMA port'
like "$(section tcp)" 'UCX_TLS=tcp keeps UCX off RoCE v2: messages between nodes use TCP' \
    'TCP although there is RDMA is reported'
like "$(section 'GID index')" \
    'n1: step .*UCX_IB_GID_INDEX=9: rxe1:1 has no GID with that index, connections hang and the job aborts; the index to use is 0 \(RoCE v2\)' \
    'a GID index that the ports do not have is reported before the job hangs'
like "$(section locked)" '0\.06554 MB of locked memory, RoCE v2 needs unlimited' '... and too little locked memory'
is "$(section 'as it was')" 'status 0' '... and nothing without a fault'

certify() { # SECTION FILTER
    section "$1" | jq -Rr "fromjson? | $2"
}
is "$(certify certify 'select(.metric == "bandwidth_rc_write" and .value > 0) | .node + " " + .part' | sort | xargs)" \
    'n1 rxe1:1 n2 rxe2:1' 'muster certify writes through both ports by libibverbs'
is "$(certify certify 'select(.metric == "transport") | .message')" '' \
    '... with MPI over TCP, which is its own choice and no fault'
is "$(certify certify 'select(.test == "certify") | .node + " " + .verdict' | xargs)" 'n1 pass n2 pass' \
    '... and certifies both nodes'
like "$(section certify)" '^status 0$' '... and exits with 0'
like "$(certify 'certify over a path that swallows' 'select(.test == "certify" and .node == "n1") | .message')" \
    '^n1 rxe1:1 -> n2 rxe2:1: packets of MTU 1024, which both ports support, are lost, packets of MTU 512 arrive: ' \
    'a path that drops long packets is named, with both ports and the MTU that passes' ||
    diag "$(section 'certify over a path that swallows')"
is "$(certify 'certify over a path that swallows' 'select(.test == "certify" and .verdict == "pass") | .node')" '' \
    '... and no node is certified'
is "$(certify 'certify again' 'select(.test == "certify") | .node + " " + .verdict' | xargs)" 'n1 pass n2 pass' \
    '... until the path drops none'
done_testing
