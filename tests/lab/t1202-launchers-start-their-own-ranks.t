#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All ranks of a node inherit the variables of their launcher: mpirun's daemons and torchrun get
# those of the node, and no rank.
. "$(dirname "$0")/spank.sh"

command -v mpirun >/dev/null || skip_all 'no mpirun here'
spank_lab_up -n 2

# shellcheck disable=SC2016
show='echo "$(hostname): ${UCX_NET_DEVICES-none} ${GLOO_SOCKET_IFNAME-none} ${RANK-none} ${WORLD_SIZE-none} ${MASTER_ADDR-none} ${GROUP_RANK-none}"'

cat >"$work/job" <<END
#!/bin/bash
mpirun --allow-run-as-root -n 4 --map-by node sh -c '$show'
END
lab run sbatch -Q -W -N2 -n4 --ntasks-per-node=2 -o "$work/out" "$work/job"
is "$(grep '^n2' "$work/out" | sort -u)" 'n2: eth1,eth2 eth1 none none none none' \
    "ranks of mpirun's daemon have the node's rails and no rank of Slurm's"
is "$(grep -c '^n[12]' "$work/out")" 4 'all four ranks ran'

mkdir -p "$work/bin"
printf '#!/bin/sh\n%s\n' "$show" >"$work/bin/torchrun"
chmod +x "$work/bin/torchrun"
is "$(lab run srun -N2 "$work/bin/torchrun" | sort)" 'n1: eth1,eth2 eth1 none none n1 0
n2: eth1,eth2 eth1 none none n1 1' 'one torchrun per node also gets MASTER_ADDR and GROUP_RANK'
is "$(lab run srun -w n1 -n2 "$work/bin/torchrun" | sort)" 'n1: eth1,eth2 eth1 0 2 n1 0
n1: eth1,eth2 eth1 1 2 n1 0' 'two per node get ranks as all tasks do'
is "$(lab run srun -w n1 sh "$work/bin/torchrun" | sort)" 'n1: eth1,eth2 eth1 none none n1 0' \
    'an interpreter in front does not hide it'
is "$(lab run srun -w n1 -n1 --mpi=none mpirun --allow-run-as-root --oversubscribe -n 2 sh -c "$show" | sort -u)" \
    'n1: eth1,eth2 eth1 none none none none' 'mpirun as the task of a step: its ranks have none of Slurm'"'s"

done_testing
