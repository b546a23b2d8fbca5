#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A preflight loads the GPUs of a job (stand-ins, tests/gpu), and no others: a step does not start
# on one that computes wrong. GPUs that others use, a fault that many nodes share, and an old library
# hold no step up. A step that does not have all GPUs of its job has none tested.
. "$(dirname "$0")/preflight.sh"
[ -x "${muster%/*}/muster-gpu" ] || skip_all "muster-gpu is not beside $muster"
command -v jq >/dev/null || skip_all 'no jq here'

preflight_lab_up --gpus
install -m 666 /dev/null "$work/records"
lines() { grep '^muster preflight: ' "$work/messages" | grep -v ' passed in '; }

lab fault gpu-wrong n2 5 >/dev/null
lab fault gpu-held n3 1 >/dev/null
run_step srun -N4 --gres=gpu:8 --preflight=quick "$work/program"
is "$status $stdout_text" '1 ' 'a GPU that computes wrong: the step does not start' || show
ok 'node and GPU are named' named n2 'gpu5: .*wrong elements' || show
like "$messages" 'preflight: n3: gpu1: .* not tested: 7629 MiB of its memory are in use' \
    '... and a GPU that others use, which is not tested'
is "$(lines | wc -l)" 2 'and nothing else' || show
like "$(suspect_reports n2)" '^n2: a preflight of job [0-9]+, .*: gpu.repeatable gpu5: ' 'n2 has a suspect report'

run_step salloc -Q -w 'n[1-2]' -N2 --gres=gpu:2 : -w n3 -N1 --gres=gpu:3 "$muster" preflight --json "$work/records"
is "$status $(lines)" '0 muster preflight: n3: gpu1: NVIDIA H100 80GB HBM3 not tested: 7629 MiB of its memory are in use' \
    'components with different numbers of GPUs pass' || show
is "$(jq -rs 'map(select(.metric == "products") | "\(.node) \(.part)") | sort | join(" ")' "$work/records")" \
    'n1 gpu0 n1 gpu1 n2 gpu0 n2 gpu1 n3 gpu0 n3 gpu2' '... after tests of their own GPUs only'

run_step srun -N1 -w n2 --gres=gpu:8 --preflight=quick "$work/program"
is "$status $stdout_text" '1 ' 'a step on one node does not start either' || show
run_step salloc -Q -w n2 -N1 --gres=gpu:8 srun --gres=none --preflight=quick "$work/program"
is "$status $stdout_text $messages" '0 0 ' 'a step without GPUs in a job that has some starts, without a message' || show
run_step salloc -Q -w n2 -N1 --gres=gpu:8 srun --gres=gpu:7 --preflight=quick "$work/program"
is "$status $stdout_text $messages" '0 0 ' '... and so does a step that has some of them' || show
run_step salloc -Q -w n2 -N1 --gres=gpu:8 srun --gpus-per-task=8 --preflight=quick "$work/program"
is "$status $stdout_text" '1 ' '... but not a step whose tasks have all' || show
run_step salloc -Q -w n2 -N1 --gres=gpu:8 "$muster" preflight --no-gpus
is "$status $(lines)" '0 ' '--no-gpus tests no GPUs' || show

lab fault gpu-wrong n1 5 >/dev/null
run_step srun -N2 -w 'n[1-2]' --gres=gpu:8 --preflight=quick "$work/program"
is "$status $stdout_text" '0 0 1' 'a fault that both nodes share is not theirs: the step starts' || show
like "$(lines)" '^muster preflight: n\[1-2\]: gpu5: .*wrong elements.*; not counted as a fault: too many nodes have it$' \
    '... after one message' || show
lab fault gpu-old-library n4 >/dev/null
run_step srun -N1 -w n4 --gres=gpu:8 --preflight=quick "$work/program"
is "$status $stdout_text" '0 0' 'a library that is too old holds nothing up' || show
like "$(lines)" '^muster preflight: n4: not tested: libcuda.so.1 is too old' '... and is named' || show
conf_add head PreflightGpus=no
run_step srun -Q -N1 -w n2 --gres=gpu:8 --preflight=quick "$work/program"
is "$status $stdout_text $messages" '0 0 ' 'PreflightGpus=no tests no GPUs' || show
ends_clean
done_testing
