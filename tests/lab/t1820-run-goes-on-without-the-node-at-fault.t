#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster run: when a node of a training job fails, a spare replaces it, and the result is bit for bit that of
# an undisturbed run. Without a spare the job is queued again and excludes the node. A program that fails on
# good nodes is started once more and ends with its own status. A signal ends the run without a restart.
. "$(dirname "$0")/testlab.sh"

[ -x "$prefix/bin/muster-train" ] || skip_all 'the trainer is not built'
lab_up -n 4
chmod 777 "$work" # the job is an ordinary user's
told() { grep -qE "$2" "$work/$1"; } # FILE PATTERN
script() { # NAME LINE...: a job script, whose output is $work/NAME
    printf '%s\n' '#!/bin/bash' "cd $work" "${@:2}" 'echo "status $?"' >"$work/$1.sh"
}
submit() { as_muster sbatch --parsable --ntasks-per-node=1 -o "$work/$1" "${@:2}" "$work/$1.sh"; }

# --- a spare
small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=4 --steps=400
    --checkpoint-every=20 --threads=1)
script spare "muster run --spares=1 -p off --json=spare.json -- srun -K muster-train ${small[*]} --checkpoint=run"
submit spare -N4 --no-kill >/dev/null
ok 'a job of three nodes and a spare runs' within 200 told spare '^step 40 '
lab fault powered-off n3 >/dev/null
as_muster srun -N3 -w n[1-2,4] muster-train "${small[@]}" --checkpoint="$work/whole" >"$work/whole.out" 2>&1 &
# the old step exists until SlurmdTimeout; the next one does not wait for its end
ok 'a node loses its power: the job succeeds' within 200 told spare '^status 0$' || sed 's/^/# /' "$work/spare"
like "$(cat "$work/spare")" 'muster run: starts srun on n\[1-3\]' 'the spare was not used before'
like "$(cat "$work/spare")" 'muster run: restart 1 of 3 without n3' 'the node is named'
like "$(cat "$work/spare")" 'muster run: starts srun on n\[1-2,4\]' '... and a spare replaces it'
like "$(cat "$work/spare")" 'resuming from step [0-9]*0 of ' '... from the checkpoint'
is "$(grep -o '"action":"[a-z]*"' "$work/spare.json" | cut -d'"' -f4 | xargs)" 'examine replace end' \
    'the JSON file has the decisions'
wait $!
lab heal >/dev/null
ok 'the result is bit for bit that of an undisturbed run' \
    diff -r "$work/run/step-000000400" "$work/whole/step-000000400"

# --- a hang, of a program that writes its own checkpoints and has no watchdog
cat >"$work/steps.c" <<'END'
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    static double sums[100000];
    int rank, step = 0;
    FILE *file = fopen("steps.txt", "r");

    if (file && fscanf(file, "%d", &step) != 1)
        step = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        printf("from %d\n", step);
    for (; step < atoi(argv[1]); step++) {
        MPI_Allreduce(MPI_IN_PLACE, sums, 100000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0 && (file = fopen("steps.txt", "w")) != NULL)
            fprintf(file, "%d\n", step) < 0 || fclose(file);
    }
    MPI_Finalize();
    return 0;
}
END
mpicc -O1 -o "$work/steps" "$work/steps.c"
script hung 'muster run --spares=1 --hang=10 -p off --json=hung.json -- srun ./steps 150'
submit hung -N4 --no-kill >/dev/null
has_steps() { [ "$(cat "$work/steps.txt" 2>/dev/null || echo 0)" -gt 50 ]; }
ok 'a job that is watched for a hang runs' within 200 has_steps
lab on n2 pkill -STOP -x steps
ok 'a rank is stopped: the job succeeds' within 200 told hung '^status 0$' || sed 's/^/# /' "$work/hung"
like "$(cat "$work/hung")" '^muster run: n2: (the job hangs|rank [0-9]+ \(pid [0-9]+\) is stopped)' \
    'the node of the stopped rank is named'
like "$(cat "$work/hung")" 'muster run: starts srun on n\[1,3-4\]' '... and a spare replaces it'
like "$(cat "$work/hung")" 'from [1-9]' '... which continues from the checkpoint'
is "$(grep -o '"reason":"[a-z-]*"' "$work/hung.json" | cut -d'"' -f4 | xargs)" 'failed hung done' \
    'the JSON file has the decisions'
like "$(lab on n2 muster suspects)" 'n2' '... and the administrator has a report'
ok 'nothing of it is left' within 60 no_process n2 -x steps

# --- no spare, for the task of a job array whose job ID is that of the array
script again "echo life \$SLURM_RESTART_COUNT." 'muster run -p off -- srun -K sh -c "[ -e go ] || sleep 987"'
id=$(submit again -N2 --exclusive --array=1-2 -o "$work/again.%a" --no-kill --open-mode=append)
running() { lab run squeue -h -j "$id" -t R -o "$1"; } # FORMAT
both_run() { [ "$(running %i | wc -l)" = 2 ]; }
ok 'two jobs without a spare run' within 60 both_run
read -r task nodes < <(running '%A %F %K %N' | sed -n 's/^\([0-9]*\) \1 //p')
node=$(lab run scontrol show hostnames "$nodes" | tail -n 1)
ok '... on their nodes' within 60 lab on "$node" pgrep -f 'sleep 987'
lab fault slurmd-killed "$node" >/dev/null
lab on "$node" pkill -KILL -f 'sleep 987'
ok 'a node fails: its job is queued again' within 200 told "again.$task" "requeueing job [0-9]* without $node"
excludes() { [[ $(lab run scontrol -o show job "${id}_$task") == *" ExcNodeList=$node "* ]]; }
ok '... and excludes the node' within 60 excludes
unlike "$(cat "$work/again.$task")" '^status' '... and the rest of the script is not run'
is "$(running %K)" "$((3 - task))" '... while the other task of its array goes on'
lab run scancel "$id"
lab heal >/dev/null

# --- the program's fault
script wrong 'muster run --spares=1 -p off -- srun sh -c "exit 7"'
id=$(submit wrong -N3 -w n[1,3-4])
ok 'a program that fails everywhere ends' within 200 told wrong '^status 7$' || sed 's/^/# /' "$work/wrong"
is "$(grep -c 'muster run: starts srun' "$work/wrong")" 2 '... with its own status, after one more start'
like "$(cat "$work/wrong")" 'the program is at fault, not a node' '... and no node is blamed'
unlike "$(for node in n1 n2 n3 n4; do lab on $node muster suspects; done)" "of job $id," \
    '... nor gets a suspect report'
like "$(cat "$work/wrong")" 'muster run: the job script has no "#SBATCH --no-kill"' \
    'the output says that a script lacks --no-kill'

# --- a signal
# shellcheck disable=SC2016 # for the job's shell
script stopped 'muster run -p off -- srun sh -c "trap \"exit 5\" TERM; echo up; sleep 986 & wait" & pid=$!' \
    'until grep -q up stopped; do sleep 0.1; done; kill -TERM $pid; wait $pid'
submit stopped -N2 >/dev/null
ok 'a signal goes to the command' within 200 told stopped '^status [1-9]' || sed 's/^/# /' "$work/stopped"
like "$(cat "$work/stopped")" 'ends with status [0-9]+: stopped by a signal' '... and it is not started again'
ok '... and leaves no process' within 60 no_process n1 -f 'sleep 986'
done_testing
