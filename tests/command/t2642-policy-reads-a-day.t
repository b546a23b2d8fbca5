#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster policy simulate: an invalid line in the file of a day is named with what is expected; --dry-run
# prints how long the day takes and what it leaves out; only the named cluster is filled. The lab's copy
# of a site schedules as the site does: with fewer nodes, limits in proportion, and times divided.
. "$(dirname "$0")/command.sh"
needs muster
export MUSTER_CONF=$dir/muster.conf
echo >"$MUSTER_CONF"
printf '%s\n' 'Who=team User=bob QOS=urgent' 'Who=burst User=alice QOS=batch' 'Limit=burst Jobs=2' \
    'Preempt=team Victim=burst Within=10:00' >"$dir/policy.conf"
simulate() { "$muster" policy simulate --day "$dir/day" "$@" 2>&1; }

good='Submit=2026-11-26T08:00:00 User=alice Nodes=2 Run=30:00 Limit=1:00:00'
# SED|MESSAGE
faults='
s/Submit=[^ ]*//|found no Submit=, expected a time as 2026-11-26T08:00:00
s/T08/ 08/|found Submit=2026-11-26, expected a time as 2026-11-26T08:00:00
s/User=alice//|found no User=, expected the name of a user
s/Nodes=2/Nodes=0/|found Nodes=0, expected a number of nodes
s/Run=30:00/Run=0:00/|found Run=0:00, expected a time as 0:30, 90 for minutes, 8:00:00, 1-0
s/Limit=.*/Limit=0:00.1/|
s/Limit=.*/Limit=500-0/|found Limit=500-0, expected a time as 0:30, 90 for minutes, 8:00:00, 1-0
'
while IFS='|' read -r edit fault; do
    [ -n "$fault" ] || continue
    sed "$edit" <<<"$good" >"$dir/day"
    is "$(simulate --dry-run)" "muster policy: $dir/day:1: $fault" "$fault"
done <<<"$faults"
simulate --dry-run >/dev/null
is "$?" 2 '... a usage error'

printf '%s\n' '# a day' "$good" 'submit=2026-11-26T09:30:00 user=bob qos=urgent nodes=1 run=0:30 limit=UNLIMITED' >"$dir/day"
text=$(simulate --dry-run --speed 120)
is "$?" 0 'a valid day: status 0'
like "$text" '^2 jobs in 1:30:00; at speed 120 they are submitted in 0:00:45$' '... with its duration'
like "$text" '^jobs with a much longer time limit than in the day: 1 \(a minute here is 2:00:00\)$' '... with what the speed distorts'
like "$text" 'policy.conf:3: Limit=burst Jobs=2: not looked at; muster policy verify proves it$' '... with what is not tested'
unlike "$text" 'Preempt=' '... and nothing else'
like "$(simulate --dry-run --json)" '^muster policy: --dry-run and --json are mutually exclusive$' '--dry-run with --json is refused'
like "$(simulate)" '^muster policy: simulate needs --day and --copy$' 'a cluster must be named to be filled'
like "$(simulate --copy lab --from "$dir")" '^muster policy: --from, --save and --nodes are not for simulate$' \
    'recorded text starts no job'
like "$("$muster" policy verify --day "$dir/day" 2>&1)" '^muster policy: --day, --copy and --speed are for simulate$' \
    '--day with verify is refused'

# the lab's copy
state=$dir nodes=2 speed=60 gpus=8 site=$top_srcdir/tests/fixtures/policy/qos
scheduler_extra() { :; }
. "$top_srcdir/tests/lab/site.sh"
text=$(site_conf)
like "$text" '^PriorityDecayHalfLife=168$' 'a week is 168 minutes at speed 60'
like "$text" '^SchedulerParameters=bf_window=168,bf_resolution=10,bf_continue,bf_interval=1,sched_interval=1,batch_sched_delay=0$' \
    '... and the window of backfill is scaled, too'
like "$text" '^AccountingStorageTRES=gres/gpu,gres/gpu:a100$' '... TRES are unchanged'
is "$(site_nodes)" 'NodeName=n1 CPUs=16 RealMemory=16000 Gres=gpu:a100:8 State=UNKNOWN
NodeName=n2 CPUs=16 RealMemory=16000 State=UNKNOWN' 'two of four nodes'
text=$(site_partitions)
like "$text" '^PartitionName=cpu Nodes=n2 Default=YES .* MaxTime=168 ' '... each partition has its share'
like "$text" '^PartitionName=gpu Nodes=n1 AllowQos=normal,urgent,batch .*QoS=gpu .* MaxTime=48 ' '... with its limits'
text=$(site_accounts)
like "$text" '^modify qos urgent set priority=100 preempt=batch gracetime=0 maxwall=24 maxtresperuser=gres/gpu=4$' \
    'limits are scaled in proportion'
like "$text" '^add account physics parent=root fairshare=3 qos=batch,normal,urgent defaultqos=normal grptres=cpu=24,gres/gpu=6$' \
    '... those of accounts, too'
like "$(site_users)" 'alice:physics:3 bob:physics:1 ' 'the users of accounts exist'
done_testing
