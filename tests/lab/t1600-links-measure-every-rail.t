#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-links: every pair and rail in both directions, at the speed that the lab gave them.
. "$(dirname "$0")/battery.sh"

all_directions=$(for a in 1 2 3 4; do
    for b in 1 2 3 4; do
        [ $a = $b ] || printf 'n%d eth%d n%d\n' $a 1 $b $a 2 $b
    done
done | sort)

battery 1 muster-links --floor 80
is "$status" 0 'a healthy fabric passes'
is "$stderr_text" '' '... with nothing on standard error'
valid 'healthy'
for metric in bandwidth latency path; do
    is "$(record_fields ".metric == '$metric'" .node .part .peer | sort)" "$all_directions" \
        "$metric of every pair, rail and direction, once"
done
is "$(record_fields '.metric == "bandwidth" and .value > 200' .node .part .peer .value)" '' \
    'no bandwidth is above the 200 Mb/s of the rail'
is "$(record_fields '.metric == "bandwidth" and not .low <= .value <= .high' .node .part .peer)" '' \
    '... and each lies in its interval'
is "$(record_fields '.metric == "latency" and not 0 < .low <= .value <= .high' .node .peer)" '' \
    'latencies: least, median, greatest'
is "$(record_fields '.metric == "path" and not (.value >= .limit > 1e6)' .node .part .message)" '' \
    'the NIC counted what was sent'
like "$(record_fields '.metric == "path" and .part == "eth2"' .message | sed 1q)" \
    '^tcp/eth2, MTU 9000 end to end: [0-9.]+ MB sent, eth2 counted' 'the transport is named'

# A busy machine lowers figures and never raises them: takes the best of a few runs.
for _ in 1 2 3 4 5 6; do
    record_fields '.metric == "bandwidth" and .value >= 190' .node .part .peer >>"$work/good"
    [ "$(sort -u "$work/good")" != "$all_directions" ] || break
    battery 1 muster-links
done
is "$(sort -u "$work/good")" "$all_directions" 'every bandwidth is within 5 % of it'

battery 2 muster-links --quick
is "$status" 0 'quick, with a second rank on each node that waits'
is "$(record_fields '.metric == "bandwidth"' .node .part .peer | sort)" "$all_directions" '... measures all too'
# after a pause the rail's token bucket lets 40 KB through at once, beside the 1 MB of a sample
is "$(record_fields '.metric == "bandwidth" and .value > 212' .node .part .peer .value)" '' '... none above the real speed'
ok '... and most not far below' \
    [ "$(record_fields '.metric == "bandwidth" and .value >= 150' .node | wc -l)" -gt 12 ]

battery 1 muster-links --quick --pairs n1:n3+n4:n2 --rails eth2
is "$(record_fields '.metric == "bandwidth"' .node .part .peer | sort | xargs)" \
    'n1 eth2 n3 n2 eth2 n4 n3 eth2 n1 n4 eth2 n2' '--pairs and --rails: only those'
is "$(record_fields '.metric == "rounds"' .value)" 1 '... both at once, as the plus sign requests'
cat >"$work/muster-timed" <<'END'
#!/bin/bash
TIMEFORMAT='%U %S %R'
time "${0%timed}links" "$@"
END
chmod 755 "$work/muster-timed"
battery 1 muster-timed --pairs n1:n3,n1:n3,n1:n3 --rails eth2
is "$(record_fields '.metric == "rounds"' .value)" 3 'a pair again and again'
is "$(awk '{ print ($1 + $2 < $3 / 2) ? "sleeps" : "polls for " $1 + $2 " of " $3 " s" }' "$work/stderr" | xargs)" \
    'sleeps sleeps sleeps sleeps' '... whose streams sleep most of the time, as do ranks that wait'
processor=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/') # the first one allowed
printf '#!/bin/sh\nexec taskset -c %s "${0%%squeezed}links" "$@"\n' "$processor" >"$work/muster-squeezed"
chmod 755 "$work/muster-squeezed"
for i in 1 2 3; do # each in a session of its own, which gets as much processor time as the ranks
    setsid taskset -c "$processor" timeout 100 sh -c 'while :; do :; done' &
    busy[i]=$!
done
battery 1 muster-squeezed --quick --passes pairs --rails eth1
kill "${busy[@]}"
ok 'on a busy processor pauses are reported, also of latencies' \
    [ "$(record_fields '.metric == "latency" and .value > 100 and (.stalled or 0) > 0.5' .node | wc -l)" -gt 0 ]
is "$(record_fields '.metric == "latency" and (.low or 0) * (1 - (.stalled or 0)) > 100' .node .peer .low .stalled)" '' \
    '... and do not count as latency of the link'
battery 1 muster-links --quick --pairs n1:n3,n4:n2+n3:n2 --rails eth2
is "$status" 3 'a node in two pairs at once cannot be measured'
like "$records" 'n2 is in two simultaneous pairs' '... and is named'
battery 1 muster-links --quick --pairs n1:n9
is "$status" 3 'a pair with a node that takes no part cannot be measured'
like "$records" 'expected two different nodes that take part' '... and it says why'
battery 1 muster-links --quick --rounds 1
is "$(record_fields '.metric == "bandwidth"' .node .peer | sort -u | wc -l)" 4 '--rounds 1: two pairs, both ways'
battery 1 muster-links --quick --rounds 1 --concurrency 1 --rails eth1
is "$(record_fields '.metric == "bandwidth"' .round | sort | uniq -c | awk '{ print $1 }' | xargs)" '2 2' \
    '--concurrency 1: one pair after the other, as the records say'
like "$(record_fields '.metric == "rounds"' .message)" '^1 of 1 rounds' '... in one round'
battery 1 muster-links --quick --passes bisection --concurrency 1
like "$status $(record_fields '.verdict == "unknown"' .message)" '^3 bisection needs all pairs at once' '... a bisection, which needs all pairs at once, is not measured'
battery 1 muster-links --quick --rounds 1 --times 2
is "$(record_fields '.metric == "bandwidth" and .part == "eth1"' .node .peer | sort | uniq -c | awk '{ print $1 }' | xargs)" \
    '2 2 2 2' '--times 2: all of them twice'
like "$(record_fields '.metric == "rounds"' .message)" '^2 of 2 rounds' '... in two rounds'
battery 1 muster-links --time-limit 3 --repeats 64
is "$status" 3 'a time limit that is too short'
like "$(record_fields '.verdict == "unknown"' .message)" 'time limit of 3 s reached' '... is reported'
within_s 9 '... and kept'
ok '... no process is left' within 60 has_no_process muster-
done_testing
