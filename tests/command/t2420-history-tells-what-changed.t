#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster history: trends of a node and of a part, when they began, and what changed between two runs.
. "$(dirname "$0")/command.sh"
needs muster tests/history-add

add=$top_builddir/tests/history-add
export LC_ALL=C.UTF-8
echo "HistoryFile=$dir/history.db" >"$dir/conf"
history() { "$muster" history --config "$dir/conf" "$@"; }

fact() { # NODE PART NAME VALUE
    printf '{"time":1,"suite":"check","test":"host.config","node":"%s","part":"%s","metric":"%s","message":"%s"}\n' "$@"
}
link() { # FROM TO MBPS
    printf '{"time":1,"suite":"links","test":"links","node":"%s","part":"eth1","metric":"bandwidth","peer":"%s","value":%s,"unit":"Mb/s"}\n' "$@"
}
verdict() { # NODE VERDICT MESSAGE
    printf '{"time":1,"suite":"certify","test":"certify","node":"%s","verdict":"%s","message":"%s"}\n' "$@"
}
run() { # NUMBER MBPS-OF-n2 FIRMWARE KERNEL VERDICT-OF-n2 MESSAGE
    for node in n1 n2 n3; do
        fact "$node" '' kernel "$4"
    done
    fact n1 eth1 firmware 1.0
    fact n2 eth1 firmware "$3"
    link n1 n3 $((195 + $1 % 3))
    link n3 n1 196
    link n2 n1 "$2"
    link n1 n2 "$2"
    verdict n1 pass ''
    verdict n2 "$5" "$6"
    verdict n3 pass ''
}
for i in 1 2 3 4 5 6; do
    run $i $((190 + i)) 1.0 6.1.0 pass '' | "$add" "$dir/history.db" "2026-r$i" $((1700000000 + 86400 * i))
done
run 7 100 2.0 6.1.0 fail 'eth1 100 of 200 Mb/s' | "$add" "$dir/history.db" 2026-r7 $((1700000000 + 86400 * 7))
run 8 98 2.0 6.1.2 fail 'eth1 98 of 200 Mb/s' | "$add" "$dir/history.db" 2026-r8 $((1700000000 + 86400 * 8))

text=$(history)
like "$text" '^n2 +2023-11-22 22:13 +FAILED +2023-11-21 22:13 ' 'the time since when a node fails'
text=$(history n2)
is "$(grep -c '^n2 .*FAILED' <<<"$text")" 2 'the runs of a node'
like "$text" '^n2 +eth1 +bandwidth +██████?[▇█]?.*[▄▅][▄▅] +8 +98 Mb/s +[0-9.]+ +worse since 2023-11-21 22:13, 193.5 before$' \
    '... its figures, the time since when it is worse, the value before'
like "$text" '^2023-11-21 22:13 +eth1 firmware: 1.0 -> 2.0$' '... what changed on it, and when'
like "$text" '^2023-11-22 22:13 +kernel: 6.1.0 -> 6.1.2$' '... each change'
like "$(history n1)" '^n1 +eth1 +bandwidth .* -$' 'noise is not a change'
cp "$dir/history.db" "$dir/kept.db"
is "$(history --accept n2 eth1 -m 'new cable')" 'n2 eth1: results of earlier runs are ignored from now on' \
    '--accept accepts a repaired part'
text=$(history n2)
like "$text" '^n2 +eth1 +bandwidth .* -$' '... it no longer counts as worse'
like "$text" '^20[0-9-]+ [0-9:]+ +eth1 accepted as it is now: new cable$' '... and its history has the reason'
records_hold '... in records that match the schema' < <(history --json n2)
is "$(history --accept n9 2>&1; echo $?)" "muster history: no run of muster certify contains n9 in $dir/history.db
2" 'an unknown node is refused'
history --accept >/dev/null 2>&1
is $? 2 '--accept without a node is refused'
history -m why n2 >/dev/null 2>&1
is $? 2 '-m without --accept is refused'
history --days 7 n2 >/dev/null 2>&1
is $? 2 '--days without --offenders or --value is refused'
mv "$dir/kept.db" "$dir/history.db"
text=$(history eth1)
like "$text" '^n3 +eth1 +sends ' 'a part of all nodes'
like "$text" '^n2 +eth1 +sends .*worse since 2023-11-21' '... with the node that has become worse'
text=$(history n2 eth1)
unlike "$text" '^n[13] ' 'a part of one node'
like "$text" '^n2 +eth1 +receives ' '... in each direction'
like "$(LC_ALL=C history n2 eth1)" '^n2 +eth1 +sends +[0-9]{8} ' 'digits instead of blocks in the locale C'
like "$(history -n 2 n2 eth1)" '^n2 +eth1 +sends +[^ ]{2} +2 ' '-n limits the number of runs'

text=$(history --diff 2026-r6 2026-r8)
is "$?" 0 '--diff of two runs: status 0'
like "$text" '^before  2026-r6  2023-11-20 22:13, quick$' '... which runs'
like "$text" '^n2 +certified +FAILED +eth1 98 of 200 Mb/s$' '... a verdict'
like "$text" '^n2 +eth1 +sends +196 +98 Mb/s +-50 %$' '... a figure'
unlike "$text" '^n1 +eth1 +sends' '... but none that changed within noise'
like "$text" '^n\[1-3\] +kernel +6.1.0 +6.1.2$' '... a fact of several nodes in one line'
like "$text" '^n2 +eth1 firmware +1.0 +2.0$' '... and one of one node'
like "$(history --diff previous last)" '^n\[1-3\] +kernel' 'runs named previous and last'
unlike "$(history --diff previous last)" 'firmware' '... earlier changes are not shown'
like "$(history --diff 2026-r1 2026-r2)" 'nothing changed' 'nothing changed between two runs'
unlike "$(history --diff 2026-r6 2026-r8 n1)" 'n2' '--diff of one node'
is "$(history --diff 2026-r8 last | tail -1)" 'both are the same run' '--diff of a run with itself'
is "$(history --diff 2026-r6 2026-r8 n9 2>&1 >/dev/null; echo $?)" 'muster history: neither run had node n9
2' 'a node in neither run is refused'
text=$(history --diff 2026 last 2>&1)
is "$?" 2 'an ambiguous prefix of runs is a usage error'
like "$text" "several runs start with '2026'" '... with the reason'
text=$(history --diff last frob 2>&1)
is "$?" 2 'so is an unknown run'
like "$text" "no run 'frob' in" '... which is named'
history --diff last 2>/dev/null
is "$?" 2 '--diff with one run is refused'
like "$(history frob 2>&1)" 'no run of muster certify on frob in' 'a name that is neither a node nor a part is refused'

for words in '' n2 eth1 '--diff 2026-r6 2026-r8'; do
    # shellcheck disable=SC2086 # words
    records_hold "history $words: the records are of the schema" < <(history --json $words)
done

# many runs, long names and long facts are printed completely
rm -f "$dir/history.db"*
long=$(printf 'x%.0s' {1..200})
for i in {1..70}; do
    {
        for node in n1 n2; do
            fact $node '' modules "$long$long$long a $((i > 3))"
            verdict $node pass ''
        done
        printf '{"time":1,"suite":"collectives","test":"collectives.speed","part":"%s","metric":"busbw","value":%s,"unit":"GB/s"}\n' \
            "$long" $((i > 69 ? 5 : 9))
    } | "$add" "$dir/history.db" "run-$i" $((1700000000 + 3600 * i))
done
like "$(history --runs 100 n1)" '^20[0-9-]+ [0-9:]+ +modules: ' 'a change 67 runs ago is shown'
text=$(history --diff run-1 last)
is "$(grep -c '^n\[1-2\] *modules ' <<<"$text")" 1 'long facts of several nodes in one line'
is "$(grep -c " busbw *9 *5 GB/s *-44 %$" <<<"$text")" 1 'a figure of a part with a long name'

# repeated failures: eth1 of n2 fails, is repaired and fails again; that of n3 fails in consecutive runs
now=$(date +%s)
failing() { # RUN DAYS-AGO VERDICT-OF-n2 VERDICT-OF-n3
    printf '{"time":1,"suite":"certify","test":"certify","node":"%s","part":"eth1","verdict":"%s","message":"x"}\n' \
        n2 "$3" n3 "$4" | "$add" "$dir/offenders.db" "$1" $((now - 86400 * $2))
}
echo "HistoryFile=$dir/offenders.db" >"$dir/offenders"
offenders() { "$muster" history --config "$dir/offenders" --offenders "$@"; }
like "$(offenders 2>&1)" 'no run failed a node in the last 90 days' 'no node failed'
failing o1 200 fail pass
failing o2 80 fail pass
failing o3 70 pass fail
failing o4 60 fail fail
failing o5 50 pass fail
text=$(offenders)
is "$(awk 'NR > 1 { print $1, $2, $3, $4, $5 }' <<<"$text" | paste -sd,)" \
    'n2 - 2 2 4,n2 eth1 2 2 4,n3 - 1 0 1,n3 eth1 1 0 1' 'faults and repairs of nodes and parts, ordered by score'
"$muster" history --config "$dir/offenders" --accept n3 -m 'new NIC' >/dev/null
is "$(offenders --days 65 --json | grep -o '"node":"n[23]"\|"value":[0-9]*' | cut -d: -f2 | tr -d '"' | xargs)" \
    'n2 2 n2 2 n3 2 n3 2' '... within fewer days, and with accepted parts as repairs'
records_hold '... in records that match the schema' < <(offenders --json)

# the time and the findings of stages
stage() { # NAME SECONDS TESTED FOUND
    printf '{"time":%s,"suite":"certify","test":"stage","part":"%s","metric":"%s","value":%s,"unit":"%s"}\n' \
        "$now" "$1" stage_seconds "$2" s "$now" "$1" nodes_tested "$3" count "$now" "$1" nodes_failed "$4" count
}
echo "HistoryFile=$dir/values.db" >"$dir/values"
values() { "$muster" history --config "$dir/values" --value "$@"; }
like "$(values 2>&1)" 'no run of the last 90 days' 'no stage has run'
for i in 1 2; do
    { stage check 1 9 1; stage links 36 8 $i; stage host 360 8 0; } | "$add" "$dir/values.db" "v$i" "$now"
done
stage links 9 8 8 | "$add" "$dir/values.db" v3 $((now - 86400 * 100))
is "$(values | tail -n +2 | tr -s ' ' | sed 's/ $//' | paste -sd,)" \
    'check 2 18 2 13.2 % 1.0 s 473.68,links 2 16 3 20.6 % 36.0 s 20.59,host 2 16 0 2.9 % 360.0 s 0.29' \
    'stages ordered by findings per node hour'
records_hold '... in records that match the schema' < <(values --json)

# counters that moved while a job ran, which nodes reported twice
job() { # NODE JOB VALUE
    printf '{"time":1764093600,"suite":"check","test":"host.jobs","node":"%s","part":"eth1","metric":"crc_errors","value":%s,"unit":"count","verdict":"pass","job":%s,"user":1000,"message":"%s crc_errors"}\n' \
        "$1" "$3" "$2" "$3"
}
for i in 1 2; do
    { job n1 4711 12; job n2 4711 3; job n1 4712 5; } | "$add" "$dir/history.db" "job-$i" $((1764100000 + i))
done
text=$(history --job 4711)
is "$(grep -c ' crc_errors ' <<<"$text")" 2 'counters that moved while a job ran, each once'
like "$text" '^n1 +2025-11-25 18:00 +eth1 +crc_errors +12 crc_errors$' '... with node, part and value'
text=$(history --json --job 4711)
like "$text" '"value":12,.*"job":4711,"user":1000' '... its records have job and user'
records_hold '... in records that match the schema' <<<"$text"
like "$(history --job 99 2>&1)" 'no records of job 99 in ' 'an unknown job'
history --job 99 n1 2>/dev/null
is $? 2 '--job with a node is refused'
if [ "$(id -u)" = 0 ]; then
    echo "CertificateFile=$dir/certificate" >>"$dir/conf"
    printf '%s\n' 'muster jobs 1' 'ran 4713 1000 1764090000 1764093600 4712 - - 3600' \
        'counted 4713 1000 1764090000 1764093600 4712 mlx5_0:1 symbol_errors 7' 'counted 47' >"$dir/jobs"
    text=$(history --job 4713)
    like "$text" ' mlx5_0:1 +symbol_errors +7 symbol_errors while job 4713 of user 1000 ran, 2025-11-25 17:00 to 18:00 UTC; shared with job 4712$' \
        'root gets the facts that only this node has'
    like "$text" ' seconds +job 4713 of user 1000 ran, ' '... with the time of the job'
    text=$("$muster" check --config "$dir/conf" --json --only host.jobs)
    like "$text" '"test":"host.jobs","metric":"symbol_errors",.*"verdict":"pass","message"' '... and muster check reports them'
    records_hold '... in records that match the schema' <<<"$text$(printf '\n'; history --json --job 4713)"
else
    skip 4 'only root reads the log of a node'
fi

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    cp -L "$muster" "$dir/muster" && chmod a+x "$dir" && echo frob >"$dir/history.db.copy"
    text=$(cd / && setpriv --reuid=65534 --regid=65534 --clear-groups "$dir/muster" history --config "$dir/conf" 2>&1)
    is "$? $text" "3 muster history: $dir/history.db.copy: file is not a database" 'a damaged copy is reported with its own name'
else
    skip 1 'only root becomes another user'
fi
echo frob >"$dir/history.db"
text=$(history n2 2>&1)
is "$?" 3 'a file that is not a database: status 3'
like "$text" "^muster history: $dir/history.db: file is not a database$" '... with its name'
run 9 90 2.0 6.1.2 fail x | "$add" "$dir/history.db" 2026-r9 1800000000 2>"$dir/words"
is "$?" 1 'a run is kept in a file then: status 1'
like "$(cat "$dir/words")" '2026-r9.waiting and will be added next time' '... whose name is printed'
rm "$dir/history.db" && mkdir "$dir/history.db"
text=$(history n2 2>&1)
is "$? $text" \
    "3 muster history: $dir/history.db: found a directory, expected a database; set another HistoryFile" \
    'a directory as database is refused'
# Somebody reads the output page by page, while a run ends.
for i in {1..1500}; do verdict "m$i" fail 'a message that makes the output longer than a pipe'; done |
    "$add" "$dir/paged.db" r1 100
mkfifo "$dir/pager"
echo "HistoryFile=$dir/paged.db" >"$dir/conf"
history --json >"$dir/pager" &
exec 5<"$dir/pager"
read -r first <&5
like "$first" '"node":"m1"' 'JSON of many nodes'
ok '... keeps no run from being stored' "$add" "$dir/paged.db" r2 200 < <(verdict m1 pass '')
is "$(wc -l <&5)" 1499 '... and is whole'
exec 5<&-
done_testing
