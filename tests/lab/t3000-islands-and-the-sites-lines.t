#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step gets the fabric that its nodes share and the variables of the site, in every way that a
# step can start; a recorded machine shows what a task with a GPU gets.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 3
partition=$(lab run sinfo -h -o %R | head -n 1)
for node in n1 n2 n3; do
    conf_add $node 'Island=a nodes=n[1-2] fabric=Ethernet' 'Island=b nodes=n3 fabric=RoCEv2' \
        "Variable=NCCL_IB_TC set 106 partition=$partition fabric=Ethernet" \
        'Variable=NCCL_IB_SL set 3 partition=elsewhere' 'Variable=UCX_TLS forbid' \
        'Variable=GREETING extend site separator=:' 'Variable=FORCED set 1 nodes=n[1-2] force'
done

# shellcheck disable=SC2016 # the task's variables
islands='echo "$SLURMD_NODENAME: $MUSTER_FABRIC $UCX_NET_DEVICES $MUSTER_ISLAND=$MUSTER_ISLAND_FABRIC $MUSTER_ISLANDS"'
is "$(lab run srun -w 'n[1-2]' sh -c "$islands" | sort)" \
    'n1: Ethernet eth1,eth2 a=Ethernet a=Ethernet:n[1-2]
n2: Ethernet eth1,eth2 a=Ethernet a=Ethernet:n[1-2]' 'a step on one island has its fabric'
is "$(lab run srun -N3 sh -c "$islands" | sort)" \
    'n1: Ethernet eth0 a=Ethernet a=Ethernet:n[1-2];b=RoCEv2:n3
n2: Ethernet eth0 a=Ethernet a=Ethernet:n[1-2];b=RoCEv2:n3
n3: Ethernet eth0 b=RoCEv2 a=Ethernet:n[1-2];b=RoCEv2:n3' \
    'a step across islands uses the management interface'
is "$(lab run salloc -Q -N3 srun -N1 -n1 sh -c "$islands")" \
    'n1: Ethernet eth1,eth2 a=Ethernet a=Ethernet:n1' 'for a step inside a larger job only its own nodes count'
is "$(lab run srun --mpi=none -w n1 -n1 sh -c "$islands" : --mpi=none -w n3 -n1 sh -c "$islands" 2>/dev/null | sort)" \
    'n1: Ethernet eth0 a=Ethernet a=Ethernet:n1;b=RoCEv2:n3
n3: Ethernet eth0 b=RoCEv2 a=Ethernet:n1;b=RoCEv2:n3' \
    'for a heterogeneous step the nodes of all its components count'
printf 'n3\nn1\n' >"$work/hosts"
is "$(lab run env SLURM_HOSTFILE="$work/hosts" srun -N2 -n2 -m arbitrary sh -c "$islands" | sort)" \
    'n1: Ethernet eth0 a=Ethernet a=Ethernet:n1;b=RoCEv2:n3
n3: Ethernet eth0 b=RoCEv2 a=Ethernet:n1;b=RoCEv2:n3' 'an arbitrary distribution makes no difference'
like "$(lab run srun -N3 --muster-explain true 2>&1)" \
    'n1: UCX_NET_DEVICES=eth0 \(fabric rails: eth0 up, Ethernet; management is eth0; the step.s 3 nodes are in 2 islands, connected by TCP only\)' \
    '... and --muster-explain says why'

# the site's lines
# shellcheck disable=SC2016
site='echo "${NCCL_IB_TC-none} ${NCCL_IB_SL-none} ${UCX_TLS-none} $GREETING ${FORCED-none}"'
is "$(lab run srun -w n1 sh -c "$site")" '106 none none site 1' 'the site sets variables'
is "$(lab run env NCCL_IB_TC=5 UCX_TLS=tcp GREETING=hello FORCED=0 srun -w n1 sh -c "$site")" \
    '5 none none hello:site 1' 'the user takes precedence, except where the site forces or forbids'
is "$(lab run srun -w n3 sh -c "$site")" '106 none none site none' 'a line for some nodes holds on these only'
is "$(lab run srun -w n1 --export=NONE /bin/sh -c "$site")" '106 none none site 1' \
    'with --export=NONE as well'
is "$(lab run srun -w n1 --muster=off sh -c "$site")" 'none none none  none' \
    'but not with --muster=off'
cat >"$work/job" <<END
#!/bin/bash
export GREETING=hello
srun -n1 sh -c 'srun --overlap -n1 sh -c "\$1"' sh '$site'
END
lab run sbatch -Q -W -n1 -w n1 -o "$work/out" "$work/job"
is "$(cat "$work/out")" '106 none none hello:site 1' 'a step within a step extends a variable once'
got=$(lab run env UCX_TLS=tcp srun -w n1 --muster-explain true 2>&1)
like "$got" 'n1: NCCL_IB_TC=106 \(policy muster\.conf:[0-9]+: the site sets it\)' \
    'each variable is explained with its line'
like "$got" 'n1: NCCL_IB_SL left alone \(policy muster\.conf:[0-9]+: not for this task: partition is ' \
    '... or with the reason why it is not for this task'
like "$got" 'n1: UCX_TLS removed \(policy muster\.conf:[0-9]+: the site forbids it; the user set "tcp"\)' \
    '... or with the value of the user'

# a recorded machine
mkdir "$work/dgx"
"$top/tests/fixtures/unpack" "$top/tests/fixtures/dgx-h100.tree" "$work/dgx"
chmod 755 "$work" "$work/dgx"
touch "$work/empty"
plugstack n1 "required $plugin root=$work/dgx config=$work/empty"
# shellcheck disable=SC2016
is "$(lab run srun -w n1 --gres=gpu:1 sh -c 'echo "$UCX_NET_DEVICES $MUSTER_FABRIC"')" \
    'mlx5_0:1 InfiniBand' 'a task with the first GPU of a DGX H100 gets the port beside it'
like "$(lab run srun -w n1 --gres=gpu:1 --muster-explain true 2>&1)" \
    'UCX_NET_DEVICES=mlx5_0:1 \(.*; nearest to GPU 0000:1b:00\.0 \(PXB\); CUDA_VISIBLE_DEVICES=0' \
    '... and --muster-explain says why'

done_testing
