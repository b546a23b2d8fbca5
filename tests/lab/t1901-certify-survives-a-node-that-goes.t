#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A node that freezes, is cut off, loses its power or its slurmd in mid-run is named; the others are
# certified and idle at once, and the healed node passes. A node that reboots is reported, and not certified.
. "$(dirname "$0")/certify.sh"

level=quick
[ -z "${MUSTER_LONG-}" ] || level=standard

# Runs certify, and injects FAULT once STAGE is over.
certify_with() { # STAGE FAULT NODE
    rm -f "$work/output"
    "$lab_dir/lab" -L "$name" run "$muster" certify --json "$work/records" --level "$level" \
        >"$work/output" 2>&1 </dev/null &
    local pid=$!
    within 200 grep -q "^  $1 " "$work/output"
    sleep 0.5
    lab fault "$2" "$3" >/dev/null
    status=0
    wait $pid || status=$?
}

try() { # LAST-STAGE FAULT NODE PART
    local others
    others=$(tr ' ' '\n' <<<'n1 n2 n3 n4' | grep -v "$3")
    certify_with "$1" "$2" "$3"
    if is_unsettled; then
        lab heal >/dev/null
        resume "$3"
        certify_with "$1" "$2" "$3"
    fi
    is "$status $(verdicts)" "1 $(for node in n1 n2 n3 n4; do
        [ $node = "$3" ] && echo "$node fail" || echo "$node pass"
    done | xargs)" "$2 after $1: $3 fails, the others pass" || show
    valid 'the records are valid'
    like "$(failures_of "$3")" "$4" "the part is named: $4"
    ok 'no job is left' within 30 no_jobs # Slurm itself gives up a node after 120 s
    is "$(sinfo_nodes -n "$(xargs <<<"$others" | tr ' ' ,)" -o %T | sort -u)" idle \
        'the others are idle'
    like "$(reason "$3")" '^muster: (node_unreachable|node_frozen) ' "$3 is drained"
    lab heal >/dev/null
    if lab on "$3" test -e /var/lib/muster/certificate; then
        # the run could not remove it; slurmd's health check does, before somebody resumes the node or after
        local why='the node was drained after its issue: muster: (node_unreachable|node_frozen) '
        if [ "$3" = n1 ]; then
            resume "$3"
            why='revoked while the node was unreachable'
        fi
        lab on "$3" muster check --health >"$work/health" 2>&1 || :
        like "$(cat "$work/health")" "certificate removed, $why" 'at the next contact it loses its certificate'
        unlike "$(certificates)" "$3" 'the certificate is gone'
        unlike "$(lab run scontrol show node "$3")" Comment= 'and its Comment is as it was'
    fi
    resume "$3"
}

sent_bytes() { lab on "$1" cat /sys/class/net/eth1/statistics/tx_bytes; } # NODE
has_sent() { [ "$(sent_bytes "$1")" -gt "$2" ]; } # NODE BYTES

# Runs certify while muster-links of a node is killed once, is killed whenever it has run for two seconds, or
# is stopped then.
kill_process() { # NODE once|always|stopped
    rm -f "$work/output"
    "$lab_dir/lab" -L "$name" run "$muster" certify --json "$work/records" >"$work/output" 2>&1 </dev/null &
    local pid=$! killer='' signal=KILL before
    [ "$2" != stopped ] || signal=STOP
    within 200 grep -q '^  launch ' "$work/output"
    if [ "$2" = once ]; then
        # in the links' own phase, after the start of MPI
        within 200 lab on "$1" pgrep -x muster-links
        before=$(sent_bytes "$1")
        within 200 has_sent "$1" $((before + 4000000))
        lab on "$1" pkill -KILL -x muster-links || diag "no process of $1 was there to be killed"
    else
        "$lab_dir/lab" -L "$name" on "$1" sh -c 'for i in $(seq 150); do
            pkill -$0 --older 2 -x muster-links; sleep 0.2; done' "$signal" >/dev/null 2>&1 &
        killer=$!
    fi
    status=0
    wait $pid || status=$?
    [ -z "$killer" ] || kill $killer
}

try check frozen n3 'frozen'
[ -z "${MUSTER_LONG-}" ] || try launch frozen n2 'frozen'
try launch cut-off n4 'frozen or cut off|network'
[ -z "${MUSTER_LONG-}" ] || try check powered-off n2 'network'
try links slurmd-killed n1 'slurmd'
lab fault slow-rail n2 eth1 >/dev/null
certify_with links slurmd-killed n1
is "$status $(verdicts)" '1 n1 fail n2 fail n3 pass n4 pass' \
    'a slow rail is measured again without the lost node: nobody is unknown' || show
like "$(failures_of n2)" 'eth1' '... and the slow rail is named'
lab heal >/dev/null
resume n1
resume n2
certify_settled
is "$status $(states)" '0 n1 idle n2 idle n3 idle n4 idle' 'healed, all four pass' || show
lab on n2 sh -c 'echo 0 >/dev/shm/left; ipcmk -M 4096' >/dev/null
certify_with launch rebooted n2
is "$(lab on n2 sh -c 'ls /dev/shm; grep -c . /proc/sysvipc/shm')" 1 'a reboot clears shared memory'
like "$status $(verdicts)" '^3 .*n2 unknown' 'a node that reboots in mid-run is unknown' || show
like "$(cat "$work/output")" 'n2 rebooted during this run' '... and the output says so'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' '... and nobody is drained' || show
ok '... and nothing is left' within 60 nothing_left
lab heal >/dev/null
kill_process n2 once
is "$status $(verdicts)" '3 n1 pass n2 unknown n3 pass n4 pass' 'a process killed once: unknown' || show
like "$(cat "$work/output")" 'n2 .* died in phase links.*did not recur alone with n[134]: suspect' 'it was measured again alone'
is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'nobody is drained'
if [ -n "${MUSTER_LONG-}" ]; then
    kill_process n2 always
    like "$status $(verdicts)" '^1 .*n2 fail' 'a node whose process dies each time fails' || show
    like "$(reason n2)" '^muster: process_died rank\+[0-9]+ .* died in phase .*, recurred alone with n[134]' 'and is drained'
    is "$(certificates | grep -c n2)" 0 'and loses its certificate'
    resume n2
    kill_process n2 stopped
    like "$status $(verdicts)" '^3 .*n2 unknown' 'a node whose process is stopped while its slurmd answers is unknown' || show
    is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' '... and nobody is drained'
fi
ok 'and Slurm starts a job on all four' \
    lab run timeout 60 srun -N4 -w 'n[1-4]' --exclusive true
done_testing
