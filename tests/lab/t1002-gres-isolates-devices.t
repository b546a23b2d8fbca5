#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A step opens exactly the GPUs it was given, and no others.
. "$(dirname "$0")/testlab.sh"

lab_up -n 2
cat >"$work/opens" <<'END'
#!/bin/bash
opened=
for device in /dev/gpu?; do
    if (exec 3<>"$device") 2>/dev/null; then opened+=${device#/dev/gpu}; fi
done
echo "visible=$CUDA_VISIBLE_DEVICES opened=$opened"
END
chmod +x "$work/opens"

is "$(lab on n1 "$work/opens")" 'visible= opened=01234567' 'outside Slurm all eight open'
is "$(lab run srun -N1 --gres=gpu:2 "$work/opens")" 'visible=0,1 opened=01' 'two of eight'
is "$(lab run srun -N1 --gres=gpu:8 "$work/opens")" \
    'visible=0,1,2,3,4,5,6,7 opened=01234567' 'eight of eight'
is "$(lab run srun -N1 "$work/opens")" 'visible= opened=' 'no GPU was requested'
is "$(lab run srun -N2 --gres=gpu:3 "$work/opens" | sort | uniq -c | xargs)" \
    '2 visible=0,1,2 opened=012' 'three on each of two nodes'

lab run srun -w n1 --gres=gpu:3 sh -c "echo >$work/held; while [ ! -e $work/go ]; do sleep 0.05; done" &
within 60 test -e "$work/held"
like "$(lab run srun -w n1 --gres=gpu:2 "$work/opens")" 'opened=34$' \
    'a second job opens others than the first'
touch "$work/go"
wait $!
is $? 0 'the first job ends well'
not_ok 'nine of eight are refused' lab run srun -N1 --gres=gpu:9 --immediate=2 true
done_testing
