#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# kill -9 of muster certify at any moment leaves no job, no drained healthy node, no reservation, no
# half-written certificate; a signal that can be caught ends it cleanly. Nor does kill -9 of any other
# process of a run, on the head or on a node.
. "$(dirname "$0")/certify.sh"

# Runs certify and sends it a signal after SECONDS, or once STAGE is under way. Sets $status and $output. The
# background processes of a shell ignore SIGINT, which muster leaves so.
interrupted() { # SIGNAL SECONDS|STAGE
    local moment="sleep $2"
    [[ $2 == [0-9]* ]] || moment="until grep -q '^  $2 ' '$work/output'; do sleep 0.1; done"
    rm -f "$work/output"
    status=0
    lab run sh -c "env --default-signal=INT '$muster' certify --json '$work/records' >'$work/output' 2>&1 & pid=\$!
        $moment; kill -$1 \$pid; wait \$pid" 2>/dev/null || status=$?
    output=$(cat "$work/output")
}

whole_certificates() {
    local node
    for node in n1 n2 n3 n4; do
        if lab on $node test -e /var/lib/muster/certificate; then
            lab on $node env SLURMD_NODENAME=$node "$muster" certificate verify || return 1
        fi
    done >/dev/null 2>&1
    [ -z "$(for node in n1 n2 n3 n4; do lab on $node find /var/lib/muster -name 'certificate?*'; done)" ]
}

delays=(0.03 0.09 0.2 0.8 2.5 4.2)
[ -z "${MUSTER_LONG-}" ] || delays+=(0.01 0.06 0.12 0.4 1.5 3.5 4.4 4.6)
for delay in "${delays[@]}"; do
    interrupted KILL $delay
    ok "killed after $delay s (status $status): nothing is left" within 60 nothing_left
    is_within 60 'n1 idle n2 idle n3 idle n4 idle' 'all nodes are idle' states
    ok 'existing certificates are complete' whole_certificates
done

# Runs certify, and kills all processes on HOST that match PATTERN, SECONDS after the first appears. Sets $seen
# if there were any.
kill_others() { # HOST PATTERN SECONDS [OPTION...]
    local pid
    "$lab_dir/lab" -L "$name" run "$muster" certify --json "$work/records" "${@:4}" >"$work/output" 2>&1 </dev/null &
    pid=$!
    within 200 lab on "$1" pgrep -f "$2"
    sleep "$3"
    seen=
    ! lab on "$1" pkill -KILL -f "$2" || seen=yes
    status=0
    wait $pid || status=$?
}

try_others() { # HOST PATTERN SECONDS [OPTION...]
    kill_others "$@"
    like "$status $(verdicts)" '^[03] n1 (pass|unknown) n2 (pass|unknown) n3 (pass|unknown) n4 (pass|unknown)$' \
        "$2 of $1 ${seen:+killed after $3 s}: nobody fails" || show
    ok '... nothing is left' within 60 nothing_left
    is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' '... and all nodes are idle'
    ok '... existing certificates are complete' whole_certificates
}

try_others head '^srun.*muster-launch' 0
try_others n2 '^slurmstepd' 0
if [ -n "${MUSTER_LONG-}" ]; then
    for delay in 0 0.3 1; do
        try_others head '^srun' $delay
        try_others n2 '^slurmstepd' $delay
        try_others n2 'muster check' $delay
        for program in launch links collectives; do
            try_others head "^srun.*muster-$program" $delay
            try_others n2 "muster-$program" $delay
        done
        try_others n2 muster-train $delay --level standard
    done
fi

ours='muster: links eth1 9 of 200 Mb/s 2026-01-01'
delays=(0.06 0.3 2 4)
[ -z "${MUSTER_LONG-}" ] || delays+=(0.03 0.1 1 3)
for delay in "${delays[@]}"; do
    lab run scontrol update nodename=n2 state=drain "reason=$ours"
    interrupted KILL $delay
    ok "killed after $delay s with a drain to test again: nothing is left" within 60 nothing_left
    case "$(states)" in
    'n1 idle n2 drained n3 idle n4 idle') is "$(reason n2)" "$ours" 'the drain is restored' ;;
    *) is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'n2 had passed and is released' ;;
    esac
done
resume n2

# Kills certify and its keeper during the battery's job, while the drained node is in the run's reservation.
killed_with_keeper() {
    certify_until '^estimate for'
    lab run pkill -KILL muster
    wait $pid
}

# If both the run and its keeper are killed, the next run cleans up.
lab run scontrol update nodename=n2 state=drain "reason=$ours"
killed_with_keeper
isnt "$(journals)" '' 'with its keeper killed too a run leaves its journal'
certify --dry-run -w n1,n2
like "$output" 'cleaning up after run 20' 'the next run cleans up after it'
is "$(states) $(reason n2)" "n1 idle n2 drained n3 idle n4 idle $ours" 'the nodes are as before' || show
ok 'nothing is left' within 60 nothing_left
resume n2

# Another head has no journal of the run: the mark at the node and the reservation are enough to clean up.
lab run scontrol update nodename=n2 state=drain "reason=$ours"
lab run scontrol update nodename=n2 comment='rack 7'
killed_with_keeper
lab run sh -c 'scancel -u root; scancel -u muster'
within 60 no_jobs
lab run sh -c 'rm /var/lib/muster/runs/*'
like "$(lab run scontrol -o show reservation)" 'muster-20.* Duration=365-' \
    'with its journal gone too the reservation stays, and does not end by itself'
certify -p none
like "$output" 'cleaning up after run 20.*, whose job is gone' 'a run on another head cleans up after it'
is "$(states) $(reason n2)" "n1 idle n2 drained n3 idle n4 idle $ours" 'the drain is restored' || show
like "$(lab run scontrol -o show node n2)" 'Comment=rack 7( |$)' "and the site's comment"
ok 'nothing is left' within 60 nothing_left
resume n2

for signal in INT TERM HUP; do
    interrupted $signal check
    is "$status" 3 "$signal: exit status 3" || show
    ok 'nothing is left at once' nothing_left
    like "$output" 'stopped by signal' 'it says why it ended'
    is "$(grep -Ec '^n[1-4] +unknown' "$work/output")" 4 'and prints a table, with all nodes unknown' || show
done
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'all nodes are idle'

# The progress of a campaign is in the history of its runs, so it survives when certify is killed.
progress() { lab run "$muster" history --campaigns spring --json 2>/dev/null | jq -r .message; }
progresses() { [ "$(progress)" = "$1" ]; }

lab run sh -c "'$muster' certify --campaign spring -w 'n[1-3]' --nodes-at-a-time 2 >/dev/null 2>&1 & echo \$!" >"$work/pid"
ok 'a campaign certifies a first group' within 120 progresses '2 of 3 nodes certified (quick), 1 left' || progress
lab run sh -c "kill -9 $(cat "$work/pid")"
certify --campaign spring
is "$status" 0 'killed and started again, it continues' || show
is "$(verdicts)" 'n1 pass n2 pass n3 pass' '... with the node that is left, and certified nodes as partners' || show
valid '... every record is as doc/records.md says'
like "$output" 'n\[1-2\] tested as partners' '... as the output says'
like "$output" 'campaign spring: 3 of 3 nodes certified \(quick\); complete' '... and completes'
is "$(jq -r 'select(.test == "campaign" and .metric == "certified") | "\(.part) \(.value) \(.limit)"' "$work/records" | tail -n 1)" \
    'spring 3 3' '... and in the last of its records'
like "$(lab run "$muster" history --campaigns spring)" '^certified: n\[1-3\]$' 'history lists the nodes'
certify --campaign spring --level standard
is "$status" 2 'another level is another campaign'
certify --campaign spring
is "$status $(cat "$work/records")" '0 ' 'started once more, it has nothing to do'
ok 'nothing is left' within 60 nothing_left
if [ -n "${MUSTER_LONG-}" ]; then
    lab run sh -c 'sbatch -w n2 -o /dev/null --wrap "sleep 1000"' >/dev/null
    ok 'a job has a node' within 60 has_jobs -w n2 -t running
    lab run sh -c "env --default-signal=INT '$muster' certify --campaign autumn -w 'n[1-3]' >'$work/output' 2>&1 & echo \$!" >"$work/pid"
    ok 'it waits for a busy node' within 120 grep -q 'waiting until 1 busy node' "$work/output"
    lab run sh -c "kill -INT $(cat "$work/pid")"
    ok 'a signal ends it' within 60 grep -q 'next: muster certify --campaign autumn' "$work/output"
    lab run scancel -u root
    certify --campaign autumn
    is "$status" 0 'it continues once the node is free' || show
    like "$output" 'campaign autumn: 3 of 3 nodes certified \(quick\); complete' '... and completes'
    for delay in 1 3 5 7 9 11; do
        lab run sh -c "'$muster' certify --campaign winter --nodes-at-a-time 2 >/dev/null 2>&1 & sleep $delay; pkill -9 muster"
    done 2>/dev/null
    certify --campaign winter --nodes-at-a-time 2
    is "$status" 0 'killed with its keepers, again and again, it completes' || show
    like "$output" 'campaign winter: 4 of 4 nodes certified \(quick\); complete' '... with all nodes'
fi
done_testing
