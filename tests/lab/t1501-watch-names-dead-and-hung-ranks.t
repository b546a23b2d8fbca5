#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rank that dies, hangs or freezes is named with its node, and srun returns.
. "$(dirname "$0")/battery.sh"

named() { # METRIC NODE PART
    is "$(record_fields '.verdict == "fail"' .metric .node .part)" "$1 $2 $3" "... $3 on $2 and nobody else"
    is "$(record_fields '.verdict == "unknown"' .metric)" complete '... and that the rest was not measured'
    valid '...'
    ok '... no process is left' within 60 has_no_process muster-
}

for program in muster-launch 'muster-links --quick' muster-collectives; do
    # shellcheck disable=SC2086 # words
    battery 2 $program --inject die:4
    is "$status" 137 "$program: a rank dies"
    within_s 8 '... srun returns'
    named died n3 'rank 4'
done
like "$(record_fields '.verdict == "fail"' .message)" '^rank 4 on n3 died in phase [a-z]' '... its phase is named'

battery 2 muster-collectives --quick --inject die:6@bcast
named died n4 'rank 6'

battery 2 muster-collectives --quick --inject die:6@MPI_Finalize
is "$(record_fields '.verdict in ("fail", "unknown")' .metric)" '' 'a rank that dies after all measurements: no node fails'
like "$(record_fields '.metric == "died"' .verdict .node .message)" \
    '^warn n4 rank 6 on n4 died in phase MPI_Finalize, after all results' '... it is named'

battery 2 muster-launch --time-limit 8 --inject 'hang:3@messages round 2'
is "$status" 1 'a rank hangs'
within_s 10 '... srun returns'
named hang n2 'rank 3'
like "$(record_fields '.verdict == "fail"' .message)" 'hangs in phase messages round 2' '... its phase is named'

battery 2 muster-collectives --time-limit 8 --inject 'hang:0@bcast'
is "$status" 1 'rank 0 hangs'
named hang n1 'rank 0'

battery 2 muster-collectives --inject freeze:5
within_s 12 'a rank freezes, srun returns'
named frozen n3 'rank 5'

battery 1 muster-collectives --inject die:0
like "$stderr_text" 'rank 1 on n2: rank 0 on n1 is gone; exiting' 'rank 0 dies: the others say so'
within_s 8 '... srun returns'
ok '... no process is left' within 60 has_no_process muster-

battery 1 muster-collectives --inject freeze:0
like "$stderr_text" 'rank 1 on n2: rank 0 on n1 stopped answering; exiting' \
    'rank 0 freezes: the others say so'
within_s 12 '... srun returns'
ok '... no process is left' within 60 has_no_process muster-

measures_long() { as_muster srun -N4 "$work/muster-links" --json --repeats 64 >"$work/records" 2>/dev/null </dev/null; }
begin_beside '"latency"' "$work/records" measures_long
lab run scancel --signal=TERM -u muster --state=R 2>/dev/null
status=0
wait $beside || status=$?
is "$(record_fields '.verdict in ("fail", "unknown")' .verdict .metric)" 'unknown complete' \
    'SIGTERM: the rest is unknown, and no node fails'
like "$records$(cat "$work/records")" 'stopped by SIGTERM' '... it says why'
ok '... no process is left' within 60 has_no_process muster-

# Slow is not hung: the main thread of a rank gets hardly any processor time, for longer than half the limit,
# after which a hang is reported. The busy loops are in its session, where the kernel weighs them (autogroup).
cat >"$work/slowly" <<'END'
#!/bin/sh
if [ "$(hostname)" = n3 ]; then
    (
        sleep 1.5
        for loop in $(seq $((2 * $(nproc)))); do
            setpriv --pdeathsig KILL sh -c 'while kill -0 $1; do :; done' - $$ &
        done
        chrt -i -p 0 $$
        while kill -0 $$; do sleep 0.1; done
    ) >/dev/null 2>&1 &
fi
exec "$@"
END
chmod +x "$work/slowly"
battery 1 slowly "$work/muster-collectives" --time-limit 10
like "$status" '^[03]$' 'a rank without a processor: passed or unknown'
is "$(record_fields '.verdict == "fail"' .node .part .metric .message)" '' '... slow is not hung'

# SIGTERM ends a program in any phase, even with a rank that hangs.
hangs() { # PROGRAM RANK@PHASE
    MUSTER_PROGRESS=1 as_muster srun -N4 "$work/$1" --inject "hang:$2" --json --time-limit 60 >"$work/records" \
        2>"$work/stderr" </dev/null
}
is_ended() { # PROGRAM RANK@PHASE: a rank hangs there
    begin_beside muster-progress "$work/stderr" hangs "$@" # past MPI's start
    sleep 0.5
    begin=$EPOCHREALTIME
    lab run scancel --signal=TERM -u muster --state=R 2>/dev/null
    status=0
    wait $beside || status=$?
    seconds=$(awk "BEGIN { print $EPOCHREALTIME - $begin }")
    within_s 3 "SIGTERM ends $1 that hangs, and srun returns"
    is "$(record_fields '.verdict == "fail"' .message)" '' '... no node fails'
}
is_ended muster-launch 1@messages
is_ended muster-collectives 0@bcast
is_ended muster-links '2@links pairs round 2'
done_testing
