#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster report: records that are truncated, wrong, huge or false are left out and named; the others are
# reported. No text of a record breaks the format of a report.
. "$(dirname "$0")/command.sh"
needs muster

echo "HistoryFile=$dir/history.db" >"$dir/muster.conf"
export MUSTER_CONF=$dir/muster.conf
report() { "$muster" report "$@" 2>"$dir/said"; }

{
    echo '{"run":"r","time":1,"suite":"certify","test":"certify","node":"n1","verdict":"pass"}'
    echo 'srun: error: n2: task 1: Killed'
    printf '{"suite":"links","test":"links","message":"%0100000d"}\n' 1
    echo '{"run":"r","time":1,"suite":"links","test":"links","metric":"bandwidth","node":"n1","part":"eth1","peer":"n2","value":10,"unit":"Mb/s","limit":160,"limit_source":"nominal","verdict":"pass"}'
    echo '{"run":"r","time":1,"suite":"links","test":"links","metric":"bandwidth","node":"n1","part":"eth1","peer":"n2","value":-3,"unit":"Mb/s"}'
    echo '{"run":"r","time":1,"suite":"certify","test":"certify","node":"n2","verdict":"fail","message":"eth1"}'
    printf '{"run":"r","time":1,"suite":"certify","te'
} >"$dir/run"
text=$(report "$dir/run")
is "$?" 3 'lines that are left out: status 3'
like "$text" '^n2 +FAILED' 'the other lines are reported'
like "$text" '^1 of 2 nodes passed, 1 failed' '... all of it'
while read -r line what; do
    like "$(cat "$dir/said")" "^muster report: $dir/run:$line: $what.*; left out$" "line $line: $what"
done <<'END'
2 not JSON: 
3 a line of [0-9]+ bytes, allowed 65536
4 passes with 10 Mb/s, on the wrong side of its limit 160
5 value is -3 Mb/s, which is impossible
7 cut off at the end of the file: 
END
is "$(wc -l <"$dir/said")" 5 'one line each'

for ((i = 0; i < 5000; i++)); do echo "line $i"; done >>"$dir/run"
report "$dir/run" >/dev/null
is "$(wc -l <"$dir/said")" 11 'of thousands of bad lines the first ones are named'
is "$(tail -1 "$dir/said")" "muster report: $dir/run: 4994 more lines; left out" '... and the others are counted'

# Names and messages that try to break the format.
cat >"$dir/hostile" <<'END'
{"run":"<script>alert(1)</script>","time":1,"suite":"certify","test":"certify","node":"</script><script>document.title='owned'</script>","part":"\"><img src=x onerror=alert(1)>","verdict":"fail","message":"=HYPERLINK(\"http://x\")\n# TYPE evil gauge\nevil 1\n]]> -->"}
{"run":"<script>alert(1)</script>","time":1,"suite":"certify","test":"a\" onmouseover=\"x","node":"n\\\"}\nevil 1","verdict":"fail","message":"\u001b[2J\u2028\ufffe&amp;"}
END
ok 'a page of hostile records' report -f html -o "$dir/page.html" "$dir/hostile"
is "$(grep -c '<script>alert\|<script>document\|<img' "$dir/page.html")" 0 '... contains none of their markup'
is "$(grep -c '</script>' "$dir/page.html")" 2 '... and no other end of a script'
ok 'metrics of hostile records' report -f prometheus -o "$dir/muster.prom" "$dir/hostile"
is "$(grep -c '^evil' "$dir/muster.prom")" 0 '... contain no injected metric'
if command -v promtool >/dev/null; then
    ok '... and are valid' promtool check metrics <"$dir/muster.prom"
else
    skip 1 'no promtool (package prometheus)'
fi
ok 'JUnit of hostile records' report -f junit -o "$dir/junit.xml" "$dir/hostile"
if command -v xmllint >/dev/null; then
    is "$(xmllint --xpath 'count(//testcase)' "$dir/junit.xml")" 2 '... is XML with the same number of cases'
else
    skip 1 'no xmllint'
fi
ok 'CSV of hostile records' report -f csv -o "$dir/run.csv" "$dir/hostile"
like "$(cat "$dir/run.csv")" "\"'=HYPERLINK" '... has no formula'
unlike "$(report "$dir/hostile" | cat -v)" '\^\[\[2J' 'a table sends no control characters to the terminal'
cat >"$dir/escapes" <<'END'
{"run":"r\u001b[2J","time":1,"suite":"links","test":"links","metric":"bandwidth","node":"n1\u009b2J","part":"eth1\u001b[2J","peer":"n2","value":1,"unit":"Mb/s"}
{"run":"r\u001b[2J","time":1,"suite":"links","test":"links","verdict":"\u001b[2J"}
END
text=$(report "$dir/escapes" | cat -v)
like "$text" '^eth1\?\[2J: good nodes reach 1 Mb/s' 'names of rails contain no control characters'
unlike "$text$(cat -v "$dir/said")" '\^\[|M-B' '... nor do names of runs, C1 characters in UTF-8, or lines that were left out'
like "$(cat "$dir/said")" 'verdict is \?\[2J, expected pass' '... which are still reported'

# More suites and tests than muster has: none of them is left out.
awk 'BEGIN { for (i = 1; i <= 400; i++) printf "{\"run\":\"r\",\"time\":1,\"suite\":\"s%d\",\"test\":\"t%d\",\"node\":\"n1\",\"verdict\":\"%s\"}\n", i, i, i < 400 ? "pass" : "fail" }' >"$dir/suites"
like "$(report -f junit "$dir/suites" | sed -n 2p)" ' tests="400" failures="1" ' 'JUnit of 400 suites has the failure of the last'
is "$(report -f prometheus "$dir/suites" | awk '/^muster_verdicts/ { sum += $2 } END { print sum }')" 400 \
    '... and metrics of 400 tests have all of them'

# More faults than fit in the table of the page.
awk 'BEGIN { for (i = 1; i <= 20003; i++) printf "{\"run\":\"r\",\"time\":1,\"suite\":\"check\",\"test\":\"t\",\"node\":\"n%d\",\"verdict\":\"%s\"}\n", i, i == 7 ? "pass" : "fail" }' >"$dir/faults"
is "$(report -f html "$dir/faults" | grep -o '^"[a-z]*_left_out":[0-9]*' | xargs)" 'bad_left_out:2 passed_left_out:1' \
    'a page without room for all faults has their number'

# More nodes than fit in a matrix of all pairs.
awk 'BEGIN { for (i = 1; i <= 9000; i++) printf "{\"run\":\"r\",\"time\":1,\"suite\":\"links\",\"test\":\"links\",\"metric\":\"bandwidth\",\"node\":\"n%d\",\"part\":\"eth1\",\"peer\":\"m%d\",\"value\":1,\"unit\":\"Mb/s\"}\n", i, i }' >"$dir/many"
like "$(report "$dir/many" | tail -2)" 'the median of 9000 pairs is 1 Mb/s' 'a report of 18,000 nodes has their figures'

# A fault of a newer muster is kept unchanged.
newer='{"time":1,"suite":"check","test":"net.interfaces","node":"n1","part":"eth1","verdict":"fail","code":"brand_new_code","remediation":"new_word","message":"m"}'
is "$(report -f json - <<<"$newer")" "$newer" 'a code of a newer muster is kept unchanged'
like "$(report -f prometheus - <<<"$newer")" \
    '^muster_node_fault\{node="n1",code="brand_new_code",remediation="new_word"\} 1$' '... also in metrics'
like "$(report -f junit - <<<"$newer")" 'type="brand_new_code"' '... in JUnit'
report -f html - <<<"$newer" >"$dir/newer.html"
ok '... and on the page' grep -q '"brand_new_code"' "$dir/newer.html"
if [ -x "$top_builddir/tests/history-add" ]; then
    printf '%s\n' "$newer" '{"suite":"certify","test":"certify","node":"n1","verdict":"fail","code":"newest_code"}' |
        "$top_builddir/tests/history-add" "$dir/history.db" new 2
    like "$(report -f json)" '"code":"brand_new_code"' '... also from the history'
    like "$("$muster" history --json)" '"test":"certify",.*"code":"newest_code"' '... and muster history'
    rm "$dir/history.db"
else
    skip 2 'history-add is not built'
fi

# A device that a healthy node does not have is not a fault.
for lines in 'pass skip' 'skip pass'; do
    text=$(printf '{"suite":"check","test":"gpu.health","node":"n1","part":"gpu0","verdict":"%s","message":"why"}\n' $lines |
        "$muster" report -)
    like "$text" '^n1 +pass +- +- +-$' "a check with $lines passes without a fault"
    like "$text" '^1 of 1 nodes passed' '... and is counted as passed'
done
like "$("$muster" report - <<<'{"suite":"check","test":"gpu.health","node":"n1","verdict":"skip","message":"why"}')" \
    '^n1 +skip +- +- +-$' 'a check that only skips is skipped'
done_testing
