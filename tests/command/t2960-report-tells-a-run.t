#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster report: the same run as table, JUnit, metrics, CSV and page; from files and from the history.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
muster=${top_builddir:-.}/muster
. "$top_srcdir/tests/tap.sh"

[ -x "$muster" ] || skip_all 'the muster command is not built'
command -v python3 >/dev/null || skip_all 'no python3 to make up a run'
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }
echo "HistoryFile=$work/history.db" >"$work/muster.conf"
export MUSTER_CONF=$work/muster.conf
report() { "$muster" report "$@" 2>"$work/said"; }
run() { "$top_srcdir/tests/report/synthetic-run" "$@"; }

run 6 --per-leaf 3 --fault slow-rail:n3:eth1 --fault unknown:n5 >"$work/run"
ok 'a run made up for tests has only records of the schema' \
    "${top_builddir:-.}/tests/record-check" "$top_srcdir/doc/records.md" <"$work/run"

text=$(report "$work/run")
is "$?" 0 'a table'
like "$text" '^n3 +FAILED +48\.[0-9] Gb/s +eth1 48700 of 200000 Mb/s +Move the cable' 'who failed, what to do'
like "$text" '^n5 +unknown .*no link of it was measured' 'of whom it cannot be told'
like "$text" '^n1 +certified ' 'who is certified'
like "$text" '^4 of 6 nodes passed, 1 failed, 1 unknown; ' 'how many'
is "$(cat "$work/said")" '' 'without a word on standard error'
is "$(report - <"$work/run")" "$text" 'standard input is a file too'

ok 'JUnit' report -f junit -o "$work/junit.xml" "$work/run"
if command -v xmllint >/dev/null; then
    is "$(xmllint --xpath 'string(//testsuite[@name="certify"]/testcase[@classname="n3" and @name="links"]/failure/@message)' "$work/junit.xml")" \
        'eth1 sends and receives 48700 of 200000 Mb/s (nominal), its peers 195000; check cable or switch port' \
        '... is XML, with the failure of a node and test'
    is "$(xmllint --xpath 'sum(//testsuite/@failures) = count(//failure) and /testsuites/@failures = count(//failure)' "$work/junit.xml")" \
        true '... that counts its failures'
else
    skip 2 'no xmllint'
fi

ok 'metrics' report -f prometheus -o "$work/muster.prom" "$work/run"
like "$(cat "$work/muster.prom")" '^muster_node_certified\{node="n3"\} 0$' '... who is not certified'
like "$(cat "$work/muster.prom")" '^muster_certificate_expires_seconds\{node="n1"\} 1795794800$' '... until when who is'
if command -v promtool >/dev/null; then
    ok '... that promtool finds well' promtool check metrics <"$work/muster.prom"
else
    skip 1 'no promtool (package prometheus)'
fi

report -f csv "$work/run" >"$work/run.csv"
is "$(python3 -c 'import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
print(len(rows), sum(row["metric"] == "bandwidth" and row["peer"] != "" for row in rows))' "$work/run.csv")" \
    "$(wc -l <"$work/run") $(grep -c '"bandwidth".*"peer"' "$work/run")" 'CSV has a line for each record'

if command -v jq >/dev/null; then
    # newer ones of jq keep a number as it was written: 2.50 and 2.5 are the same here
    same='map_values(if type == "number" then . + 0 else . end)'
    is "$(report -f json "$work/run" | jq -cS "$same" | cksum)" "$(jq -cS "$same" "$work/run" | cksum)" \
        'JSON lines are the records again'
else
    skip 1 'no jq'
fi
ok 'a page' report -f html -o "$work/run.html" "$work/run"
is "$(grep -Eoc 'src=|href="[^#]|@import|url\(' "$work/run.html")" 0 '... that fetches nothing'

# What muster watch --json found while a job ran.
cat >"$work/watch" <<'END'
{"time":1795190400.5,"suite":"watch","test":"watch","metric":"cpu_share","node":"n1","part":"rank 0","value":0.98,"unit":"1","job":4711}
{"time":1795190400.5,"suite":"watch","test":"watch","metric":"traffic","node":"n1","part":"eth1","value":151.5,"unit":"Mb/s","job":4711}
{"time":1795190400.5,"suite":"watch","test":"watch","node":"n2","part":"rank 1","verdict":"fail","code":"rank_hung","message":"rank 1 (pid 101) is stopped","remediation":"check_log","job":4711}
END
ok 'a job that was watched: records of the schema' \
    "${top_builddir:-.}/tests/record-check" "$top_srcdir/doc/records.md" <"$work/watch"
like "$(report "$work/watch")" '^n2 +fail .*rank 1 \(pid 101\) is stopped +Look at that process' \
    '... who hangs, in the table'
report -f html -o "$work/watch.html" "$work/watch"
ok '... and on the page' grep -q '"rank 1","rank 1 (pid 101) is stopped","Look at that process' "$work/watch.html"

# Several runs in the files: the newest, or the one that is asked for.
run 2 --run 20261119-000000-0001 | sed 's/"time":1795/"time":1794/' >"$work/older"
like "$(report "$work/older" "$work/run" | tail -1)" 'run 20261120-161200-1a2b, 2026-11-20' 'of two runs the newer one'
like "$(cat "$work/said")" '^muster report: run 20261120-161200-1a2b; [0-9]+ records of other runs left out$' \
    '... and it is said'
like "$(report -r 20261119-000000-0001 "$work/older" "$work/run" | tail -1)" '^2 of 2 nodes passed.*20261119-000000-0001' \
    'or the one of that name'
report -r none "$work/run"
is "$? $(cat "$work/said")" "3 muster report: $work/run: no record of run none, only of others" 'or none'

echo frob >"$work/broken.db"
echo "HistoryFile=$work/broken.db" >"$work/broken.conf"
report -c "$work/broken.conf" -f prometheus -o "$work/muster.prom" "$work/run"
is "$? $(cat "$work/said")" "3 muster report: history: $work/broken.db: file is not a database; left out" \
    'a history that cannot be read shows in the exit status'

# Without a file the history: as muster certify keeps it.
report
is "$? $(cat "$work/said")" "3 muster report: no run in $work/history.db; name a run of muster history, or a file of records" 'no history, no report'
report -r x
like "$(cat "$work/said")" "no run in $work/history.db" '... nor a run of it'

# Of thousands of nodes as well, who could not be judged keeps the certificate of a run before.
certified() { # RUN VERDICT-OF-N7 TIME
    seq 2500 | sed 's/.*/{"suite":"certify","test":"certify","node":"n&","verdict":"pass"}/' |
        sed "7s/pass/$2/" | "${top_builddir:-.}/tests/history-add" "$work/many.db" "$1" "$3"
}
certified r1 pass 1795000000 && certified r2 unknown 1795100000
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("UPDATE nodes SET certified_until = ? WHERE run = ?", ("2027-01-01 00:00", "r1"))' "$work/many.db"
echo "HistoryFile=$work/many.db" >"$work/many.conf"
like "$(report -c "$work/many.conf" -f prometheus -r r2)" '^muster_node_certified\{node="n7"\} 1$' \
    'who could not be judged keeps a certificate, among thousands of nodes too'

# What earlier runs left: n2 could not be judged since it was certified, n3 is a suspect, n4 failed, n5
# passed in a dry run only.
past() { # RUN TIME NODE VERDICT [RECORD]
    printf '{"suite":"certify","test":"certify","node":"%s","verdict":"%s","code":"rail_slow","part":"eth1"}\n%s\n' \
        "$3" "$4" "${5:-"{}"}" | "${top_builddir:-.}/tests/history-add" "$work/past.db" "$1" "$2" 2>/dev/null
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
    database.execute("UPDATE runs SET dry_run = 1 WHERE run LIKE ?", ("d%",))' "$work/past.db"
echo "HistoryFile=$work/past.db" >"$work/past.conf"
text=$(report -c "$work/past.conf" -f prometheus -r c)
is "$(grep -o '^muster_node_certified.*' <<<"$text" | cut -d'"' -f2- | xargs -d'\n')" 'n1"} 1 n2"} 1 n3"} 1 n4"} 0' \
    'nodes of the past are as certified as the history knows them, dry runs apart'
is "$(grep -c '^muster_certificate_expires_seconds{node="n[123]"} 1796475000$' <<<"$text")" 3 '... until then'
is "$(grep '^muster_node_verdict.*} 1$' <<<"$text" | cut -d'"' -f2,4 | tr '"\n' '= ')" 'n1=pass n2=unknown n3=suspect n4=fail ' \
    '... with their last verdicts'
is "$(grep '^muster_node_fault' <<<"$text" | cut -d'"' -f2,4 | tr '"\n' '= ')" 'n2=rail_slow n3=rail_slow n4=rail_slow ' \
    '... and what is wrong with them'
is "$(report -c "$work/past.conf" -f prometheus -r s | grep 'n3"' | grep -v ' 0$' | cut -d'{' -f1 | sort | xargs)" \
    'muster_certificate_expires_seconds muster_node_certified muster_node_fault muster_node_verdict' \
    'a suspect of the run itself keeps its certificate as well'
cat >"$work/peers" <<'END'
{"time":1795705000,"run":"p","suite":"certify","test":"certify","node":"n1","verdict":"pass"}
{"time":1795705000,"run":"p","suite":"links","test":"links","metric":"bandwidth","node":"n1","peer":"n4","part":"eth1","value":195,"unit":"Mb/s"}
END
is "$(report -c "$work/past.conf" -f prometheus "$work/peers" | grep 'n4"' | grep -v ' 0$\|^muster_link' | cut -d' ' -f1)" \
    'muster_node_verdict{node="n4",verdict="fail"}
muster_node_fault{node="n4",code="rail_slow",remediation="replace_cable"}' \
    'a node that the run has only as a peer keeps its last values'
text=$(report -c "$work/past.conf" -r s)
like "$text" '^n3 +suspect ' '... and is called one'
like "$text" '^0 of 1 nodes passed, 0 failed, 0 unknown, 1 suspect; ' '... has not failed'
report -c "$work/past.conf" -f html -r s -o "$work/past.html"
ok '... nor on the page' grep -q '^"nodes":.*"n3",.*,1\]\],$' "$work/past.html"
text=$("$muster" history -c "$work/past.conf")
like "$text" '^n3 .* suspect .* 2026-12-05 12:50 UTC +s ' 'muster history calls it one, with the certificate that it has'
like "$text" '^n2 .* unknown .* 2026-12-05 12:50 UTC +b ' '... as a node that could not be judged'
like "$("$muster" history -c "$work/past.conf" --diff a3 s)" '^n3 +certified +suspect ' '... and so does --diff'

# Nothing is lost where a report cannot be written.
if [ -w /dev/full ] && mkdir "$work/small" && mount -t tmpfs -o size=16k tmpfs "$work/small" 2>/dev/null; then
    tap_cleanup() { umount "$work/small"; rm -rf "$work"; }
    echo before >"$work/small/kept"
    report -f html -o "$work/small/kept" "$work/run"
    is "$?" 3 'a full disk is an error'
    like "$(cat "$work/said")" "^muster report: $work/small/kept: No space left on device$" '... in one line'
    is "$(cat "$work/small/kept") $(ls "$work/small")" 'before kept' '... and leaves the old report, and nothing beside it'
else
    skip 3 'no tmpfs can be mounted'
fi
report -f csv -o "$work/none/x" "$work/run"
is "$? $(cat "$work/said")" "3 muster report: $work/none/x: No such file or directory" 'a directory that is not there'
report -f csv "$work/run" >/dev/full
like "$? $(cat "$work/said")" '^3 muster report: standard output: No space left on device' 'standard output that is full'

if [ "$(id -u)" -eq 0 ]; then # Slurm is not there, so that the run ends where it would begin
    mkdir "$work/runs"
    printf 'HistoryFile=%s\nBatteryUser=nobody\nReport=json:%s/none/%%r.jsonl\nReport=csv:%s/runs/%%r.csv\n' \
        "$work/history.db" "$work" "$work" >"$work/site.conf"
    text=$(MUSTER_CONF=$work/site.conf SLURM_CONF=$work/none/slurm.conf "$muster" certify 2>&1)
    like "$text" "^muster certify: this run will have no json report: $work/none/[-0-9a-f]*.jsonl: No such file" \
        'a run says at its begin which report of the site it cannot write'
    is "$(grep -c 'will have no' <<<"$text") $(ls "$work/runs")" '1 ' '... and only that'
else
    skip 2 'not root'
fi

report --format pdf "$work/run"
is "$? $(head -1 "$work/said")" \
    "2 muster report: option --format: expected table, html, junit, prometheus, csv or json, found \"pdf\"" 'a format that is none'
report "$work/absent"
is "$? $(cat "$work/said")" "3 muster report: $work/absent: No such file or directory" 'a file that is not there'
: >"$work/empty"
report "$work/empty"
is "$? $(cat "$work/said")" "3 muster report: $work/empty: no records" 'an empty file'
like "$(report --help)" '^ +html +one self-contained' '--help lists the formats'
done_testing
