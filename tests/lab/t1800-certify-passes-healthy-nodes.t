#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Healthy nodes are certified, again and again; output and files are complete. The MPI programs never
# run as root; muster check and what writes certificates do.
. "$(dirname "$0")/certify.sh"

conf=$top/.lab/$name/head/etc/muster/muster.conf
cp "$conf" "$work/conf"
echo BatteryUser=root >>"$conf"
certify
is "$status $(grep -c . "$work/output")" '2 1' 'BatteryUser=root is refused in one line' || show
like "$output" 'BatteryUser=root: found "root", allowed the name of a user other than root$' 'and the line says why'
cp "$work/conf" "$conf"
echo BatteryUser=no-such >>"$conf"
certify
is "$status $output" "3 muster certify: BatteryUser=no-such: no such user; next: useradd --system --user-group \
--home-dir / --shell /usr/sbin/nologin no-such, with the same UID on all nodes" 'and so is an unknown user'
ok 'before anything starts' nothing_left
cp "$work/conf" "$conf"

# Prints the processes of muster on a node, one "NAME UID CAPABILITIES NO-NEW-PRIVS" per line. Leaves out a
# program of the battery that has one thread only: it is not yet about to start MPI.
cat >"$work/processes" <<'END'
while :; do
    cat /proc/[0-9]*/status 2>/dev/null | awk '
        $1 == "Name:" { name = $2; caps = "" }
        $1 == "Uid:" { uid = $2 "/" $3 "/" $4 "/" $5 }
        $1 == "Threads:" { threads = $2 }
        $1 == "CapPrm:" || $1 == "CapEff:" { sub(/^0+/, "", $2); caps = caps $2 }
        $1 == "NoNewPrivs:" && name ~ /^muster/ && (threads > 1 || name == "muster") {
            print name, uid, (name == "muster" ? "-" : caps == "" ? "none" : caps), $2 }'
    sleep 0.2
done
END
watch_processes() {
    watchers=
    for node in n1 n4; do
        "$lab_dir/lab" -L "$name" on $node sh "$work/processes" >>"$work/processes.$node" 2>/dev/null &
        watchers="$watchers $!"
    done
}
end_watch() {
    # shellcheck disable=SC2086 # words
    kill $watchers
    # shellcheck disable=SC2086
    wait $watchers 2>/dev/null
}
watch_processes

# Certifies with reports, for the second round.
certify_and_report() {
    status=0
    lab run "$muster" certify --junit "$work/junit.xml" --report html:/var/lib/muster/run.html --json - \
        >"$work/records" 2>"$work/output" </dev/null || status=$?
    output=$(cat "$work/output")
}
certify_in=(certify certify_and_report)
for round in 1 2; do
    [ $round -eq 1 ] || conf_add head Report=prometheus:/var/lib/muster/muster.prom \
        Report=json:/var/lib/muster/%r.jsonl
    "${certify_in[round - 1]}"
    ! is_unsettled || "${certify_in[round - 1]}"
    is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' "run $round certifies all four" ||
        show
    is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'and leaves them idle'
    ok 'with nothing left of the run' nothing_left
done
end_watch
is "$(sort -u "$work"/processes.n? | grep -v '^muster ' | xargs -n 4 echo)" \
    'muster-collecti 7711/7711/7711/7711 none 1
muster-launch 7711/7711/7711/7711 none 1
muster-links 7711/7711/7711/7711 none 1' 'MPI programs never run as root, and cannot gain privileges'
is "$(sort -u "$work"/processes.n? | grep '^muster ' | cut -d' ' -f2 | sort -u | xargs)" 0/0/0/0 \
    'muster check and what writes certificates run as root'
is "$(grep -Ec '^n[1-4] +certified ' "$work/output")" 4 'the table has a line per node'
like "$output" '4 of 4 nodes certified \(quick\) until 20[0-9-]+ [0-9:]+ UTC, [0-9.]+ s, run 20' \
    'and a summary'
is "$(certificates)" 'n1 n2 n3 n4' 'each node has a certificate'
for node in n1 n4; do
    like "$(lab on $node env SLURMD_NODENAME=$node "$muster" certificate verify 2>&1)" valid \
        "the certificate of $node is valid there"
    like "$(lab on $node cat /var/lib/muster/certificate)" '^test links eth1: [0-9]+ Mb/s' \
        'and has the figures'
done
valid 'each line of the records is a record'
is "$(jq -r .run "$work/records" | sort -u | wc -l)" 1 'all records are of one run'
is "$(jq -r 'select(.suite == "links" and .metric == "bandwidth") | "\(.node)\(.part)\(.peer)"' \
    "$work/records" | sort -u | wc -l)" 24 'with a bandwidth of each ordered pair and rail'
ok 'the JUnit file is XML' python3 -c "import sys, xml.dom.minidom as m; m.parse('$work/junit.xml')"
like "$(cat "$work/junit.xml")" '<testsuite name="launch" tests="[0-9]+" failures="0" errors="0"' \
    'with a suite per stage'
is "$(jq -r .suite "$work/records" | sort -u | xargs)" \
    'certificate certify check collectives launch links' 'only records go to standard output'
like "$(lab run cat /var/lib/muster/muster.prom)" '^muster_node_certified\{node="n4"\} 1$' \
    'Report= lines of muster.conf write reports'
like "$(lab run sh -c 'ls /var/lib/muster/*.jsonl')" '/20[0-9]+-[0-9]+-[0-9a-f]+\.jsonl$' 'with the run in their name'
lab run sh -c 'cat /var/lib/muster/*.jsonl' >"$work/records"
report=$(lab run "$muster" report - <"$work/records" 2>&1)
like "$(tail -n 1 <<<"$report")" '^4 of 4 nodes passed' 'muster report prints the run from its records' ||
    diag "$report" "$(verdicts)" "$(low_figures)"
is "$(lab run grep -c '^<title>muster 20' /var/lib/muster/run.html)" 1 'the option --report writes a page'
like "$(lab run "$muster" history n2)" '^n2 +20.* certified +quick +[0-9]+ Mb/s' \
    'the history has the runs'
is "$(lab run "$muster" history | grep -c certified)" 4 'and the newest of each node'

if command -v script >/dev/null; then
    status=0
    lab run script -qec "$muster certify -w n1,n2 --json $work/records" /dev/null >"$work/terminal" || status=$?
    tr '\r' '\n' <"$work/terminal" >"$work/output"
    like "$(grep -a rounds "$work/output")" 'links .*: [0-9]+ of [0-9]+ rounds' \
        'a terminal shows the current round of the links'
else
    certify_settled -w n1,n2
    skip 1 'no script(1)'
fi
is "$status $(verdicts)" '0 n1 pass n2 pass' 'two nodes by name' || show
certify_settled -w n3
is "$status $(verdicts)" '0 n1 pass n3 pass n4 pass' 'a single node is tested with partners' || show
like "$output" '^n\[1,4\] tested as partners of n3: links needs two nodes$' 'and the output says so'
lab run scontrol update nodename=n[1-2,4] state=drain reason=elsewhere
certify -w n3
is "$status $output" \
    '3 muster certify: cannot test n3 alone: links needs two nodes, and no other node is free; certify again when one is free' \
    '... and if no partner is free nothing is started'
lab run scontrol update nodename=n[1-2,4] state=resume
text=$(lab run "$muster" certify --dry-run -w n1,n2 --json /dev/full 2>&1 >/dev/null)
is "$?" 3 'records that cannot be written are no success'
like "$text" '^muster certify: /dev/full: could not write all records$' '... and the output says so'
watch_processes
certify_settled --level standard -p lab
end_watch
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'level standard on a partition' || show
like "$(lab on n1 cat /var/lib/muster/certificate)" '^level: standard' 'the certificate has the level'
like "$(lab on n1 cat /var/lib/muster/certificate)" '^test train: (pass|warn)' '... and that training was tried'
like "$(lab on n1 cat /var/lib/muster/certificate)" '^test host: pass' '... and what its processors and memory reach'
is "$(sort -u "$work"/processes.n? | grep -v '^muster ' | grep train | xargs -n 4 echo)" \
    'muster-train 7711/7711/7711/7711 none 1' '... without privileges, as all MPI programs'
is "$(sort -u "$work"/processes.n? | grep -v '^muster ' | grep -vc ' 7711/7711/7711/7711 none 1$')" 0 \
    '... none of which has any' || diag "$(sort -u "$work"/processes.n?)"
is "$(lab on n1 find /tmp -name 'muster-*')" '' '... and nothing is left in /tmp'
done_testing
