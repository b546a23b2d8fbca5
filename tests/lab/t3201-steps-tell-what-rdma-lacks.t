#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On nodes with an RDMA fabric a step of several nodes says when it may not lock memory or open a
# rail's verbs device; on others it says nothing.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 2
told() { "$@" 2>&1 >/dev/null | sed -n 's/^muster: \(.*\) step [0-9.]* task [0-9]*: /\1 /p' | sort; }
# runs a step with a limit of 64 KB of locked memory
lowly() { told lab run sh -c 'ulimit -l 64; exec srun --propagate=MEMLOCK "$@"' - "$@" true; }

is "$(lowly -N2)" '' 'Ethernet locks no memory'

# The nodes of a recorded machine, which has no eth1
# shellcheck disable=SC2154 # testlab.sh's and spank.sh's
"$top/tests/fixtures/unpack" "$top/tests/fixtures/h100-ib.tree" "$work/h100"
# shellcheck disable=SC2154 # testlab.sh's and spank.sh's
for node in n1 n2; do
    : >"$top/.lab/$name/$node/etc/muster/muster.conf"
    plugstack $node "required $plugin config=/etc/muster/muster.conf root=$work/h100"
done
like "$(lowly -N2 -n4 | paste -sd '|')" \
    '^n1: 0\.06554 MB of locked memory, InfiniBand needs unlimited \(MemlockMB\): [^|]*\|n2: 0\.06554 MB [^|]*$' \
    'InfiniBand does: one line for each node says that the limit is low'
is "$(lowly -N1 -n2)" '' '... but not within a node'
for node in n1 n2; do conf_add $node MemlockMB=1; done
is "$(told lab run srun -N2 true)" '' 'the limit of the nodes is enough'
like "$(lowly -N2)" 'InfiniBand needs 1 MB' '... the propagated limit is not'

# Its devices: each is a file that opens, except one
mkdir -p "$work/h100/dev/infiniband"
for i in 0 1 2 3 4 5 6 7; do
    mkdir -p "$work/h100/sys/class/infiniband_verbs/uverbs$i"
    echo "mlx5_$i" >"$work/h100/sys/class/infiniband_verbs/uverbs$i/ibdev"
    [ $i = 5 ] || mknod -m 666 "$work/h100/dev/infiniband/uverbs$i" c 1 3
done
like "$(told lab run srun -N2 -n4 true | paste -sd '|')" \
    '^n1: rail mlx5_5:1: /dev/infiniband/uverbs5 is not there; [^|]*\|n2: rail [^|]*$' \
    'a rail without its verbs device'
mknod -m 666 "$work/h100/dev/infiniband/uverbs5" c 1 3
is "$(told lab run srun -N2 true)" '' 'all devices exist: no message'

# /dev/shm
conf_add n1 ShmMB=900000000
like "$(told lab run srun -w n1 -n2 true | paste -sd '|')" \
    '^n1: /dev/shm has [0-9]+ MB, ShmMB asks for 900000000; [^|]*$' \
    'too little shared memory'
done_testing
