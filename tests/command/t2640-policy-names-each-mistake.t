#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster policy check: two clusters that are well configured have no finding; each kind of mistake in
# one of them is found as that kind and no other. doc/policy.md has the table of kinds.
. "$(dirname "$0")/command.sh"
needs muster
command -v python3 >/dev/null || skip_all 'no python3'
command -v jq >/dev/null || skip_all 'no jq'
fixtures=$top_srcdir/tests/fixtures/policy

policy() { "$muster" policy check --from "$dir/site" "$@"; }
site() { rm -rf "$dir/site" && cp -r "$fixtures/$1" "$dir/site" && chmod -R u+w "$dir/site"; }
codes() { policy --json | jq -r .code | sort -u | xargs; }

for base in qos tiers; do
    site $base
    text=$(policy)
    is "$?" 0 "$base: a good configuration"
    like "$text" 'no mistakes found, of [0-9]* kinds' '... without a finding'
done

# CODE BASE FILE SED, one per line: sed makes the mistake in the file. A line "+ FILE SED" after it changes
# another file. Q changes a column of qos, A one of associations: "Q name column value".
cases='
limits-not-enforced qos config s/^(AccountingStorageEnforce .*= ).*/\1associations,qos/
qos-not-enforced qos config s/^(AccountingStorageEnforce .*= ).*/\1associations,limits,safe/
associations-not-enforced qos config s/^(AccountingStorageEnforce .*= ).*/\1none/
+ qos s/\|cluster\|.*/|cluster||00:00:00||||||||||||||||/
+ associations s/^(([^|]*\|){5})[^|]*\|([^|]*)\|.*/\1batch,normal,urgent,gpu|\3||||||||||/
minutes-not-safe qos config s/,safe$//
+ A physics//GrpTRESMins cpu=100000
gres-not-tracked qos config s/,gres\/gpu:a100$//
typed-gres-hole qos Q urgent MaxTRESPU gres/gpu:a100=8
typed-gres-hole qos Q urgent MaxTRES gres/gpu=8,gres/gpu:a100=4
typed-gres-alone qos config s/,gres\/gpu,/,gres\/shard,/
+ qos s/gres\/gpu=8//g;s/\|,/|/g;s/gres\/gpu:a100=8//
+ associations s/,gres\/gpu=12//
typed-above-untyped qos Q urgent MaxTRESPU gres/gpu=8,gres/gpu:a100=12
limit-above-cluster qos Q batch GrpTRES cpu=640
limit-above-cluster qos Q batch MaxTRESPerNode gres/gpu=9
limit-above-cluster qos A visitors//GrpTRES mem=2T
child-above-parent qos A physics/alice/GrpTRES cpu=60
child-above-parent qos A physics/alice/MaxTRES gres/gpu=16
no-jobs-allowed qos Q urgent MaxJobsPU 0
no-jobs-allowed qos A chemistry/carol/MaxJobs 0
limit-shadowed qos Q batch MaxTRESPU gres/gpu=2
wall-above-partitions qos Q batch MaxWall 30-00:00:00
override-refused qos Q urgent Flags PartitionTimeLimit
no-accounts qos associations /alice|bob|carol|guest/d
qos-unused qos associations s/batch,normal,urgent/batch,normal/
default-qos-refused qos A chemistry/carol/DefaultQOS gpu
partition-qos-unknown qos slurm.conf s/QOS=gpu/QOS=gpus/
allow-qos-unknown qos partitions s/AllowQos=normal,urgent/AllowQos=normal,urgnt/
allow-qos-unknown qos partitions s/AllowQos=ALL/DenyQos=interactive/
allow-account-unknown qos partitions s/AllowAccounts=ALL/AllowAccounts=physics,chemstry/
allow-group-unknown qos partitions s/AllowGroups=ALL/AllowGroups=staf/
allow-and-deny qos slurm.conf s/(AllowQos=normal,urgent,batch)/\1 DenyQos=batch/
partition-for-nobody qos partitions s/AllowQos=normal,urgent,batch/AllowQos=gpu/
partition-for-nobody qos partitions s/AllowAccounts=ALL AllowQos=normal,urgent,batch/AllowAccounts=visitors AllowQos=urgent/
weights-without-plugin qos config s/^(PriorityType .*= ).*/\1priority\/basic/
weights-without-accounting tiers config s/^(PriorityWeightFairShare .*= ).*/\11000/
weights-all-zero qos config s/^(PriorityWeight(QOS|FairShare|Age) .*= ).*/\10/
qos-weight-zero qos config s/^(PriorityWeightQOS .*= ).*/\10/
qos-weight-idle qos qos s/^(normal|urgent|batch)\|[0-9]*/\1|0/
partition-weight-zero qos partitions s/(=gpu .*)PriorityJobFactor=1/\1PriorityJobFactor=10/
partition-weight-idle qos config s/^(PriorityWeightPartition .*= ).*/\11000/
shares-weight-zero qos config s/^(PriorityWeightFairShare .*= ).*/\10/
shares-above-qos qos config s/^(PriorityWeightFairShare .*= ).*/\11000000/
usage-kept-forever qos config s/^(PriorityDecayHalfLife .*= ).*/\100:00:00/
preempt-lists-idle qos config s/^(PreemptType .*= ).*/\1preempt\/none/;s/^(PreemptMode .*= ).*/\1OFF/
preempt-lists-idle qos config s/^(PreemptType .*= ).*/\1(null)/
preempt-mode-off qos config s/^(PreemptMode .*= ).*/\1OFF/
+ partitions s/PreemptMode=REQUEUE/PreemptMode=OFF/
preempt-mode-off tiers partitions s/PreemptMode=REQUEUE/PreemptMode=OFF/
preempt-no-lists qos Q urgent Preempt
tiers-never-preempt tiers partitions s/PriorityTier=[0-9]*/PriorityTier=1/;s/PreemptMode=OFF/PreemptMode=REQUEUE/
tiers-equal tiers partitions s/PriorityTier=[23]0/PriorityTier=10/
preempts-higher qos Q urgent Priority 0
requeue-off qos config s/^(JobRequeue .*= ).*/\10/
requeue-off tiers config s/^(JobRequeue .*= ).*/\10/
suspend-without-gang tiers partitions s/PreemptMode=REQUEUE/PreemptMode=SUSPEND/;s/OverSubscribe=NO/OverSubscribe=FORCE:1/
suspend-keeps-gres tiers partitions s/PreemptMode=REQUEUE/PreemptMode=GANG,SUSPEND/;s/OverSubscribe=NO/OverSubscribe=FORCE:1/
+ config s/^(PreemptMode .*= ).*/\1GANG,SUSPEND/
+ nodes s/Gres=.null./Gres=gpu:8/
suspend-without-sharing tiers partitions s/PreemptMode=REQUEUE/PreemptMode=GANG,SUSPEND/
+ config s/^(PreemptMode .*= ).*/\1GANG,SUSPEND/
force-shares-first qos partitions s/OverSubscribe=NO/OverSubscribe=FORCE:4/
force-shares-first tiers partitions s/OverSubscribe=NO(.*REQUEUE)/OverSubscribe=FORCE:4\1/
partition-mode-idle qos partitions s/(=gpu .*)PreemptMode=REQUEUE/\1PreemptMode=OFF/
grace-outlasts-jobs qos Q batch GraceTime 8-00:00:00
grace-outlasts-jobs tiers partitions s/GraceTime=0(.*REQUEUE)/GraceTime=86400\1/
exempt-outlasts-jobs qos config s/^(PreemptExemptTime .*= ).*/\17-00:00:00/
exempt-outlasts-jobs qos Q batch PreemptExemptTime 10-00:00:00
partition-without-nodes qos partitions s/(=gpu .*)Nodes=n\[1-2\]/\1Nodes=(null)/
partition-nodes-down qos nodes s/(=n[12] .*)State=IDLE/\1State=DOWN+DRAIN/
node-in-no-partition qos nodes s/(=n4 .*)Partitions=cpu/\1/
default-above-max qos slurm.conf s/DefaultTime=1:00:00/DefaultTime=10-0/
default-above-max qos partitions s/DefaultTime=01:00:00/DefaultTime=9-00:00:00/
+ slurm.conf d
default-partition-closed qos partitions s/(=cpu .*)State=UP/\1State=DRAIN/
min-above-max qos partitions s/(=cpu .*)MinNodes=0/\1MinNodes=3/
min-above-max qos partitions s/(=cpu .*)MaxNodes=UNLIMITED(.*)MinNodes=0/\1MaxNodes=1\2MinNodes=2/
memory-above-nodes qos config s/^(DefMemPerNode .*= ).*/\164000/
memory-above-nodes qos partitions s/DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED/DefMemPerNode=8000 MaxMemPerNode=4000/
part-limits-not-enforced qos config s/^(EnforcePartLimits .*= ).*/\1NO/
time-unlimited qos partitions s/(=gpu .*)DefaultTime=01:00:00(.*)MaxTime=[0-9:-]*/\1DefaultTime=NONE\2MaxTime=UNLIMITED/
+ slurm.conf d
window-too-short qos config s/bf_window=10080/bf_window=1440/
window-too-short qos config s/^(SchedulerParameters .*= ).*/\1(null)/
resolution-too-fine qos config s/bf_resolution=600,//
parameters-idle qos config s/^(SchedulerType .*= ).*/\1sched\/builtin/
parameter-unknown qos config s/bf_continue/bf_contineu/
weight-before-topology qos nodes s/(=n2 .*)Weight=1/\1Weight=10/
lln-scatters qos partitions s/(=cpu .*)LLN=NO/\1LLN=YES/
array-above-jobs qos config s/^(MaxArraySize .*= ).*/\1100001/
reservation-overlaps qos reservations s/StartTime=2026-11-25T14:00:00/StartTime=2026-11-25T13:30:00/
reservation-without-nodes qos reservations s/Nodes=n\[3-4\]/Nodes=n[3-9]/
reservation-for-nobody qos reservations s/Users=carol/Users=carl/
reservation-for-nobody qos reservations s/Accounts=physics/Accounts=physic/
'

# Sets a column of a row, as sacctmgr does: "qos NAME COLUMN VALUE", or in associations a row named
# ACCOUNT/USER. Columns have Slurm's names.
column() { # FILE ROW COLUMN VALUE
    python3 - "$dir/site/$1" "$top_srcdir/validate/slurm/show.h" "$@" <<'EOF'
import re, sys
path, header, kind, row, column, value = sys.argv[1:]
macro = 'CLUSTER_QOS_COLUMNS' if kind == 'qos' else 'CLUSTER_ASSOCIATION_COLUMNS'
text = open(header).read().split('#define ' + macro)[1].split('\n\n')[0].split('#define')[0]
columns = ''.join(re.findall(r'"([^"]*)"', text)).split(',')
lines = open(path).read().splitlines()
changed = 0
for i, line in enumerate(lines[1:], 1):
    cells = line.split('|')
    if (cells[0] if kind == 'qos' else '/'.join(cells[:2])) == row:
        cells[columns.index(column)] = value
        lines[i] = '|'.join(cells)
        changed += 1
open(path, 'w').write('\n'.join(lines) + '\n')
sys.exit(changed != 1)
EOF
}

change() { # FILE SED, or Q ROW COLUMN VALUE, or A ACCOUNT/USER/COLUMN VALUE
    local what=$1 rest=$2 before
    case $what in
    Q)
        read -r row name value <<<"$rest"
        column qos "$row" "$name" "${value-}"
        ;;
    A)
        read -r row value <<<"$rest"
        column associations "${row%/*}" "${row##*/}" "${value-}"
        ;;
    *)
        before=$(cksum <"$dir/site/$what")
        sed -Ei "$rest" "$dir/site/$what"
        [ "$before" != "$(cksum <"$dir/site/$what")" ]
        ;;
    esac
}

verify() {
    [ -z "$code" ] || is "$(codes)" "$code" "$code: $mistake"
}
code='' seen=' '
while read -r first second third rest; do
    [ -n "$first" ] || continue
    if [ "$first" = + ]; then
        change "$second" "$third${rest:+ $rest}" || bail "no change: $second $third $rest"
        continue
    fi
    verify
    code=$first mistake="$third $rest" seen+="$first "
    site "$second"
    change "$third" "$rest" || bail "no change: $third $rest"
done <<<"$cases"
verify

# configurations that only look like a mistake
sound() { # WHAT BASE FILE SED [FILE SED]...
    local what=$1
    site "$2"
    shift 2
    while [ $# -gt 0 ]; do
        change "$1" "$2" || bail "no change: $1 $2"
        shift 2
    done
    is "$(codes)" '' "no mistake: $what"
}
sound 'of two partitions of a tier one is protected from a third' tiers partitions 's/PriorityTier=20/PriorityTier=10/'
sound 'nodes that power saving has switched off are not down' qos \
    nodes 's/(=n[12] .*)State=IDLE/\1State=IDLE+CLOUD+POWERED_DOWN/'
sound 'PreemptExemptTime and GraceTime are not for jobs that are suspended' tiers \
    partitions 's/PreemptMode=REQUEUE/PreemptMode=GANG,SUSPEND/;s/OverSubscribe=NO/OverSubscribe=FORCE:1/;s/GraceTime=0/GraceTime=86400/' \
    config 's/^(PreemptMode .*= ).*/\1GANG,SUSPEND/;s/^(PreemptExemptTime .*= ).*/\17-00:00:00/'
sound 'partition limits are open for a QOS that may pass them' qos Q 'urgent Flags PartitionTimeLimit' \
    config 's/^(EnforcePartLimits .*= ).*/\1NO/'
sound 'a window cannot be longer' qos partitions 's/(=cpu .*)MaxTime=7-/\1MaxTime=60-/' config 's/bf_window=10080/bf_window=43200/'
sound 'max_array_tasks limits arrays' qos \
    config 's/^(MaxArraySize .*= ).*/\1100001/;s/^(SchedulerParameters .*)/\1,max_array_tasks=1000/'
sound 'GrpTRESMins are not for priority/basic' qos A 'physics//GrpTRESMins cpu=100000' \
    config 's/,safe$//;s/^(PriorityType .*= ).*/\1priority\/basic/;s/^(PriorityWeight[^ ]* .*= ).*/\10/'
sound 'a QOS that is OFF has the PreemptMode of the cluster' qos qos 's/^(batch\|1\|\|)cluster/\1OFF/'

kinds=$("$muster" policy check --kinds | cut -d' ' -f1)
is "$(for kind in $kinds; do [[ $seen == *" $kind "* ]] || echo "$kind"; done)" '' 'each kind has a case'

# a slurm.conf that was saved without its included files: findings have no line numbers
site qos
sed -i '/^ClusterName/a Include /etc/slurm/nodes.conf' "$dir/site/slurm.conf"
sed -Ei 's/^(MaxArraySize .*= ).*/\1100001/' "$dir/site/config"
text=$(policy)
is "$?" 0 'a slurm.conf without its included file: status 0'
like "$text" '^warn     array-above-jobs ' '... and a mistake is found'

# output for people and for programs
site qos
sed -Ei 's/^(PreemptMode .*= ).*/\1OFF/; s/^(MaxArraySize .*= ).*/\1100001/' "$dir/site/config"
sed -i 's/PreemptMode=REQUEUE/PreemptMode=OFF/' "$dir/site/partitions"
text=$(policy)
is "$?" 1 'a failure: exit status 1'
like "$text" '^fail     preempt-mode-off  slurm.conf \(/slurm.conf:12\): PreemptMode is OFF, and ' \
    '... with its line'
like "$text" '^         why: .* \(preempt.html, PreemptMode\)$' '... why it matters, with the source'
like "$text" '^         cure: set PreemptMode ' '... and the cure'
like "$text" '^warn     array-above-jobs ' '... and the warning'
like "$text" '1 fail, 1 warn$' '... and the totals'
is "$(policy --json | python3 -c '
import json, sys
print(*[sorted(json.loads(line)) == ["code", "cure", "found", "object", "source", "verdict", "where", "why"]
        for line in sys.stdin])')" 'True True' '--json has the same'
site qos
change Q 'urgent Flags PartitionTimeLimit'
LC_ALL=C sed -i 's/urgent/urg\xe9nt/g' "$dir/site"/*
is "$(policy --json | jq -r .object)" 'QOS urg�nt' '... and a name that is no UTF-8'
site qos
sed -Ei 's/^(MaxArraySize .*= ).*/\1100001/' "$dir/site/config"
policy >/dev/null
is "$?" 0 'a warning alone: 0'
site qos
sed -Ei 's/gres\/gpu=8,gres\/gpu:a100=8/gres\/gpu:a100=8/' "$dir/site/qos"
sed -Ei 's/^(JobSubmitPlugins .*= ).*/\1lua/' "$dir/site/config"
like "$(policy)" '^warn     typed-gres-hole ' 'with a job_submit plugin, which may require the type, it is a warning'

# the time does not grow with the square of the accounts, also if all shares are equal
site qos
sed -Ei 's/^(([^|]*\|){4})[0-9]+/\11/' "$dir/site/associations"
awk -F'|' '$1 == "physics" { lines[n++] = substr($0, 8) }
    END { for (i = 0; i < 10000; i++) for (k = 0; k < n; k++) print "account" i lines[k] }' \
    "$dir/site/associations" >"$dir/more"
cat "$dir/more" >>"$dir/site/associations"
text=$(ulimit -t 10; policy)
is "$?" 0 '10,000 accounts in seconds'
like "$text" ' 300[0-9][0-9] associations, ' '... with their users'

# files that cannot be read
rm "$dir/site/qos"
text=$(policy)
is "$?" 3 'a missing QOS file: 3'
like "$text" '^unknown  accounting: .*qos: No such file' '... and it is named'
unlike "$text" 'weights-without-accounting' '... and accounting is not reported as missing'
rm "$dir/site/nodes"
text=$(policy 2>&1)
is "$?" 3 'a missing nodes file: 3'
like "$text" '^muster policy: .*nodes: No such file' '... and they are named'
site qos
printf 'Name|Priority\nnormal|10\n' >"$dir/site/qos"
like "$(policy)" '^unknown  accounting: qos: sacctmgr printed fewer columns' 'a table with other columns is unknown'
site qos
sed -i 's/^chemistry|||root/chemistry|||physics/; s/^physics|||root/physics|||chemistry/' "$dir/site/associations"
text=$(timeout 30 "$muster" policy check --from "$dir/site")
is "$?" 3 'accounts that are each other'"'"'s parent: 3'
like "$text" '^unknown  accounting: associations: account (chemistry|physics) is above itself' '... and one is named'
for file in partitions nodes reservations slurm.conf; do
    site qos
    seq 1000 | md5sum >"$dir/site/$file"
    text=$(policy 2>&1)
    is "$?" 3 "$file with other content: 3"
    like "$text" "^muster policy: .*$file: found no " '... and it is named'
done
site qos
for account in {1..200}; do
    printf 'a%s|||root|1|normal|normal||||||||||\n' "$account"
    printf "a$account|u%s|||1|normal|normal||||||||||\n" {1..10}
done >>"$dir/site/associations"
sed -Ei '2,$s/^(([^|]*\|){4})[0-9]+/\11/' "$dir/site/associations" # shares that differ end the search
timeout 30 "$muster" policy check --from "$dir/site" >/dev/null
is "$?" 0 'a site of 2000 users is checked in seconds'
site qos
: >"$dir/site/reservations"
policy >/dev/null 2>&1
is "$?" 3 'an empty reservations file: 3'
site qos
seq 1000 | md5sum >"$dir/site/group"
sed -i 's/AllowGroups=ALL/AllowGroups=staf/' "$dir/site/partitions"
unlike "$(policy)" 'allow-group-unknown' 'a file that is not a list of groups causes no finding about groups'
for words in '' fly 'check extra' 'check --from a --save b'; do
    # shellcheck disable=SC2086 # words
    "$muster" policy $words >/dev/null 2>&1
    is "$?" 2 "policy $words: a usage error"
done

# doc/policy.md
"$muster" policy check --kinds --json | python3 -c '
import json, sys
for line in sys.stdin:
    k = json.loads(line)
    print("| `%(code)s` | %(verdict)s | %(what)s | %(why)s | %(source)s | %(cure)s |" % k)' >"$dir/table"
is "$(grep '^| `' "$top_srcdir/doc/policy.md" | cksum)" "$(cksum <"$dir/table")" 'doc/policy.md has the table of kinds' ||
    diag "$(diff <(grep '^| `' "$top_srcdir/doc/policy.md") "$dir/table" | head -n 5)"
done_testing
