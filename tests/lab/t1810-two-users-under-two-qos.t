#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A lab with accounting has users, accounts and QOS that Slurm enforces. After slurmdbd or MariaDB was
# killed, heal starts it again, and the accounting has what happened meanwhile. down leaves nothing.
. "$(dirname "$0")/testlab.sh"

lab_up -n 2 --accounting

is "$(lab run sacctmgr -nP show qos format=name,priority,preempt | LC_ALL=C sort | xargs)" \
    'batch|1| normal|10| urgent|100|batch' 'sacctmgr has the QOS'
is "$(lab run sacctmgr -nP show assoc format=user,account | grep -v '^|\|^root' | LC_ALL=C sort | xargs)" \
    'alice|physics bob|physics carol|chemistry guest|visitors' '... and the users'
is "$(lab on n1 id -un 7721) $(lab on n2 id -un 7721)" 'alice alice' 'nodes know the users'
is "$(run_as alice srun -N2 id -un | xargs)" 'alice alice' 'a user runs a step on both nodes'

state_of() { lab run squeue -h -t all -j "$1" -o "$2"; }
is_state() { [ "$(state_of "$1" %T)" = "$2" ]; }
submit() { # USER OPTION...
    (cd / && run_as "$1" sbatch --parsable --chdir / -o /dev/null "${@:2}" --wrap 'sleep 600')
}

status=0
output=$(submit guest --qos urgent 2>&1) || status=$?
is "$status" 1 'a QOS that the user does not have is refused'
like "$output" 'Invalid qos' '... with that reason'
batch=$(submit alice --qos batch -N2 --exclusive)
ok 'a job of batch runs' within 60 is_state "$batch" RUNNING
second=$(submit bob --qos batch -N2 --exclusive)
third=$(submit bob --qos normal -N2 --exclusive)
waits_for_priority() { lab run sprio -h -j "$second,$third" -o '%i %Q' | grep -q "$third"; }
ok 'sprio shows the jobs that wait' within 60 waits_for_priority
qos_factor() { lab run sprio -h -j "$1" -o '%Q' | xargs; }
is "$(qos_factor "$second") $(qos_factor "$third")" '1000 10000' 'the priority of a QOS is as its weight says'
urgent=$(submit bob --qos urgent -N2 --exclusive)
ok 'a job of urgent preempts batch' within 60 is_state "$urgent" RUNNING
ok '... which waits again' within 60 is_state "$batch" PENDING
is "$(state_of "$third" %T)" PENDING '... and the job of normal still waits'

ok 'slurmdbd is killed' lab fault slurmdbd-killed
like "$(lab status)" '^  slurmdbd-killed' '... as status shows'
unlike "$(lab run timeout 20 sacctmgr -n show cluster 2>/dev/null)" . 'sacctmgr has no answer'
lab run scancel "$batch" "$second" "$third" "$urgent"
meanwhile=$(submit carol -N1)
ok 'a job starts nevertheless' within 60 is_state "$meanwhile" RUNNING
ok 'heal' lab heal
recorded() { lab run sacct -nP -X -j "$1" -o user,qos,state | grep -q "^carol|normal|RUNNING"; }
ok 'the job that started meanwhile is in the accounting' within 60 recorded "$meanwhile"

ok 'MariaDB is killed' lab fault mariadb-killed
unlike "$(lab run timeout 5 sacctmgr -nQ show assoc 2>/dev/null)" . 'slurmdbd has no answer'
ok 'heal' lab heal
ok '... and nothing is lost' within 60 recorded "$meanwhile"
like "$(lab status)" 'injected faults: none' 'no fault is left'
ok 'down' lab down
is "$(grep -l "MUSTER_LAB=$name" /proc/[0-9]*/environ 2>/dev/null; ls -d "$top/.lab/$name" 2>/dev/null)" '' \
    'nothing is left'

lab_up -n 1
status=0
output=$(lab fault slurmdbd-killed 2>&1) || status=$?
is "$status" 2 'a lab without accounting has no slurmdbd to kill'
like "$output" 'up without --accounting' '... and says so'
done_testing
