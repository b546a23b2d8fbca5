#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster report: the same run as table, JUnit, metrics, CSV and page; from files and from the history.
. "$(dirname "$0")/command.sh"
needs muster
command -v python3 >/dev/null || skip_all 'no python3 to make up a run'
echo "HistoryFile=$dir/history.db" >"$dir/muster.conf"
export MUSTER_CONF=$dir/muster.conf
report() { "$muster" report "$@" 2>"$dir/said"; }
run() { "$top_srcdir/tests/report/synthetic-run" "$@"; }

run 6 --per-leaf 3 --fault slow-rail:n3:eth1 --fault unknown:n5 >"$dir/run"
records_hold 'all records of a synthetic run match the schema' <"$dir/run"

text=$(report "$dir/run")
is "$?" 0 'a table: status 0'
like "$text" '^n3 +FAILED +48\.[0-9] Gb/s +eth1 48700 of 200000 Mb/s +Move the cable' 'a node that failed, with the next step'
like "$text" '^n5 +unknown .*no link of it was measured' 'a node that could not be judged'
like "$text" '^n1 +certified ' 'a certified node'
like "$text" '^4 of 6 nodes passed, 1 failed, 1 unknown; ' 'the numbers of nodes'
is "$(cat "$dir/said")" '' 'nothing on standard error'
is "$(report - <"$dir/run")" "$text" 'standard input is a file, too'

ok 'JUnit' report -f junit -o "$dir/junit.xml" "$dir/run"
if command -v xmllint >/dev/null; then
    is "$(xmllint --xpath 'string(//testsuite[@name="certify"]/testcase[@classname="n3" and @name="links"]/failure/@message)' "$dir/junit.xml")" \
        'eth1 sends and receives 48700 of 200000 Mb/s (nominal), its peers 195000; check cable or switch port' \
        '... is XML, with the failure of a node and test'
    is "$(xmllint --xpath 'sum(//testsuite/@failures) = count(//failure) and /testsuites/@failures = count(//failure)' "$dir/junit.xml")" \
        true '... with the right number of failures'
else
    skip 2 'no xmllint'
fi

ok 'metrics' report -f prometheus -o "$dir/muster.prom" "$dir/run"
like "$(cat "$dir/muster.prom")" '^muster_node_certified\{node="n3"\} 0$' '... a node that is not certified'
like "$(cat "$dir/muster.prom")" '^muster_certificate_expires_seconds\{node="n1"\} 1795794800$' '... the expiry of a certificate'
if command -v promtool >/dev/null; then
    ok '... which promtool accepts' promtool check metrics <"$dir/muster.prom"
else
    skip 1 'no promtool (package prometheus)'
fi

report -f csv "$dir/run" >"$dir/run.csv"
is "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
print(len(rows), sum(row["metric"] == "bandwidth" and row["peer"] != "" for row in rows))' "$dir/run.csv")" \
    "$(wc -l <"$dir/run") $(grep -c '"bandwidth".*"peer"' "$dir/run")" 'CSV has a line for each record'

if command -v jq >/dev/null; then
    # newer versions of jq keep a number as it was written: 2.50 and 2.5 are equal here
    same='map_values(if type == "number" then . + 0 else . end)'
    is "$(report -f json "$dir/run" | jq -cS "$same" | cksum)" "$(jq -cS "$same" "$dir/run" | cksum)" \
        'JSON lines are the same records'
else
    skip 1 'no jq'
fi
ok 'a page' report -f html -o "$dir/run.html" "$dir/run"
is "$(grep -Eoc 'src=|href="[^#]|@import|url\(' "$dir/run.html")" 0 '... that loads no other file'

# Records of muster watch --json while a job ran.
cat >"$dir/watch" <<'END'
{"time":1795190400.5,"suite":"watch","test":"watch","metric":"cpu_share","node":"n1","part":"rank 0","value":0.98,"unit":"1","job":4711}
{"time":1795190400.5,"suite":"watch","test":"watch","metric":"traffic","node":"n1","part":"eth1","value":151.5,"unit":"Mb/s","job":4711}
{"time":1795190400.5,"suite":"watch","test":"watch","node":"n2","part":"rank 1","verdict":"fail","code":"rank_hung","message":"rank 1 (pid 101) is stopped","remediation":"check_log","job":4711}
END
records_hold 'records of a watched job match the schema' <"$dir/watch"
like "$(report "$dir/watch")" '^n2 +fail .*rank 1 \(pid 101\) is stopped +Look at that process' \
    '... the rank that hangs is in the table'
report -f html -o "$dir/watch.html" "$dir/watch"
ok '... and on the page' grep -q '"rank 1","rank 1 (pid 101) is stopped","Look at that process' "$dir/watch.html"

# Files with several runs: the newest run is reported, or the one that --run names.
run 2 --run 20261119-000000-0001 | sed 's/"time":1795/"time":1794/' >"$dir/older"
like "$(report "$dir/older" "$dir/run" | tail -1)" 'run 20261120-161200-1a2b, 2026-11-20' 'of two runs the newer one is reported'
like "$(cat "$dir/said")" '^muster report: run 20261120-161200-1a2b; [0-9]+ records of other runs left out$' \
    '... with a message'
like "$(report -r 20261119-000000-0001 "$dir/older" "$dir/run" | tail -1)" '^2 of 2 nodes passed.*20261119-000000-0001' \
    '-r reports the run of that name'
report -r none "$dir/run"
is "$? $(cat "$dir/said")" "3 muster report: $dir/run: no record of run none, only of others" 'an unknown run is refused'

echo frob >"$dir/broken.db"
echo "HistoryFile=$dir/broken.db" >"$dir/broken.conf"
report -c "$dir/broken.conf" -f prometheus -o "$dir/muster.prom" "$dir/run"
is "$? $(cat "$dir/said")" "3 muster report: history: $dir/broken.db: file is not a database; left out" \
    'a history that cannot be read: status 3'

# Without a file: the history of muster certify.
report
is "$? $(cat "$dir/said")" "3 muster report: no run in $dir/history.db; name a run of muster history, or a file of records" 'without a history there is no report'
report -r x
like "$(cat "$dir/said")" "no run in $dir/history.db" '... also for a named run'

# Also among thousands of nodes, a node that could not be judged keeps the certificate of an earlier run.
certified() { # RUN VERDICT-OF-N7 TIME
    seq 2500 | sed 's/.*/{"suite":"certify","test":"certify","node":"n&","verdict":"pass"}/' |
        sed "7s/pass/$2/" | "$top_builddir/tests/history-add" "$dir/many.db" "$1" "$3"
}
certified r1 pass 1795000000 && certified r2 unknown 1795100000
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("UPDATE nodes SET certified_until = ? WHERE run = ?", ("2027-01-01 00:00", "r1"))' "$dir/many.db"
echo "HistoryFile=$dir/many.db" >"$dir/many.conf"
like "$(report -c "$dir/many.conf" -f prometheus -r r2)" '^muster_node_certified\{node="n7"\} 1$' \
    'a node that could not be judged keeps its certificate, also among thousands of nodes'

# After earlier runs: n2 could not be judged since it was certified, n3 is a suspect, n4 failed, n5 passed
# in a dry run only.
past() { # RUN TIME NODE VERDICT [RECORD]
    printf '{"suite":"certify","test":"certify","node":"%s","verdict":"%s","code":"rail_slow","part":"eth1"}\n%s\n' \
        "$3" "$4" "${5:-"{}"}" | "$top_builddir/tests/history-add" "$dir/past.db" "$1" "$2" 2>/dev/null
}
for n in 1 2 3 4; do past a$n 1795700000 n$n pass; done
past b 1795701000 n2 unknown
past s 1795701500 n3 fail '{"suite":"certify","test":"strikes","node":"n3","verdict":"warn","code":"rail_slow","part":"eth1"}'
past f 1795702000 n4 fail
past d 1795703000 n5 pass && past d2 1795703500 n4 pass
past c 1795704000 n1 pass
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("UPDATE nodes SET certified_until = ? WHERE run LIKE ? OR run = ?", ("2026-12-05 12:50 UTC", "a%", "c"))
    database.execute("UPDATE runs SET dry_run = 1 WHERE run LIKE ?", ("d%",))' "$dir/past.db"
echo "HistoryFile=$dir/past.db" >"$dir/past.conf"
text=$(report -c "$dir/past.conf" -f prometheus -r c)
is "$(grep -o '^muster_node_certified.*' <<<"$text" | cut -d'"' -f2- | xargs -d'\n')" 'n1"} 1 n2"} 1 n3"} 1 n4"} 0' \
    'nodes of earlier runs are certified as in the history, without dry runs'
is "$(grep -c '^muster_certificate_expires_seconds{node="n[123]"} 1796475000$' <<<"$text")" 3 '... with the expiry'
is "$(grep '^muster_node_verdict.*} 1$' <<<"$text" | cut -d'"' -f2,4 | tr '"\n' '= ')" 'n1=pass n2=unknown n3=suspect n4=fail ' \
    '... with their last verdicts'
is "$(grep '^muster_node_fault' <<<"$text" | cut -d'"' -f2,4 | tr '"\n' '= ')" 'n2=rail_slow n3=rail_slow n4=rail_slow ' \
    '... and their faults'
is "$(report -c "$dir/past.conf" -f prometheus -r s | grep 'n3"' | grep -v ' 0$' | cut -d'{' -f1 | sort | xargs)" \
    'muster_certificate_expires_seconds muster_node_certified muster_node_fault muster_node_verdict' \
    'a suspect of the run itself keeps its certificate, too'
cat >"$dir/peers" <<'END'
{"time":1795705000,"run":"p","suite":"certify","test":"certify","node":"n1","verdict":"pass"}
{"time":1795705000,"run":"p","suite":"links","test":"links","metric":"bandwidth","node":"n1","peer":"n4","part":"eth1","value":195,"unit":"Mb/s"}
END
is "$(report -c "$dir/past.conf" -f prometheus "$dir/peers" | grep 'n4"' | grep -v ' 0$\|^muster_link' | cut -d' ' -f1)" \
    'muster_node_verdict{node="n4",verdict="fail"}
muster_node_fault{node="n4",code="rail_slow",remediation="replace_cable"}' \
    'a node that is only a peer in the run keeps its last values'
text=$(report -c "$dir/past.conf" -r s)
like "$text" '^n3 +suspect ' 'a suspect is reported as suspect'
like "$text" '^0 of 1 nodes passed, 0 failed, 0 unknown, 1 suspect; ' '... and not counted as failed'
report -c "$dir/past.conf" -f html -r s -o "$dir/past.html"
ok '... also on the page' grep -q '^"nodes":.*"n3",.*,1\]\],$' "$dir/past.html"
text=$("$muster" history -c "$dir/past.conf")
like "$text" '^n3 .* suspect .* 2026-12-05 12:50 UTC +s ' 'muster history has it as suspect, with its certificate'
like "$text" '^n2 .* unknown .* 2026-12-05 12:50 UTC +b ' '... also a node that could not be judged'
like "$("$muster" history -c "$dir/past.conf" --diff a3 s)" '^n3 +certified +suspect ' '... and --diff has it, too'

# The nodes of a job, as muster preflight found them.
job() { # NODE VERDICT [FIELDS]: of a preflight of job 4711
    printf '{"time":1795705000,"run":"p","suite":"preflight","test":"preflight","node":"%s","verdict":"%s"%s,"job":4711}\n' "$1" "$2" "${3-}"
}
{ job n1 pass; job n2 fail ',"part":"eth1","code":"rail_slow","remediation":"replace_cable","message":"eth1 receives 50 of 200 Mb/s"'; job n4 pass; } >"$dir/job"
records_hold 'records of a preflight match the schema' <"$dir/job"
text=$(report -c "$dir/past.conf" "$dir/job" | tr -s ' ')
is "$(head -4 <<<"$text")" 'NODE VERDICT LINKS CERTIFIED UNTIL PART AT FAULT WHAT TO DO
n1 pass - 2026-12-05 12:50 - -
n2 fail - 2026-12-05 12:50 eth1 receives 50 of 200 Mb/s Move the cable to another switch port and measure again: if the fault stays, replace the NIC; if it goes, the cable or the port.
n4 pass - - - -' 'the nodes of a job have their certificates of the history, which a preflight does not end'
like "$text" ' 3 records, run p, job 4711, 2026-11-26 ' '... and the job is named'
like "$(report -c "$dir/past.conf" <(sed 's/1795705000/1800000000/' "$dir/job"))" '^n1 .* 2026-12-05 12:50 \(expired\) ' '... an end in the past is marked'
report -c "$dir/past.conf" -f html -o "$dir/job.html" "$dir/job"
is "$(grep -A1 '^"nodes"\|^<title>\|^"job"' "$dir/job.html" | grep -o '^<title>.*\|^"job.*\|"n1",.*')" '<title>muster job 4711 p</title>
"job":4711,
"n1",-1,1,0,1,1796475000,"","","",0],' '... also on the page'
unlike "$(report -c "$dir/past.conf" "$dir/job" <(job n1 pass | sed 's/4711/4712/'))" 'job 47' 'two jobs are none'
unlike "$(report -c "$dir/past.conf" <(job n1 pass | sed 's/"suite":"preflight","test":"preflight"/"suite":"check","test":"host.jobs"/'))" \
    'job 4711' '... and neither is what a node has seen during a job'

# What changed on nodes that did not pass: n1 and n2 were both updated, n3 was not and had a dry run since,
# n4 passed, n5 never has, n6 reported no facts.
facts() { # RUN TIME KERNEL MTU [NODE VERDICT]...
    local run=$1 time=$2 kernel=$3 mtu=$4
    shift 4
    while [ $# -gt 0 ]; do
        printf '{"suite":"certify","test":"certify","node":"%s","verdict":"%s"}\n' "$1" "${2/silent/fail}"
        [ "$2" = silent ] || printf '{"suite":"check","test":"host.config","metric":"kernel","node":"%s","message":"%s"}\n' "$1" "$([ "$1" = n3 ] && echo 6.1 || echo "$kernel")"
        [ "$2" = silent ] || printf '{"suite":"check","test":"host.config","metric":"mtu","part":"eth1","node":"%s","message":"%s"}\n' "$1" "$mtu"
        shift 2
    done | sed "s/^{/{\"time\":$time,\"run\":\"$run\",/" >"$dir/$run.jsonl"
    "$top_builddir/tests/history-add" "$dir/changes.db" "$run" "$time" <"$dir/$run.jsonl"
}
facts c1 1795700000 6.1 9000 n1 pass n2 pass n3 pass n4 pass n5 fail n6 pass
facts c2 1795710000 6.2 9000 n1 fail n2 fail n3 pass
facts c3 1795720000 6.2 1500 n3 pass
facts c4 1795730000 6.2 9000 n1 fail n2 unknown n3 fail n4 pass n5 fail n6 silent
facts c5 1795740000 6.3 9000 n1 pass n2 pass
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("UPDATE runs SET dry_run = 1 WHERE run = ?", ("c3",))' "$dir/changes.db"
echo "HistoryFile=$dir/changes.db" >"$dir/changes.conf"
text=$(report -c "$dir/changes.conf" -r c4)
is "$(sed -n '/^NODES/,/^$/p' <<<"$text" | tr -s ' ')" 'NODES LAST GOOD RUN CHANGED SINCE THEN
n3 2026-11-26 16:20 no fact
n[1-2] 2026-11-26 13:33 kernel: 6.1 -> 6.2' 'what changed on nodes since they last passed'
is "$(report -c "$dir/changes.conf" "$dir/c4.jsonl" | sed -n '/^NODES/,/^$/p')" "$(sed -n '/^NODES/,/^$/p' <<<"$text")" \
    '... also in a report of a file'
unlike "$(report -c "$dir/changes.conf" <(sed 's/17957300/17957350/; s/"c4"/"c9"/; s/"6\.2"/"6.7"/' "$dir/c4.jsonl"))" \
    'LAST GOOD RUN' '... but not of a run whose facts the history does not have'
report -c "$dir/changes.conf" -f html -r c4 -o "$dir/changes.html"
is "$(grep -A2 '^"changes"' "$dir/changes.html")" '"changes":{"n1":{"run":"c1","since":1795700000,"list":[["kernel","6.1","6.2"]]},
"n2":{"run":"c1","since":1795700000,"list":[["kernel","6.1","6.2"]]},
"n3":{"run":"c2","since":1795710000,"list":[]}},' '... and on the page'
unlike "$(report -c "$dir/changes.conf" -r c5)" 'LAST GOOD RUN' '... nothing of nodes that passed'

# If a report cannot be written, the old one is kept.
if [ -w /dev/full ] && mkdir "$dir/small" && mount -t tmpfs -o size=16k tmpfs "$dir/small" 2>/dev/null; then
    tap_cleanup() { umount "$dir/small"; rm -rf "$dir"; }
    echo before >"$dir/small/kept"
    report -f html -o "$dir/small/kept" "$dir/run"
    is "$?" 3 'a full disk is an error'
    like "$(cat "$dir/said")" "^muster report: $dir/small/kept: No space left on device$" '... in one line'
    is "$(cat "$dir/small/kept") $(ls "$dir/small")" 'before kept' '... the old report stays, and no other file'
else
    skip 3 'no tmpfs can be mounted'
fi
report -f csv -o "$dir/none/x" "$dir/run"
is "$? $(cat "$dir/said")" "3 muster report: $dir/none/x: No such file or directory" 'a missing directory'
report -f csv "$dir/run" >/dev/full
like "$? $(cat "$dir/said")" '^3 muster report: standard output: No space left on device' 'a full standard output'

if [ "$(id -u)" -eq 0 ]; then # without Slurm the run ends where it would begin
    mkdir "$dir/runs"
    printf 'HistoryFile=%s\nBatteryUser=nobody\nReport=json:%s/none/%%r.jsonl\nReport=csv:%s/runs/%%r.csv\n' \
        "$dir/history.db" "$dir" "$dir" >"$dir/site.conf"
    text=$(MUSTER_CONF=$dir/site.conf SLURM_CONF=$dir/none/slurm.conf "$muster" certify 2>&1)
    like "$text" "^muster certify: this run will have no json report: $dir/none/[-0-9a-f]*.jsonl: No such file" \
        'a run says at its start which report of the site it cannot write'
    is "$(grep -c 'will have no' <<<"$text") $(ls "$dir/runs")" '1 ' '... and only that report'
else
    skip 2 'not root'
fi

report --format pdf "$dir/run"
is "$? $(head -1 "$dir/said")" \
    "2 muster report: option --format: expected table, html, junit, prometheus, csv or json, found \"pdf\"" 'an unknown format'
report "$dir/absent"
is "$? $(cat "$dir/said")" "3 muster report: $dir/absent: No such file or directory" 'a missing file'
: >"$dir/empty"
report "$dir/empty"
is "$? $(cat "$dir/said")" "3 muster report: $dir/empty: no records" 'an empty file'
like "$(report --help)" '^ +html +one self-contained' '--help lists the formats'
done_testing
