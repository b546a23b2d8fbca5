#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What Slurm does when a hook of a required plugin fails differs from release to release, and
# decides what muster may return from which hook. Compares the table of operations.md with the Slurm
# of the lab: MUSTER_LAB_RELEASE=trixie or unstable for the others.
. "$(dirname "$0")/testlab.sh"

# runs     the job runs              fails  it does not run, the command fails    lost  it does not run, exit 0
# +drain   the node is drained       requeued  a batch job waits for its next start        held  it waits
# for a person. A hook that is not in the table was not tried.
table() {
    sed 's/ *#.*//' <<'END'
# command  context   hook                  value   22.05         24.11            26.05
srun       local     init                  -1      fails         fails            fails
srun       local     init_post_opt         -1      fails         fails            fails
srun       local     init_post_opt          1      runs          runs             fails
srun       local     local_user_init       -1      fails         fails            fails
srun       remote    init                  -1      lost          fails            fails
srun       remote    init_post_opt         -1      lost          fails            fails
srun       remote    user_init             -1      lost          fails            fails
srun       remote    task_init_privileged  -1      fails         fails            fails
srun       remote    task_init             -1      fails         fails            fails
srun       remote    task_init              1      runs          runs             fails
srun       remote    task_post_fork        -1      lost          fails            fails
srun       remote    task_exit             -1      runs          runs             runs
srun       remote    exit                  -1      runs          runs             runs
srun       script    job_prolog            -1      fails+drain   fails+drain      fails+drain
srun       script    job_prolog             1      runs          runs             fails+drain
srun       script    job_epilog            -1      runs+drain    runs+drain       runs+drain
sbatch     allocator init                  -1      fails         fails            fails
sbatch     allocator init_post_opt         -1      fails         fails            fails
sbatch     remote    init                  -1      lost+drain    requeued+drain   requeued+drain
sbatch     remote    init_post_opt         -1      lost+drain    requeued+drain   requeued+drain
sbatch     remote    user_init             -1      lost+drain    requeued+drain   requeued+drain
sbatch     remote    task_init             -1      fails         fails            fails
sbatch     script    job_prolog            -1      held+drain    held+drain       held+drain
END
}

case $release in
bookworm) version=22.05 column=5 ;;
trixie) version=24.11 column=6 ;;
*) version=26.05 column=7 ;;
esac
lab_up -n 1 --release "$release"
like "$(lab run srun --version)" " $version\." "this is Slurm $version"
chmod 755 "$work"
: >"$work/calls"
chmod 666 "$work/calls"
cp "$lab_dir/probe.c" "$work/"

probe() { # COMPILER-OPTION...: installs the probe on every host, and restarts slurmd, which loads it
    local host
    lab run gcc -shared -fPIC "$@" -o "$work/probe.so" "$work/probe.c" || bail 'no probe'
    for host in head n1; do
        echo "required $work/probe.so $work" >"$top/.lab/$name/$host/etc/slurm/plugstack.conf"
    done
    end_slurmd n1 TERM
    begin_slurmd n1
    within 60 is_idle
}
is_idle() { [ "$(sinfo_nodes -o %T | sort -u)" = idle ] && no_jobs; }

heal() {
    rm -f "$work/fail" "$work/ran"
    is_idle && return
    lab run scancel -u root 2>/dev/null
    within 60 no_jobs
    lab run scontrol update nodename=n1 state=resume 2>/dev/null
    within 60 is_idle
}

is_settled() { # JOB: whether it has ended, or waits for something that does not happen soon
    case $(lab run squeue -h -j "$1" -o '%T %r' 2>/dev/null) in
    '' | 'PENDING BeginTime' | 'PENDING launch failed requeued held') ;;
    *) false ;;
    esac
}

batch() { # runs a batch job, and sets $outcome to its outcome
    local job
    printf '#!/bin/sh\ntouch %s/ran\n' "$work" >"$work/job"
    outcome=fails
    job=$(lab run sbatch --parsable -o /dev/null "$work/job" 2>"$work/err") || return
    within 60 is_settled "$job"
    case $(lab run squeue -h -j "$job" -o %r) in
    BeginTime) outcome=requeued ;;
    launch*) outcome=held ;;
    *) lab run scontrol show job "$job" | grep -q ExitCode=0:0 && outcome=lost ;;
    esac
}

try() { # COMMAND CONTEXT HOOK VALUE EXPECTED: sets $outcome; srun may end before the node is drained
    echo "$2 $3 $4" >"$work/fail"
    outcome=fails
    if [ "$1" = sbatch ]; then
        batch
    else
        lab run timeout 100 srun -Q -n1 touch "$work/ran" 2>"$work/err" && outcome=lost
    fi
    [ ! -e "$work/ran" ] || outcome=runs
    [[ $5 != *+drain ]] || within 60 is_drained
    ! is_drained || outcome+=+drain
    heal
}
is_drained() { [[ $(lab run sinfo -h -o %T) == drain* ]]; }

probe
: >"$work/calls"
lab run srun -n1 true
within 60 grep -q job_epilog "$work/calls"
awk '{ print $2, $4 }' "$work/calls" >"$work/hooks"
# task_post_fork runs in parallel to the task's own hooks, srun's exit in parallel to the epilog
is "$(grep -vx -e '.* task_post_fork' -e 'local exit' "$work/hooks" | paste -sd, | sed 's/,/, /g')" \
    'local init, local init_post_opt, script job_prolog, local local_user_init, remote init, remote init_post_opt, remote user_init, remote task_init_privileged, remote task_init, remote task_exit, remote exit, script job_epilog' \
    'the hooks of srun and their order'
is "$(tail -n2 "$work/hooks" | grep -cx 'local exit')" 1 '... its exit after those of the step'

while read -r command context hook value rest; do
    [ -n "$command" ] || continue
    # shellcheck disable=SC2086 # columns
    set -- $command $context $hook $value $rest
    try "${@:1:4}" "${!column}" </dev/null
    is "$outcome" "${!column}" "$command: $context $hook returns $value" || sed 's/^/# /' "$work/err"
done < <(table)

if [ "$release" = unstable ]; then
    probe -DFAILURE_MODE
    try sbatch remote init -1 fails
    is "$outcome" fails 'slurm_spank_init_failure_mode: init in a batch step fails the job, not the node'
    try sbatch remote init_post_opt -1 requeued+drain
    is "$outcome" requeued+drain '... but it holds for init alone'
fi
done_testing
