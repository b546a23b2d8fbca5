#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster policy verify on a real cluster with slurmdbd: a true policy is proved; each kind of statement
# made false is found; nothing of a run is left, however it ends.
. "$(dirname "$0")/testlab.sh"

muster_find
lab_up -n 2 --accounting

who='Who=team User=bob Account=physics QOS=urgent
Who=burst User=alice QOS=batch
Who=staff User=carol
Who=visitor User=guest'
verify() { # STATEMENTS OPTION...: prints the output
    printf '%s\n%s\n' "$who" "$1" >"$work/policy.conf"
    lab run "$muster" policy verify "${@:2}" "$work/policy.conf" 2>&1
}
left() { lab run sh -c "squeue -h -o '%j %i' && scontrol -o show reservation | sed -n 's/.*\(ReservationName=policy-[^ ]*\).*/\1/p'"; }
nothing_left() { local text; text=$(left) && [ -z "$text" ]; }
database() { lab run sh -c 'sacctmgr -nP show assoc; sacctmgr -nP show qos; sacctmgr -nP show user'; }
lab run sacctmgr -i modify user guest set maxsubmit=4 >/dev/null
before=$(database)

lab run scontrol create reservation=site starttime=now+2hours duration=60 nodes=n2 users=bob >/dev/null
lab run "$muster" reserve -w n2 >/dev/null
text=$(verify 'Limit=burst Jobs=2
Limit=burst Wall=1-0
Limit=visitor TRESPerJob=cpu=4
Limit=visitor Submit=4
Priority=team Above=burst
Preempt=team Victim=burst Within=1:00 Mode=requeue
Wait=team Load=burst Within=1:00
Reserved=team Reservation=site Not=burst')
is "$?" 0 'a true policy' || diag "$text"
like "$text" '^statements: 8 hold, 0 do not, 0 not shown$' '... is proved'
like "$text" 'waits: QOSMaxJobsPerUserLimit' "... with Slurm's reasons"
like "$text" 'policy.conf:10.: job [0-9]+ .bob. started after [0-9]+ s, and job [0-9]+ .alice. (waits: [A-Za-z]+|is COMPLETING)' \
    '... times and jobs'
like "$text" '4 jobs granted, then a job of guest is refused: Job violates accounting/QOS policy' '... and refusals'
unlike "$text" '^muster: ' '... in one line each'
is "$(left)" '' '... and nothing is left'
text=$(verify 'Certified=team')
is "$?" 1 'a node without certificate that jobs can use' || diag "$text"
like "$text" 'a job would start on n1, which has no certificate' '... is found while it is not reserved'
lab run "$muster" reserve -w n1 >/dev/null
requests() { lab run sdiag | sed -n 's/.*REQUEST_JOB_WILL_RUN .*count:\([0-9]*\).*/\1/p'; }
requests=$(requests)
text=$(verify 'Certified=team')
is "$?" 0 '... and with both reserved the policy is proved, although no node is idle for the run' || diag "$text"
like "$text" 'no job would start on n1 and the others without certificate' '... for all nodes'
is "$(($(requests) - requests))" 1 '... by one request to the controller'
lab run "$muster" reserve --release 'n[1-2]' >/dev/null

# STATEMENT|CODE, in the order of the output
false='
Certified=team|uncertified-node-open
Limit=burst Jobs=1|limit-passed
Limit=burst Jobs=3|limit-below
Limit=staff Submit=2|limit-passed
Limit=staff Wall=2-0|limit-below
Limit=visitor TRES=cpu=2|limit-passed
Limit=visitor TRESPerJob=cpu=3|limit-passed
Priority=staff Above=team|order-reversed
Preempt=staff Victim=burst Within=0:02|not-preempted
Preempt=team Victim=burst Within=1:00 Mode=cancel|preempt-mode-differs
Wait=staff Load=burst Within=0:02|wait-too-long
Reserved=burst Reservation=site|reservation-closed
Reserved=team Reservation=open Not=burst|reservation-open
'
lab run scontrol create reservation=open starttime=now+4hours duration=60 nodes=n2 users=bob,alice >/dev/null
text=$(verify "$(sed -n 's/|.*//p' <<<"$false")" --json)
is "$?" 1 'a false policy'
is "$(sed -E 's/^\{"code":"([^"]*)".*"stated":"([^"]*)".*/\2|\1/' <<<"$text")" "$(sed /^$/d <<<"$false")" \
    '... each statement is found' || diag "$text"
is "$(left)" '' '... and nothing is left'
text=$(verify 'Limit=burst TRES=node=9
Limit=team Jobs=1')
is "$?" 1 'a statement that cannot be tried and one that does not hold: exit status 1'
like "$text" '^unknown .*:5.: not shown, because it needs 10 nodes, and 2 are reserved$' '... the first is no pass'

# killed in the middle
begin() { # SIGNAL: starts a long run, which the caller kills, and waits until its job runs
    printf '%s\nPreempt=staff Victim=burst Within=10:00\n' "$who" >"$work/policy.conf"
    lab run "$muster" policy verify "$work/policy.conf" >"$work/out" 2>&1 &
    ok "a run is killed by $1" within 60 sh -c "'$lab_dir/lab' -L $name run squeue -h -t RUNNING -o %j | grep -q ^policy-"
}
begin INT
ok '... its keeper has a name of its own' lab run pgrep -f '^muster-keeper'
lab run pkill -INT -x muster
wait
is "$(left)" '' '... nothing is left at its end'
like "$(cat "$work/out")" '^muster policy: stopped by signal 2, all undone$' '... and the output says so'
begin KILL
lab run pkill -KILL -x muster
wait
ok '... and soon nothing is left' within 60 nothing_left
begin 'KILL, with its keeper'
lab run sh -c 'pkill -KILL -x muster-keeper; pkill -KILL -x muster'
wait
like "$(left)" 'ReservationName=policy-' '... its reservation is left'
text=$(verify 'Reserved=team Reservation=site')
like "$text" 'cleaning up after run policy-' '... until the next run'
is "$(left)" '' '... which removes it'

# replays a day: at the default speed a minute of it takes a second
printf 'Submit=2026-11-26T08:%s\n' '00:00 User=alice QOS=batch Nodes=2 Run=4:00 Limit=1:00:00' \
    '01:00 User=carol Nodes=2 Run=1:00 Limit=2-0' '02:00 User=carol QOS=nonesuch Nodes=1 Run=1:00' >"$work/day"
simulate() { # STATEMENTS OPTION...: replays the day, whose jobs do no work
    printf '%s\n%s\n' "$who" "$1" >"$work/policy.conf"
    lab run "$muster" policy simulate --day "$work/day" "${@:2}" "$work/policy.conf"
}
like "$(simulate 'Wait=team Load=burst Within=1:00' --copy other 2>&1)" \
    "^muster policy: this cluster is $name, not other, the copy" 'a cluster other than that of --copy is not filled'
text=$(simulate 'Wait=staff Load=burst Within=10:00' --copy "$name" --json 2>"$work/out")
like "$?" '^[03]$' 'a day is replayed' || diag "$(cat "$work/out")"
like "$text" '^\{"account":"physics","qos":"batch","jobs":1,"refused":0,"never_started":0,"finished":1,"preempted":0,"waited' \
    '... each job is counted'
like "$text" '"account":"chemistry","qos":"normal",.*"waited_most_s":[0-9]{3,}.*"entitled_share":0\.2' '... waiting times are those of the day'
like "$text" '"account":"","qos":"nonesuch","jobs":1,"refused":1,' '... or as refused'
like "$text" '"verdict":"(pass|unknown)","object":"staff".*"stated":"Wait=staff Load=burst Within=10:00"' '... and each statement judged'
is "$(left)" '' '... and nothing is left'
simulate 'Wait=staff Load=burst Within=10:00' --copy "$name" --speed 1 >"$work/out" 2>&1 &
ok 'a replay is killed' within 60 sh -c "'$lab_dir/lab' -L $name run squeue -h -t RUNNING -o %j | grep -q ^policy-"
lab run pkill -KILL -x muster
wait
ok '... and soon nothing is left' within 60 nothing_left
is "$(database)" "$before" 'no user, association or QOS was changed'
done_testing
