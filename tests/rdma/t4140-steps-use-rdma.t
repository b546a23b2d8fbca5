#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm cluster inside a guest: the plugin gives the ranks of an MPI step their node's RDMA port and
# a GID index with which UCX connects, and their messages go over reliable connections of exactly
# these ports, as the ports' counters show. The step can lock memory and open /dev/infiniband; where
# it may not, or TCP is asked for, it says so. About two minutes.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testguest.sh"
[ -x /usr/sbin/slurmctld ] || skip_all 'slurmctld is not installed'
plugin=${MUSTER_PLUGIN:-$prefix/lib/slurm/spank_muster.so}
[ -e "$plugin" ] || skip_all "no $plugin (make install, or MUSTER_PLUGIN)"
export plugin rdma_dir

sent() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/sent_pkts"; }

# shellcheck disable=SC2016
steps() {
    local before
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
    echo '== locked'
    (ulimit -l 64; timeout 60 srun -N2 --propagate=MEMLOCK true 2>&1)
    true
}

${CC:-cc} -shared -fPIC -O2 -o "$work/last_wqe.so" "$rdma_dir/last_wqe.c" -Wl,--no-as-needed -libverbs ||
    bail 'last_wqe.c cannot be built'
in_guest steps --memory 2500 --time-limit 400
is "$status" 0 'a cluster of two nodes in a guest'
is "$(section environment | sed -n 1p)" 'n1 rxe1:1 0 1 unlimited open' \
    'a rank of n1 gets its port, GID indexes, locked memory and /dev/infiniband'
is "$(section environment | sed -n 2p)" 'n2 rxe2:1 0 1 unlimited open' '... one of n2 its own'
like "$(section mpi)" '^status 0$' 'an MPI program of two nodes runs over UCX'
is "$(section mpi | awk '$1 == "packets" { print ($2 > 1000) }')" 1 '... and its messages went by the RDMA port'
like "$(section tcp)" 'UCX_TLS=tcp keeps UCX off RoCE v2: messages between nodes go by TCP' \
    'TCP although there is RDMA is told'
like "$(section locked)" '0\.06554 MB of locked memory, RoCE v2 needs unlimited' '... and too little locked memory'
done_testing
