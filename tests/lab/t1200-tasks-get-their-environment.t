#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each task of a step has the variables of its node, its step and its rank, under srun, sbatch and
# salloc, and nested steps have their own; steps that are not the user's tasks have none.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 4

# shellcheck disable=SC2016 # the task's variables
ranks='echo "$SLURM_PROCID: $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR"'
# shellcheck disable=SC2016
net='echo "$SLURMD_NODENAME: $UCX_NET_DEVICES $NCCL_SOCKET_IFNAME $OMPI_MCA_btl_tcp_if_include $GLOO_SOCKET_IFNAME $TP_SOCKET_IFNAME"'

muster_variables() { grep -E "^($muster_names)=" | cut -d= -f1 | sort -u | xargs; }

# srun
is "$(lab run srun -w 'n[1-2]' --ntasks-per-node=2 sh -c "$ranks" | sort)" \
    '0: 0 0 4 2 0 n1
1: 1 1 4 2 0 n1
2: 2 0 4 2 1 n1
3: 3 1 4 2 1 n1' 'ranks under srun'
is "$(lab run srun -w 'n[1-2]' sh -c "$net" | sort)" \
    'n1: eth1,eth2 =eth1,eth2 eth1,eth2 eth1 eth1
n2: eth1,eth2 =eth1,eth2 eth1,eth2 eth1 eth1' 'both rails, never the management interface eth0'
is "$(lab run srun -N1 env | muster_variables)" \
    'FI_SOCKETS_IFACE FI_TCP_IFACE GLOO_SOCKET_IFNAME GROUP_RANK LOCAL_RANK LOCAL_WORLD_SIZE MASTER_ADDR MASTER_PORT MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE MUSTER_FABRIC MUSTER_SET NCCL_SOCKET_IFNAME OMPI_MCA_btl_tcp_if_include RANK TP_SOCKET_IFNAME UCX_NET_DEVICES WORLD_SIZE' \
    'no variable for hardware that is not there'
# shellcheck disable=SC2016
port='echo $MASTER_PORT'
is "$(lab run srun -N4 sh -c "$port" | sort -u | wc -l)" 1 'all nodes agree on MASTER_PORT'
isnt "$(lab run srun -N1 sh -c "$port")" "$(lab run srun -N1 sh -c "$port")" '... two jobs do not'
like "$(lab run srun -N1 sh -c "$port")" '^29[5-9][0-9][0-9]$' '... inside MasterPorts'

# the user's own
# shellcheck disable=SC2016
is "$(lab run env UCX_NET_DEVICES=lo GLOO_SOCKET_IFNAME= RANK=9 srun -N1 sh -c \
    'echo "$UCX_NET_DEVICES,$GLOO_SOCKET_IFNAME,$RANK,$WORLD_SIZE"')" 'lo,,9,1' \
    'what the user set is kept, an empty value too'
is "$(lab run env OMPI_MCA_btl_tcp_if_exclude=lo srun -N1 env | grep -c btl_tcp_if_include)" 0 \
    'no include list of interfaces if the user sets an exclude list'

# sbatch: the batch script has no variables of muster, its steps have
cat >"$work/job" <<END
#!/bin/bash
env >$work/batch.env
srun sh -c '$ranks' >$work/steps
srun --overlap -n2 -N2 sh -c '$ranks' >>$work/steps
END
lab run sbatch -Q -W -w 'n[1-2]' -n4 --ntasks-per-node=2 -o /dev/null "$work/job"
is "$(muster_variables <"$work/batch.env")" '' 'a batch script is left alone'
is "$(sort "$work/steps")" '0: 0 0 2 1 0 n1
0: 0 0 4 2 0 n1
1: 1 0 2 1 1 n1
1: 1 1 4 2 0 n1
2: 2 0 4 2 1 n1
3: 3 1 4 2 1 n1' 'its steps have their ranks'

lab run srun -w n1 -n1 sbatch -Q -W -w n2 -o /dev/null "$work/job"
is "$(muster_variables <"$work/batch.env")" '' '... also one that is submitted from inside a step'
is "$(lab run srun -w n1 -n1 bash <<<'env' | grep -oE '^(RANK|LOCAL_RANK|MASTER_ADDR|UCX_NET_DEVICES)=' | xargs)" \
    'UCX_NET_DEVICES=' 'a shell that is the only task has only the variables of its node'

# salloc
lab run salloc -Q -w 'n[1-2]' -n2 sh -c "env >$work/salloc.env; srun sh -c '$ranks'" >"$work/steps"
is "$(muster_variables <"$work/salloc.env")" '' 'the shell of salloc is left alone'
is "$(sort "$work/steps")" '0: 0 0 2 1 0 n1
1: 1 0 2 1 1 n1' 'its steps have their ranks'
is "$(lab run salloc -Q -w 'n[1-3]' -n3 srun -N1 -n1 -r 2 sh -c "$ranks")" '0: 0 0 1 1 0 n3' \
    'a step on one node of three has its MASTER_ADDR there'

# a step within a step
nested() { # SRUN-OPTION...: from the second task of an outer step
    # shellcheck disable=SC2016
    lab run srun -w n1 -n2 sh -c "[ \$SLURM_PROCID = 0 ] || srun --overlap -n2 $* sh -c '$ranks'" | sort
}
is "$(nested)" '0: 0 0 2 2 0 n1
1: 1 1 2 2 0 n1' 'a nested step has ranks of its own, not the outer task'"'"'s'
is "$(nested --muster=off)" '0:      
1:      ' '... and with --muster=off none at all'
# shellcheck disable=SC2016
is "$(lab run srun -w n1 -n2 sh -c "[ \$SLURM_PROCID = 0 ] || WORLD_SIZE=77 srun --overlap -n1 sh -c '$ranks'")" \
    '0: 0 0 77 1 0 n1' '... but keeps what the user set in between'

# where rank 0 is; without PMIx: its plugin of Slurm 22.05 can hang an srun of several components at its end
is "$(lab run srun -w n3,n2 sh -c "$ranks" | sort | head -1)" '0: 0 0 2 1 0 n2' \
    'rank 0 is on the first node of the step'
is "$(lab run srun --mpi=none -w n2 -n2 sh -c "$ranks" : --mpi=none -w n1 -n1 sh -c "$ranks" 2>/dev/null | sort)" \
    '0: 0 0 3 2 0 n2
1: 1 1 3 2 0 n2
2: 2 0 3 1 1 n2' 'in a heterogeneous step rank 0 is in the first component'
is "$(lab run salloc -Q -w n3 -n1 : -w n2 -n1 : -w n1 -n1 \
    srun --mpi=none --het-group=1,2 sh -c "$ranks" 2>/dev/null | sort)" \
    '0: 0 0 2 1 0 n2
1: 1 0 2 1 1 n2' '... of those that take part'
printf 'n3\nn1\nn3\n' >"$work/hosts"
# inside an allocation: Slurm 24.11 never starts a job that itself requests this distribution
arbitrary=(salloc -Q -w 'n[1,3]' -n3 env SLURM_HOSTFILE="$work/hosts" srun -n3 -m arbitrary)
is "$(lab run "${arbitrary[@]}" sh -c "$ranks" | sort)" \
    '0: 0 0 3 2 1 
1: 1 0 3 1 0 
2: 2 1 3 2 1 ' 'an arbitrary distribution does not show the host of rank 0, and MASTER_ADDR is not guessed'
like "$(lab run "${arbitrary[@]}" --muster-explain true 2>&1)" \
    'MASTER_ADDR left alone \(host of rank 0: the distribution is arbitrary' '... and says why'

# a rail that is down
lab fault rail-down n2 eth1
is "$(lab run srun -w 'n[1-2]' sh -c "$net" | sort)" \
    'n1: eth1,eth2 =eth1,eth2 eth1,eth2 eth1 eth1
n2: eth2 =eth2 eth2 eth2 eth2' 'a rail that is down is left out on its node only'
like "$(lab run srun -w n2 --muster-explain true 2>&1)" \
    'muster: n2: UCX_NET_DEVICES=eth2 \(fabric rails: eth2 up, eth1 down, Ethernet; management is eth0\)' \
    '... and --muster-explain says so'

done_testing
