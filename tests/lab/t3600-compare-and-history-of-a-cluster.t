#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster compare queries the nodes of a real cluster and names the one that differs, by majority and
# against a golden file; certify warns of rails that are slower than before, or than published figures;
# muster history shows what changed between two certifications.
. "$(dirname "$0")/certify.sh"
[ -x "$(dirname "$record_check")/history-add" ] || skip_all 'no history-add beside record-check'

compare() {
    status=0
    output=$(lab run "$muster" compare "$@" 2>&1 </dev/null) || status=$?
}

compare
is "$status" 0 'four equal nodes' || diag "$output"
like "$output" '^4 nodes, [0-9]+ facts, 1 group$' '... were all queried'
unlike "$output" '^fail' '... and differ in nothing that breaks jobs'

# The missing part of a node's output is no difference.
cp "$muster" "$work/whole"
cat >"$work/cut" <<END
#!/bin/bash
"$work/whole" "\$@" | sed '/"metric":"carrier"/,\$d'
END
chmod +x "$work/cut"
lab on n2 mount --bind "$work/cut" "$muster"
compare
lab on n2 umount "$muster"
is "$status $(grep -c '^fail' <<<"$output")" '3 0' 'a node whose output is cut off has no difference' || diag "$output"
like "$output" '^muster compare: n2: not compared, muster check did not complete' '... and is named'
like "$output" '^3 nodes, [0-9]+ facts' '... the others are compared'
output=$(lab run "$muster" doctor 2>&1 </dev/null)
is "$? $(grep -c '^fail\|^unknown' <<<"$output")" '0 0' 'muster doctor finds all that it needs' || diag "$output"
like "$output" '^pass +user +head,n\[1-4\]: muster, UID ' '... and reports equal results of several hosts in one line'
like "$output" '^pass +transports +n\[1-4\]: tcp on eth1, tcp on eth2$' '... with the transports of UCX'
like "$output" '^pass +ports +n\[1-4\]: the next node can be reached$' '... and connections between nodes'
output=$(lab run "$muster" doctor -w n1,n9 2>&1 </dev/null)
is "$? $output" '2 muster doctor: no node n9 in this cluster' '... an unknown node is refused'
address=$(lab on n2 getent ahostsv4 n3 | awk '{ print $1; exit }')
lab on n2 ip route add prohibit "$address"
output=$(lab run "$muster" doctor 2>&1 </dev/null)
like "$output" '^warn +ports +n2: TCP port [0-9]+ of n3 cannot be reached: ' '... a node that cannot reach the next one is named'
lab on n2 ip route del prohibit "$address"
lab on n2 sed -i 's/^muster:x:[0-9]*:/muster:x:7799:/' /etc/passwd
output=$(lab run "$muster" doctor 2>&1 </dev/null)
is $? 1 '... another UID of BatteryUser is found'
like "$output" '^fail +user +n2: muster, UID 7799; elsewhere: muster, UID ' '... on its node'
lab on n2 sed -i 's/^muster:x:7799:/muster:x:7711:/' /etc/passwd
ok '--save-golden writes the facts of the nodes' lab run "$muster" compare --save-golden "$work/golden"

lab fault wrong-mtu n3 eth1 1400 >/dev/null
compare
is "$status" 1 'another MTU is found'
like "$output" '^fail +n3 +eth1 +mtu +1400 +[0-9]+ \(3 of 4\) ' '... on its node' || diag "$output"
compare -w n3 --golden "$work/golden"
is "$status" 1 'a single node is compared with the golden file'
like "$output" '^fail +n3 +eth1 +mtu +1400 +[0-9]+ \(golden:[0-9]+\)' '... which names the line'
lab run scontrol update nodename=n4 state=drain reason=elsewhere
compare -w 'n[1-4]' --json
is "$status" 1 'a node that cannot be queried does not prevent the comparison'
like "$output" 'n4: not queried, it is drain' '... a drained node is named'
compare -w 'n[1-5]'
is "$status" 2 'an unknown node is a usage error'
like "$output" '^muster compare: no node n5 in this cluster' '... and named'

lab heal >/dev/null
lab run scontrol update nodename=n4 state=resume
lab run sbatch -Q -w n2 --exclusive --wrap 'sleep 1000' -o /dev/null
within 60 sh -c "'$lab_dir/lab' -L '$name' run sinfo -h -n n2 -o %T | grep -q allocated"
compare -w 'n[1-3]'
is "$status" 3 'a node whose CPUs are all in use is left out' || diag "$output"
like "$output" '^muster compare: n2: not queried, jobs use all CPUs$' '... and named'
like "$output" '^2 nodes, ' '... the others are compared'
compare -w n2
is "$status" 3 'there is no other node to compare'
like "$output" '^muster compare: no node can be queried: jobs use all CPUs of n2; retry when' '... one line says why'
compare -w n77
is "$status" 2 'an unknown node: exit status 2'
lab run scancel -u root
within 60 no_jobs
certify_settled --no-drain --level quick -w 'n[1-3]'
is "$(verdicts)" 'n1 pass n2 pass n3 pass' 'three nodes are certified' || diag "$output"

# five good runs at 1.3 times that speed, a reference above what any rail reaches, and a slow rail
add=$(dirname "$record_check")/history-add
database=$top/.lab/$name/head/var/lib/muster/history.db
for i in 1 2 3 4 5; do
    jq -c 'if .suite == "links" and .metric == "bandwidth" then .value *= 1.3 else . end' \
        "$work/records" | "$add" "$database" "old$i" $((1000 + i)) || bail 'history-add'
done
echo 'metric=links.bandwidth value=900 unit=Mb/s kind=threshold source=a.test seen=2026-01' >"$work/reference"
conf_add head "Reference=$work/reference"
lab fault slow-rail n2 eth1 >/dev/null
certify --no-drain --level quick -w 'n[1-3]'
is "$(verdicts)" 'n1 pass n2 fail n3 pass' 'a slow rail fails its node, a hint fails nobody' || diag "$output"
like "$output" 'n1: eth1 runs at [0-9]+ Mb/s, in its last [56] good runs at [0-9]+: what changed\?' \
    'certify warns of a rail that is slower than it was' || diag "$output"
like "$output" 'n1: eth2 runs at [0-9]+ Mb/s, the reference minimum is 900 \(reference:1, a.test\)' \
    '... and of one that is slower than the reference'
is "$(jq -r 'select(.verdict == "warn" and .limit_source) | .limit_source' "$work/records" | sort | uniq -c | xargs)" \
    '5 history 5 reference' '... each good rail once, with the source of the limit'
valid 'the records are valid'
history() { lab run "$muster" history "$@"; }
text=$(history n2)
like "$text" '^n2 +eth1 +bandwidth .* worse since [-0-9]+ [0-9:]+, [0-9.]+ before$' \
    'the history says since when a rail is worse, and what it reached before' || diag "$text"
text=$(history --diff previous last)
like "$text" '^n2 +certified +FAILED +eth1 ' '--diff has the verdict' || diag "$text"
like "$text" '^n2 +eth1 +bandwidth .* -[0-9]+ %$' '... and the figure'
unlike "$text" '^n1 .*(kernel|firmware|driver)' '... and no fact that has not changed'
done_testing
