#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step whose GPUs are not what Slurm allocated says so in one line for each node, and one where all
# agrees says nothing.
. "$(dirname "$0")/spank.sh"

spank_lab_up -n 2
# shellcheck disable=SC2154 # spank.sh's and testlab.sh's
conf_of_n1=$top/.lab/$name/n1/etc/muster/muster.conf

# Prints the plugin's messages to the user without task numbers: any of a node's tasks may be first.
told() { "$@" 2>&1 >/dev/null | sed -n 's/^muster: \(.*\) task [0-9]*: /\1: /p' | sort; }
run() { told lab run srun "$@" true; }

is "$(run -N2 --gres=gpu:2)" '' 'all agrees: no message'
is "$(run -N1 -n4 --gres=gpu:4 --gpu-bind=single:1)" '' '... with one GPU for each task'
is "$(run -N1 -n2 --gpus-per-task=1)" '' '... requested per task'
is "$(run -N1)" '' '... without GPUs'
is "$(told lab run env CUDA_VISIBLE_DEVICES=5 srun -N1 --gres=gpu:2 true)" '' \
    'no message about a list of the user that Slurm replaces'
is "$(told lab run env HIP_VISIBLE_DEVICES=1 srun -N1 --gres=gpu:2 true)" '' \
    '... or about one that leaves out a GPU'
is "$(told lab run env HIP_VISIBLE_DEVICES=5 srun -N2 -n4 --gres=gpu:2 true | sed 's/step [0-9]*/step J/')" \
    'n1: step J.0: 2 GPUs allocated (0,1), HIP_VISIBLE_DEVICES=5 names devices other than the 2 that can be opened; see spank_muster(8)
n2: step J.0: 2 GPUs allocated (0,1), HIP_VISIBLE_DEVICES=5 names devices other than the 2 that can be opened; see spank_muster(8)' \
    'a list that names other devices: one line for each node'
is "$(told lab run env HIP_VISIBLE_DEVICES=5 srun -N1 --gres=gpu:2 --muster=off true)" '' \
    '... and none with --muster=off'
is "$(told lab run env HIP_VISIBLE_DEVICES=5 srun -N1 true)" '' '... nor in a step without GPUs'

# shellcheck disable=SC2154 # testlab.sh's
# The batch script sets the list, and each of its two steps prints a line.
printf '#!/bin/sh\nexport HIP_VISIBLE_DEVICES=7\nsrun true\nsrun -n2 true\n' >"$work/job"
lab run sbatch -Q -W -w n1 --gres=gpu:3 -n2 -o "$work/out" "$work/job"
is "$(grep -c 'muster: n1: step [0-9]*\.[01] task [01]: 3 GPUs allocated (0,1,2), HIP_VISIBLE_DEVICES=7' "$work/out")" \
    2 'each step of a batch job'
is "$(grep -c muster: "$work/out")" 2 '... and not the script itself'
like "$(told lab run salloc -Q -w n1 --gres=gpu:2 env HIP_VISIBLE_DEVICES=7 srun true)" \
    '^n1: step [0-9]*\.0: 2 GPUs allocated' 'a step in salloc'

# A GPU that vanishes while slurmd runs
lab fault missing-gpu n1 3 >/dev/null
is "$(run -w n1 --gres=gpu:2)" '' 'no message about other GPUs than the missing one'
like "$(run -w n1 -n2 --gres=gpu:4)" \
    '^n1: step [0-9]*\.0: 4 GPUs allocated \(0,1,2,3\), the step can open 3 of the node.s 8, /dev/gpu3 is not there; see spank_muster\(8\)$' \
    'a message about the missing one'
like "$(run -w n1 -n4 --gres=gpu:4 --gpu-bind=single:1)" \
    '^n1: step [0-9]*\.0: 1 GPU allocated \(0\), the step can open 0 of the node.s 8, /dev/gpu3 is not there; see spank_muster\(8\)$' \
    '... by the task that has it'
conf_add n1 CheckSteps=no
is "$(run -w n1 --gres=gpu:4)" '' 'CheckSteps=no: no message'
sed -i '/CheckSteps/d' "$conf_of_n1"
conf_add n1 SetEnvironment=no
like "$(run -w n1 --gres=gpu:4)" '/dev/gpu3 is not there' '... SetEnvironment=no does not suppress it'
sed -i '/SetEnvironment/d' "$conf_of_n1"
lab heal >/dev/null
is "$(run -w n1 --gres=gpu:4)" '' 'healed'

# Modes of device files: a user who may not open one
lab on n1 chmod 600 /dev/gpu1
like "$(told as_user srun -w n1 --chdir=/ --gres=gpu:2 true)" \
    '/dev/gpu1 cannot be opened \(Permission denied\)' 'a device that only root may open'
is "$(run -w n1 --gres=gpu:2)" '' '... root may'
is "$(lab run sinfo -h -t drain,down -o '%N %T')" '' 'no node was drained'
done_testing
