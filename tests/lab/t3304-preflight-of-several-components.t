#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A heterogeneous step is tested as one, whichever of its components srun calls the plugin for: in a
# heterogeneous job, and within a job; also with one node per component. The programs have
# --mpi=none, because PMIx of Slurm 22.05 can hang an srun of several components at its end.
. "$(dirname "$0")/preflight.sh"

preflight_lab_up
alone=(--mpi=none "$work/program")

run_step srun -N1 -w n1 --preflight=quick "${alone[@]}" : -N1 -w n3 "${alone[@]}"
is "$status $stdout_text" '0 0 1' 'a heterogeneous job of two components with one node each: the step runs' || show
like "$messages" 'preflight: n\[1,3\] passed' 'after one preflight of both' || show
run_step salloc -Q -w 'n[1-3]' -N3 srun -w n1 -N1 --preflight=quick "${alone[@]}" : -w n3 -N1 "${alone[@]}"
is "$status $stdout_text" '0 0 1' 'a heterogeneous step within a job runs' || show
like "$messages" 'preflight: n\[1,3\] passed' 'after one preflight of the nodes of both components' || show
run_step salloc -Q -w n1 -N1 : -w n3 -N1 srun --het-group=1 --preflight=quick "${alone[@]}"
is "$status $stdout_text" '0 0' 'one component of two, one node: the step runs' || show
is "$(grep -c preflight "$work/messages")" 0 'without a message, as one node has no links to test' || show

lab fault slow-rail n3 eth1 >/dev/null
run_step salloc -Q -w 'n[1-2]' -N2 : -w 'n[3-4]' -N2 srun --het-group=0,1 --preflight=quick "${alone[@]}"
is "$status $stdout_text" '1 ' 'a slow rail in one component: no component starts' || show
ok 'it is named' named n3 'eth1 .* of 200 Mb/s' || show
like "$(suspect_reports n3)" '^n3: a preflight of job [0-9]+, .*: links eth1: eth1 ' 'n3 has its suspect report'

# the plugin recognizes a step inside an allocation also with --export=NONE
run_step salloc -Q -N2 -w n3,n4 srun --export=NONE --preflight=quick "$work/program"
is "$status $stdout_text" '1 ' '--export=NONE: the step does not start either' || show
ends_clean
done_testing
