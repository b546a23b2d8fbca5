#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A preflight of healthy nodes, by an ordinary user: the step starts after it, on the tested nodes. An
# unknown result does not hold the step up. A preflight starts no other, and leaves nothing.
. "$(dirname "$0")/preflight.sh"

preflight_lab_up

run_step srun -N4 --preflight=quick "$work/program"
is "$status $stdout_text" '0 0 1 2 3' 'healthy nodes: the step runs' || show
is "$(grep -c 'n\[1-4\] passed in' <<<"$messages")" 1 'after one preflight, which starts no other' || show
run_step srun -N4 "$work/program"
is "$status $stdout_text" '0 0 1 2 3' 'without the option the step runs'
unlike "$messages" preflight 'without a preflight'
run_step env MUSTER_PREFLIGHT=quick srun -N2 --preflight=off "$work/program"
is "$status $stdout_text" '0 0 1' '--preflight=off takes precedence over MUSTER_PREFLIGHT'
unlike "$messages" preflight '... without a preflight'

# the step's own nodes, while another step holds all CPUs and GPUs
cat >"$work/script" <<END
#!/bin/bash
srun -Q -N2 -w n2,n3 -n 32 --gres=gpu:8 --preflight=quick $work/program
END
chmod 755 "$work/script"
run_step salloc -Q -N4 -n 64 --gres=gpu:8 "$work/script"
is "$status $(wc -w <<<"$stdout_text")" '0 32' 'a step that takes all of two nodes of four' || show
like "$messages" 'preflight: n\[2-3\] passed' 'exactly its nodes were tested'

as_user sbatch -Q -W -w 'n[1-2]' -N2 --preflight=quick -D "$work" -o /dev/null --wrap \
    "srun $work/program >/dev/shm/said 2>&1; srun --preflight=off true 2>>/dev/shm/said"
like "$(lab on n1 cat /dev/shm/said)" 'preflight: n\[1-2\] passed' 'sbatch --preflight holds for the sruns inside'
is "$(lab on n1 grep -c preflight /dev/shm/said)" 1 '... except those with an option of their own'

# results that are unknown
plugstack head "required $plugin config=/etc/muster/muster.conf program=/no/muster"
run_step srun -N2 --preflight=quick "$work/program"
is "$status $stdout_text" '0 0 1' 'no muster command: the step runs'
like "$messages" '^srun: error: muster: no preflight: cannot run /no/muster; the step starts$' '... after one message'
plugstack head "required $plugin config=/etc/muster/muster.conf program=$muster"
mkdir "$work/bin"
cp "$muster" "$work/bin/muster" # without the battery beside it
plugstack head "required $plugin config=/etc/muster/muster.conf program=$work/bin/muster"
if [ ! -x /usr/local/bin/muster-preflight ] && [ ! -x /usr/bin/muster-preflight ]; then
    printf '#!/bin/sh\nexec sleep 100\n' >"$work/bin/muster-preflight"
    chmod 755 "$work/bin/muster-preflight"
    sed -i 's/^PreflightBudget=.*/PreflightBudget=6/' "$top/.lab/$name/head/etc/muster/muster.conf"
    run_step srun -N2 --preflight=quick "$work/program"
    is "$status $stdout_text" '0 0 1' 'the budget is over: the step runs' || show
    like "$messages" 'cannot tell: the tests did not end within [0-9]+ s \(budget 6 s\); the step starts' '... after one message'
fi
plugstack head "required $plugin config=/etc/muster/muster.conf program=$muster"
sed -i 's/^MpiDefault=.*/MpiDefault=none/' "$top/.lab/$name/head/etc/slurm/slurm.conf"
run_step srun -N2 --preflight=quick "$work/program"
is "$status $stdout_text" '0 0 1' 'srun starts no MPI: the step runs' || show
like "$messages" 'cannot tell: MPI did not start \(check .*MpiDefault .*; the step starts$' '... after one message' || show
ends_clean
done_testing
