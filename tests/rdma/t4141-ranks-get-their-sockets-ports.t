#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Slurm node of two sockets, a PCIe switch with a NIC below each: the plugin gives a rank that Slurm
# binds to the second socket the RDMA port of the second socket, whichever rank it is; a rank bound to
# both, or to none, gets both ports; and the sockets are the kernel's. One to three minutes.
. "$(dirname "$0")/testguest.sh"
needs_slurm

# shellcheck disable=SC2016
steps() {
    local what='echo "$SLURM_PROCID $(taskset -pc $$ | sed "s/.*: //") $UCX_NET_DEVICES"'
    # shellcheck source=slurm.sh
    . "$rdma_dir/slurm.sh"
    slurm_nodes='n1' slurm_layout='Sockets=2 CoresPerSocket=1 ThreadsPerCore=1' slurm_binding=task/affinity \
        slurm_rails='rxe[1-2]'
    slurm_up "$plugin" || return
    echo '== kernel'
    for n in 1 2; do
        echo "rxe$n:1 $(cat "/sys/class/net/eth$n/device/local_cpulist")"
    done
    echo '== bound'
    timeout 120 srun -n2 --cpu-bind=map_cpu:0,1 sh -c "$what" | sort
    echo '== the other way'
    timeout 120 srun -n2 --cpu-bind=map_cpu:1,0 sh -c "$what" | sort
    echo '== by socket'
    timeout 120 srun -n2 --ntasks-per-socket=1 --cpu-bind=sockets sh -c "$what" | sort
    echo '== both sockets'
    timeout 120 srun -n1 -c2 --cpu-bind=none sh -c "$what"
    echo '== explained'
    timeout 120 srun -n2 --cpu-bind=map_cpu:1,0 --muster-explain true 2>&1
    true
}

in_guest steps --topology numa --memory 1500 --time-limit 500
is "$status" 0 'a Slurm node of two sockets'
is "$(section kernel)" 'rxe1:1 0
rxe2:1 1' 'each socket has a NIC'
is "$(section bound)" '0 0 rxe1:1
1 1 rxe2:1' 'a rank on socket 1 gets the port on socket 1'
is "$(section 'the other way')" '0 1 rxe2:1
1 0 rxe1:1' '... whichever rank it is'
is "$(section 'by socket')" '0 0 rxe1:1
1 1 rxe2:1' '... also when Slurm distributes the sockets'
is "$(section 'both sockets')" '0 0,1 rxe1:1,rxe2:1' 'a rank on both sockets gets both'
like "$(section explained)" \
    'UCX_NET_DEVICES=rxe2:1 \(fabric rails: .*of the socket that the task is bound to \(NUMA node 1\)' \
    'srun --muster-explain says why'
done_testing
