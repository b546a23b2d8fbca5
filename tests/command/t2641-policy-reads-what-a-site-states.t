#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster policy verify: an invalid line of policy.conf is named with what was found and what is allowed;
# --dry-run prints what would be tried and how long it takes at most, and tries nothing; the documents
# have all codes, and the example is valid.
. "$(dirname "$0")/command.sh"
needs muster
export MUSTER_CONF=$dir/muster.conf
echo >"$MUSTER_CONF"

verify() { "$muster" policy verify --from "$top_srcdir/tests/fixtures/policy/qos" "$@" 2>&1; }

# LINE|MESSAGE: the message follows "policy.conf:3: "
faults='
Limit=team Job=2|Limit: found "Job", allowed Jobs=, Submit=, Wall=, TRES=, TRESPerJob=
Limit=team|Limit: found 0 limits, expected one of Jobs=, Submit=, Wall=, TRES=, TRESPerJob=
Limit=team Jobs=2 Submit=4|Limit: found 2 limits, expected one of Jobs=, Submit=, Wall=, TRES=, TRESPerJob=
Limit=team Jobs=0|Limit: found Jobs=0, allowed a number of jobs that run at once, 1 to 64
Limit=team Jobs=65|Limit: found Jobs=65, allowed a number of jobs that run at once, 1 to 64
Limit=team Jobs=2 Jobs=3|Limit: found Jobs= twice, allowed once
Limit=team Wall=0:30|Limit: found Wall=0:30, allowed whole minutes as in Slurm: 90, 8:00:00, 7-0
Limit=team TRES=gpu=4|Limit: found TRES=gpu=4, allowed cpu=N, node=N or gres/NAME=N of all jobs that run at once, N 1 to 64
Limit=team TRESPerJob=cpu|Limit: found TRESPerJob=cpu, allowed cpu=N, node=N or gres/NAME=N of one job, N 1 to 64
Limit=nobody Jobs=2|found Limit=nobody, allowed the name of a Who= line
Priority=team|Priority: found no Above=, expected the name of another Who= line
Priority=team Above=team|Priority: found Above=team, allowed the name of another Who= line
Preempt=team Victim=burst|Preempt: found no Within=, expected a time of at most 10:00: 0:30 is 30 s, 5 is 5 minutes
Preempt=team Victim=burst Within=10:01|Preempt: found Within=10:01, allowed a time of at most 10:00: 0:30 is 30 s, 5 is 5 minutes
Preempt=team Victim=burst Within=1 Mode=kill|Preempt: found Mode=kill, allowed requeue, cancel or suspend
Wait=team Within=1|Wait: found no Load=, expected the name of another Who= line
Reserved=team|Reserved: found no Reservation=, expected the name of a reservation
Certified=team All=yes|Certified: found "All", allowed nothing
Certified=team all|Certified: found "all", allowed Key=Value
Who=team User=carol|found Who=team twice, allowed once
Who=other Account=physics|Who: found no User=, expected the name of a test user
Who=other User=carol Group=users|Who: found "Group", allowed User=, Account=, QOS=, Partition=
Who=o/ther User=carol|found Who=o/ther, allowed a name of letters, digits and ._-
Quota=team Jobs=2|found "Quota", allowed Who=, Limit=, Priority=, Preempt=, Wait=, Reserved=, Certified=
team|found "team", allowed Keyword=NAME
'
while IFS='|' read -r line fault; do
    [ -n "$line" ] || continue
    printf '%s\n' 'Who=team User=bob QOS=urgent' 'Who=burst User=alice QOS=batch' "$line" >"$dir/policy.conf"
    is "$(verify --dry-run)" "muster policy: $dir/policy.conf:3: $fault" "$line"
done <<<"$faults"
verify --dry-run >/dev/null
is "$?" 2 '... a usage error'
echo 'Who=team User=bob' >"$dir/policy.conf"
like "$(verify --dry-run)" 'policy.conf: found no statement, allowed Who=, Limit=' 'a file without statements'
rm "$dir/policy.conf"
is "$(verify --dry-run)" "muster policy: $dir/policy.conf: No such file or directory" 'a missing file'

cat >"$dir/policy.conf" <<'END'
# the team before the burst
Limit=burst  Jobs=2     # a name may come before its line
limit=team   tres=gres/gpu=12
Limit=team   TRESPerJob=node=3
Priority=team Above=burst
Preempt=team Victim=burst \
    Within=0:30 Mode=requeue
Certified=team
Who=team User=bob Account=physics QOS=urgent Partition=gpu
Who=burst User=alice QOS=batch Partition=gpu
END
text=$(verify --dry-run)
is "$?" 0 '--dry-run: status 0'
like "$text" "policy.conf:2: Limit=burst  Jobs=2: alice has 2 jobs at once, and not 3; [0-9]+ s at most" \
    '... with a line per statement and the longest time'
like "$text" 'policy.conf:3: .* bob has 12 gres/gpu at once, and not 13;' '... keys in any case'
like "$text" 'policy.conf:6: .* a job of bob takes the place of one of alice in 30 s;' '... continued lines'
like "$text" '^6 statements on 4 nodes, [0-9]+ minutes at most$' '... and the total time'
is "$(verify --dry-run "$dir/policy.conf")" "$text" 'a file given as argument'
cp -r "$top_srcdir/tests/fixtures/policy/qos" "$dir/copy" && chmod -R u+w "$dir/copy"
echo 'Include /not/saved.conf' >>"$dir/copy/slurm.conf"
is "$("$muster" policy verify --from "$dir/copy" --dry-run 2>&1)" "$text" 'a slurm.conf that is not all there is no error'
rm "$dir/copy/qos"
is "$("$muster" policy verify --from "$dir/copy" --dry-run 2>&1 >/dev/null)" \
    "muster policy: accounting: $dir/copy/qos: No such file or directory" 'QOS that are not known are named with the reason'
like "$(verify)" '^muster policy: verify reads --from a directory for --dry-run only$' 'recorded text starts no job'
like "$("$muster" policy check --dry-run 2>&1)" '^muster policy: --dry-run and --nodes are for verify$' \
    '--dry-run with check is refused'
text=$(verify --dry-run --json)
is "$? ${text%%$'\n'*}" '2 muster policy: --dry-run and --json are mutually exclusive' '--dry-run with --json is refused'
text=$(verify --dry-run --nodes n9)
is "$? $text" '3 muster policy: n9: no such node' 'an unknown node'
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    cp -L "$muster" "$dir/muster" && chmod -R a+rX "$dir"
    text=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups env MUSTER_CONF="$MUSTER_CONF" \
        "$dir/muster" policy verify "$dir/policy.conf" 2>&1)
    is "$? $text" '3 muster policy: needs root to submit jobs of the test users; --dry-run does not' \
        'another user than root is refused in one line'
fi

# the documents
kinds=$("$muster" policy verify --kinds)
is "$(sed -n 's/^- `\([a-z-]*\)`: .*/\1/p' "$top_srcdir/doc/policy.md" | xargs)" \
    "$(cut -d' ' -f1 <<<"$kinds" | xargs)" 'doc/policy.md has the codes'
sed 's/^#\([A-Z]\)/\1/' "$top_srcdir/etc/policy.conf" >"$dir/policy.conf"
text=$(verify --dry-run)
is "$?" 0 'the example is valid' || diag "$text"
for keyword in Limit Priority Preempt Wait Reserved Certified; do
    like "$text" ": $keyword=" "... with $keyword="
done
is "$(grep -cE '^[^#]' "$top_srcdir/etc/policy.conf")" 0 '... and all its lines are comments'
done_testing
