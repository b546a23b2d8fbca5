#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The page of muster report in a real browser: texts, clicks, keys, filter, sort, theme, phone, print, and no
# message on the console; that the README has its picture as it is; with 4, 64, 512 and 4,096 nodes.
. "$(dirname "$0")/command.sh"
needs muster
for tool in chromium chromedriver python3; do
    command -v "$tool" >/dev/null || skip_all "no $tool: the page is not looked at (packages chromium, chromium-driver)"
done
echo "HistoryFile=$dir/history.db" >"$dir/muster.conf"
export MUSTER_CONF=$dir/muster.conf
page() { # NAME NODES [OPTION...]
    local name=$1
    shift
    "$top_srcdir/tests/report/synthetic-run" "$@" | "$muster" report -f html -o "$dir/$name.html" -
}
page small 4 --per-leaf 2 --together 1 --fault slow-rail:n3:eth1
page medium 64 --per-leaf 8 --fault slow-rail:n3:eth1 --fault one-way:n5:eth2 --fault path:n7:n19:eth1 \
    --fault uplink:leaf1:leaf3 --fault dead:n12 --fault unknown:n13 --fault warn:n14
page failed 4 --per-leaf 1 --fault slow-rail:n1:eth1 --fault uplink:leaf1:leaf2
page readme 8 --per-leaf 4 --fault slow-rail:n3:eth1 --fault path:n2:n6:eth1
page large 512 --rounds 24 --fault slow-rail:n300:eth1
page huge 4096 --rounds 8 --fault slow-rail:n3000:eth2
# the switch of a rail is dead
"$top_srcdir/tests/report/synthetic-run" 8 --per-leaf 4 |
    sed '/"bandwidth",.*"part":"eth2"/s/"value":[0-9.]*/"value":0/' | "$muster" report -f html -o "$dir/none.html" -
# its size depends on the number of measured pairs, not of all pairs
ok 'the page of 4,096 nodes is small' test "$(stat -c %s "$dir/huge.html")" -lt 3000000
# a thousand steps, the last hundred twice, as in a run that continued from a checkpoint
awk 'BEGIN { for (i = 1; i <= 1100; i++) { step = i <= 1000 ? i : i - 100
    record = "{\"time\":%d,\"suite\":\"train\",\"test\":\"train.one\",\"metric\":\"%s\",\"part\":\"step %d\",\"value\":%g,\"unit\":\"%s\"}\n"
    printf record, i, "loss", step, i == 1 ? 5 : i == 1100 ? 2 : 5 - step / 400, "nats"
    printf record, i, "throughput", step, 48000, "tokens/s" } }' >"$dir/training"
"$muster" report -f html -o "$dir/training.html" "$dir/training"
awk 'BEGIN { for (i = 0; i < 150000; i++)
    printf "{\"time\":1,\"suite\":\"collectives\",\"test\":\"collectives.speed\",\"metric\":\"busbw\",\"part\":\"allreduce %dK\",\"value\":40,\"unit\":\"GB/s\"}\n", i + 1 }' |
    "$muster" report -f html -o "$dir/sweep.html" -
# a node whose kernel and mount changed since it last passed
facts() { # RUN TIME VERDICT KERNEL
    printf '{"run":"%s","time":%s,"suite":"certify","test":"certify","node":"n1","verdict":"%s"}\n' "$1" "$2" "$3"
    printf '{"suite":"check","test":"host.config","metric":"%s","node":"n1","message":"%s"}\n' \
        kernel "$4" cmdline "$(printf '%0200d' "${4/./}")" a "$4" b "$4"
}
facts good 1795700000 pass 6.1 | "$top_builddir/tests/history-add" "$dir/history.db" good 1795700000
facts bad 1795710000 fail 6.2 | "$top_builddir/tests/history-add" "$dir/history.db" bad 1795710000
"$muster" report -f html -r bad -o "$dir/changes.html"
# a preflight of a job on that node, one that is certified, and one that never was in a run
echo '{"suite":"certify","test":"certify","node":"n2","verdict":"pass"}' | "$top_builddir/tests/history-add" "$dir/history.db" other 1795711000
python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    database.execute("UPDATE nodes SET certified_until = ? WHERE run = ?", ("2026-12-05 12:50 UTC", "other"))' "$dir/history.db"
printf '{"time":1795715000,"run":"p","suite":"preflight","test":"preflight","job":4711,%s}\n' '"node":"n1","verdict":"pass"' \
    '"node":"n2","verdict":"fail","part":"eth1","code":"rail_slow","message":"eth1 receives 50 of 200 Mb/s"' \
    '"node":"n3","verdict":"unknown"' | "$muster" report -f html -o "$dir/job.html" -
cat >"$dir/hostile" <<'END'
{"run":"<script>alert(1)</script>","time":1,"suite":"certify","test":"certify","node":"</script><script>document.title='owned'</script>","part":"\"><img src=x onerror=document.title='owned'>","verdict":"fail","message":"<b>bold</b>"}
END
"$muster" report -f html -o "$dir/hostile.html" "$dir/hostile"
# names that are properties of every object, and a time outside the range of dates
cat >"$dir/odd" <<'END'
{"run":"r","time":1,"suite":"certify","test":"certify","node":"constructor","part":"eth1","verdict":"fail","message":"toString"}
{"run":"r","time":1,"suite":"certify","test":"links","part":"uplink","verdict":"fail","message":"valueOf"}
{"run":"r","time":1,"suite":"certify","test":"certificate","metric":"expires","node":"constructor","value":1e17,"unit":"s"}
{"run":"r","time":1,"suite":"certify","test":"certify","node":"__proto__","verdict":"pass"}
END
"$muster" report -f html -o "$dir/odd.html" "$dir/odd"

timeout 600 python3 "$top_srcdir/tests/report/page-test.py" "$dir" >"$dir/tap"
status=$?
while IFS=$'\t' read -r verdict name found; do
    if [ "$verdict" = ok ]; then pass "$name"; else fail "$name" || diag "$found"; fi
done <"$dir/tap"
is "$status" 0 'the test in the browser completed'
done_testing
