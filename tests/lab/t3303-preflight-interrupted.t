#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C during a preflight ends srun and leaves no step, also inside an allocation, whose next step
# has all its resources; a killed srun leaves none either; a frozen node is named and left out, and
# the step on it gives back its resources.
. "$(dirname "$0")/preflight.sh"

preflight_lab_up
mkdir "$work/bin"
cp "$muster" "$work/bin/muster"
printf '#!/bin/sh\nexec sleep 100\n' >"$work/bin/muster-preflight" # one that does not end
chmod 755 "$work/bin" "$work/bin/"*
plugstack head "required $plugin config=/etc/muster/muster.conf program=$work/bin/muster"

running() { steps_left | grep -q preflight; }
gone() { ! running; }

# a terminal's Ctrl-C goes to the whole foreground group
as_user setsid --wait sh -c "echo \$\$ >/dev/shm/group; exec srun -N2 --preflight=quick $work/program" \
    >"$work/out" 2>"$work/messages" &
waiting=$!
ok 'the preflight is under way' within 60 running
lab run sh -c 'kill -INT -"$(cat /dev/shm/group)"'
wait $waiting
isnt $? 0 'Ctrl-C ends srun, which fails' || show
is "$(cat "$work/out")" '' '... and no task has started'
ok 'no step is left' within 60 gone
ok 'no job is left' within 60 no_jobs

# the step of a job that goes on gives back its resources
printf '%s\n' '#!/bin/bash' 'trap : INT' 'echo $$ >/dev/shm/group' \
    "srun -Q --exact --gres=gpu:8 -c16 --preflight=quick $work/program && echo started" \
    "timeout 60 srun -Q --exact --gres=gpu:8 -c16 --preflight=off $work/program" >"$work/script"
chmod 755 "$work/script"
as_user setsid --wait salloc -Q -N2 -c16 --gres=gpu:8 setsid --wait "$work/script" >"$work/out" 2>"$work/messages" &
waiting=$!
ok 'a preflight inside an allocation is under way' within 60 running
lab run sh -c 'kill -INT -"$(cat /dev/shm/group)"'
wait $waiting
is "$(sort "$work/out" | xargs)" '0 1' 'Ctrl-C ends its step; the next one has all GPUs and CPUs' || show
ok 'no step and no job is left' within 60 no_jobs

as_user sh -c "srun -N2 --preflight=quick $work/program & echo \$! >/dev/shm/pid; wait \$!" \
    >"$work/out" 2>"$work/messages" &
waiting=$!
ok 'another one is under way' within 60 running
lab run sh -c 'kill -KILL "$(cat /dev/shm/pid)"'
wait $waiting
ok 'srun killed: the preflight ends, no step is left' within 60 gone
ok 'and no process of it' within 60 no_process head -f 'muster preflight'
lab run scancel -u nobody

# a frozen node does not answer: another one takes the suspect report
plugstack head "required $plugin config=/etc/muster/muster.conf program=$muster"
within 60 no_jobs
printf '%s\n' '#!/bin/bash' 'echo here >/dev/shm/here' 'until [ -e /dev/shm/go ]; do sleep 0.1; done' \
    "srun -Q --gres=gpu:8 --preflight=quick $work/program && echo started" \
    "$muster preflight --keep 3 --budget 120; echo kept:\$?" \
    "timeout 60 srun -Q -w n1,n2,n4 -N3 --gres=gpu:8 --preflight=off $work/program" >"$work/script"
chmod 755 "$work/script"
{ run_step salloc -Q -N4 --gres=gpu:8 "$work/script" && echo "$stdout_text" >"$work/stdout"; } &
waiting=$!
ok 'an allocation' within 60 lab run test -e /dev/shm/here
lab fault frozen n3 >/dev/null
lab run touch /dev/shm/go
wait $waiting
messages=$(cat "$work/messages")
ok 'the frozen node is named' named n3 frozen || show
like "$(cat "$work/stdout")" '^0 1 2 kept:0 ' 'no task starts with it; the next step has the GPUs of the others' || show
lab heal >/dev/null
like "$(for node in n1 n2 n4; do suspect_reports $node; done)" '^n3: a preflight .* workers.enumerate node: ' \
    'another node has the suspect report about it'
done_testing
