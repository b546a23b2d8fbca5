#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A user's failed preflight makes a node suspect. muster check reports it. muster certify --suspects tests
# exactly that node, with partners, and drains it by its own measurement only. A tested node is no
# longer suspect.
. "$(dirname "$0")/preflight.sh"

preflight_lab_up
suspects() {
    status=0
    lab run "$muster" certify --suspects >"$work/messages" 2>&1 </dev/null || status=$?
    messages=$(cat "$work/messages")
}

conf_add head Report=json:/var/lib/muster/%r.jsonl
run_step srun -N4 true # the prolog makes the directories of suspect reports
suspects
is "$status" 0 'no suspect report: nothing to do' || show
like "$messages" '^no suspects$' '... and the output says so'
is "$(lab run "$muster" history 2>&1)" \
    'muster history: no run of muster certify in /var/lib/muster/history.db' \
    '... no run is in the history'
is "$(lab run ls /var/lib/muster | grep -c jsonl)" 0 '... and leaves no records of its own'
is "$(lab on n3 stat -c '%a %U' /run/muster/suspects)" '1733 root' 'any user may leave suspect reports, only root reads them'

lab fault slow-rail n3 eth1 50 >/dev/null
run_step srun -N4 --preflight=quick true
is "$status" 1 'a failed preflight' || show
like "$(lab on n3 "$muster" check --only preflight)" '^warn +preflight.suspects +eth1 +a preflight of job' \
    'muster check warns of it'
suspects
is "$status" 1 'the suspect is tested, and fails' || show
like "$messages" '3 nodes tested' 'it and two partners, not all four' || show
within 60 no_jobs
like "$(lab run sinfo -h -N -n n3 -o '%T %E')" '^drained muster: rail_slow eth1 [0-9]+ of 200 Mb/s' \
    'it is drained for what was measured now'
is "$(suspect_reports n3)" 'no suspect reports' 'and its suspect report is gone'
is "$(lab run ls /var/lib/muster | grep -c jsonl)" 1 'the run with nodes has left its records'

lab heal >/dev/null
lab run "$muster" certify >/dev/null 2>&1
is "$(states)" idle 'repaired, it is released'

# a false suspect report; and one about a node that could not take it, which another node
# keeps: both of a job that Slurm knows. Others are of no job, or of one that did not run there.
leaves() { # LIST NODES LINES: leaves LINES as a user, from a job of NODES nodes there; JOB in them is its ID
    printf '%b' "$3" >"$work/lines"
    as_user sh -c "srun -Q -w $1 -N ${2:-1} sh -c 'sed s/JOB/\$SLURM_JOB_ID/ $work/lines | $muster suspects --leave'"
}
leaves n2,n4,n1 3 'n2\tn2\tJOB\tlinks\teth2\teth2 is no good\nn1\tn4\tJOB\tworkers.enumerate\tnode\tfrozen\n'
leaves n4 1 'n4\tn3\t77\tlinks\teth2\tof no job\nn4\tn1\tJOB\tlinks\teth1\tit was not there\n'
job=$(as_user srun -Q -w n3 printenv SLURM_JOB_ID)
printf 'n1\tn3\t%s\tlinks\teth1\tsaid by a node that was not there\n' "$job" |
    lab on n1 setpriv --reuid=65534 --regid=65534 --clear-groups "$muster" suspects --leave
as_user srun -Q -w n3 sh -c 'i=0; while [ $i -lt 3000 ]; do echo junk >/run/muster/suspects/65534-$i-n3 || exit 0; i=$((i + 1)); done' 2>/dev/null
is "$(lab on n3 df --output=fstype /run/muster/suspects | tail -n 1)" tmpfs 'suspect reports fill only a file system of their own'
like "$(suspect_reports n1)" '^n4: .*frozen' 'another node keeps a suspect report'
suspects
is "$status" 0 'false suspect reports fail no node' || show
like "$messages" '2 of 4 free nodes: n\[2,4\]' 'both of their nodes are tested' || show
like "$messages" '^n3: removed [0-9]+ files beyond the limit of 16 per user and 256 in total, most of user 65534$' 'junk is reported and removed' || show
like "$messages" '^[0-9]+ suspect reports? ignored, the first of user 65534: Slurm knows no such job' 'a suspect report of no job is ignored' || show
is "$(states)" idle 'nobody is drained'
is "$(suspect_reports n1) $(suspect_reports n2)" 'no suspect reports no suspect reports' 'and the suspect reports are removed'

# writes a history in which 16 nodes were tested today for the same user
lab run python3 -c 'import sqlite3
with sqlite3.connect("/var/lib/muster/history.db") as history:
    for _ in range(4):
        history.execute("INSERT INTO records SELECT * FROM records WHERE metric = ? AND value = 65534", ("user",))'
leaves n2 1 'n2\tn2\tJOB\tlinks\teth2\teth2 is no good\n'
suspects
is "$status" 0 'after 16 tests for one user today no more are done' || show
like "$messages" '^1 suspect report kept for later, the first of user 65534: at most 16 nodes a day' '... and the output says so' || show
# all jobs of two users fail at once on n2, and on no other node
for user in as_user as_muster; do
    for node in n1 n1 n1 n4 n4 n4 n2 n2 n2; do
        $user srun -Q -w $node sh -c '[ "$SLURMD_NODENAME" != n2 ]' 2>/dev/null
    done
done
within 60 no_jobs # the epilog writes the node's log of jobs, and may leave a job out on a busy machine
suspects
is "$status" 0 'a node on which all jobs fail' || show
like "$messages" '^n2: [4-6] of [0-9]+ jobs there failed within 60 s, of 2 users; ' '... is a suspect, and the output says why' || show
like "$messages" '1 of 4 free nodes: n2' '... the only one' || show
is "$(states)" idle '... which is tested, and not drained for that'
done_testing
