#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A bad node is drained with the part at fault as the reason and loses its certificate; it is
# released when it passes again; drains of others and nodes in use are not touched.
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/madeup.sh"

# links are really measured only while they are at fault
made_up_battery
certify
is "$status" 0 'all four are certified' || show
lab fault missing-gpu n3 2 >/dev/null
certify --dry-run
is "$status $(states)" '1 n1 idle n2 idle n3 idle n4 idle' 'a dry run drains nobody' || show
like "$output" 'n3 would be drained: muster: gres_mismatch gpu2 .*20' 'but says which node it would drain'
is "$(certificates)" 'n1 n2 n3 n4' 'and leaves certificates as they are'
certify --no-drain
is "$status $(states)" '1 n1 idle n2 idle n3 idle n4 idle' '--no-drain drains nobody' || show
lab heal >/dev/null
lab fault slow-rail n3 eth2 >/dev/null
muster=$real_muster
certify
is "$status $(states)" '1 n1 idle n2 idle n3 drained n4 idle' 'the slow node is drained' || show
like "$(reason n3)" '^muster: rail_slow eth2 (4[0-9]|5[0-9]) of 200 Mb/s 20[0-9]{2}-[0-9]{2}-[0-9]{2}$' \
    'with a reason that a technician can act on'
is "$(certificates)" 'n1 n2 n4' 'and loses its certificate'

valid 'its records are valid'
first=$(reason n3)
certify
is "$status $(verdicts)" '1 n1 pass n2 pass n3 fail n4 pass' 'it is tested again, and fails' || show
is "$(reason n3)" "$first" 'the reason keeps its date'
lab heal >/dev/null
lab run sbatch -Q -w n3 -J user --wrap 'sleep 1' --uid=nobody -o /dev/null
certify --dry-run
is "$(verdicts)" 'n1 pass n2 pass n4 pass' 'a dry run does not lift the drain'
like "$output" 'n3: .*dry run does not lift it' 'and says so'
"$lab_dir/lab" -L "$name" run sh -c 'while :; do squeue -h -o "%u %j %T %N" -t running; scontrol -o show reservation |
    grep -o "Nodes=[^ ]*"; sinfo -h -n n3 -o "n3 %T"; sleep 0.05; done' >"$work/watch" 2>&1 &
watcher=$!
certify
kill $watcher
wait $watcher 2>/dev/null
is "$status $(verdicts)" '0 n1 pass n2 pass n3 pass n4 pass' 'repaired, it is certified' || show
is "$(certificates)" 'n1 n2 n3 n4' 'has a certificate again'
like "$output" 'n3 released; it was drained: muster: rail_slow eth2' 'and is released'
like "$(cat "$work/watch")" 'Nodes=n\[1-4\]' 'it was tested in a reservation'
like "$(cat "$work/watch")" '^n3 (allocated|reserved|maint)' 'and the tests ran in it'
is "$(awk '/muster-certify/ { seen = 1 } /user/ && !seen { early = 1 } END { print early + 0 }' \
    "$work/watch")" 0 'so that no job of a user came first'
ok 'the job of the user that waited for it runs now' within 60 no_jobs -n user -t pending
within 60 no_jobs

muster=$made_up_muster
lab run scontrol update nodename=n2 state=drain reason='replace PSU'
certify
is "$status $(verdicts)" '0 n1 pass n3 pass n4 pass' 'a node that others drained is not tested' || show
like "$output" 'n2: left alone: drained by someone else: replace PSU' 'and is named'
certify -w 'n[1-4]'
is "$status $(verdicts)" '3 n1 pass n2 unknown n3 pass n4 pass' 'named with -w it is unknown' || show
is "$(states | cut -d' ' -f4) $(reason n2)" 'drained replace PSU' 'and its drain is as it was'
resume n2
lab run sbatch -Q -w n1 -J busy --wrap 'sleep 1000' -o /dev/null
within 60 has_jobs -n busy -t running
certify
is "$status $(verdicts)" '0 n2 pass n3 pass n4 pass' 'a node with a job is left alone' || show
is "$(lab run squeue -h -n busy -o %T)" RUNNING 'and its job runs on'
lab run scancel -n busy
within 60 no_jobs

lab fault missing-gpu n1 2 >/dev/null
lab fault missing-gpu n2 3 >/dev/null
certify
is "$status $(states)" '1 n1 drained n2 idle n3 idle n4 idle' \
    'two faults at once drain no more than the cap: a quarter, one of four' || show
like "$output" 'NOT DRAINED: n2 failed too, but muster has drained [0-9]+ nodes? and may drain at most 1 of 4' 'and the output says so'
certify -w n1,n2
is "$status $(states)" '1 n1 drained n2 idle n3 idle n4 idle' 'a node that stays drained counts in the next run' || show
lab heal >/dev/null
resume n1
lab fault missing-gpu n1 2 >/dev/null
lab fault missing-gpu n2 2 >/dev/null
lab fault missing-gpu n4 5 >/dev/null
certify
is "$status $(states)" '3 n1 idle n2 idle n3 idle n4 idle' 'a failure that three of four nodes share drains nobody' || show
like "$(verdicts)" 'n1 unknown n2 unknown n3 [a-z]+ n4 unknown' 'and is no failure of these nodes'
like "$(grep -A 1 '^$' "$work/output" | sed -n 2p)" \
    '^3 of 4 nodes fail alike in check: slurm.gres gpu2: .*no node drained: n\[1-2,4\]$' \
    'and is the first line of the report' || show
valid 'its records are valid'
lab heal >/dev/null

lab run sh -c 'cp /etc/hosts /etc/hosts.whole && grep -v -w n2 /etc/hosts.whole >/etc/hosts'
certify
like "$status $(states) $(verdicts)" '^3 n1 idle n2 idle n3 idle n4 idle .*n2 unknown' \
    'a name that the head cannot resolve drains nobody' || show
like "$output" 'n2 .*its name does not resolve on this host' 'and the output blames the head' || show
lab run sh -c 'sed "/\<n2\>/s/^[0-9.]*/127.0.0.1/" /etc/hosts.whole >/etc/hosts'
certify --level quick
like "$status $(states) $(verdicts)" '^3 n1 idle n2 idle n3 idle n4 idle .*n2 unknown' \
    'a wrong address on the head drains nobody' || show
like "$output" 'n2 .*slurmctld does not miss it: check names and network of this host' '... and the output says what to check' || show
lab run sh -c 'cat /etc/hosts.whole >/etc/hosts'
for node in n1 n2 n3; do
    lab fault cut-off $node >/dev/null
done
missed() { [ "$(lab run sinfo -h -N -n 'n[1-3]' -o %t | grep -c '[*]$')" = 3 ]; }
ok 'three of four are cut off at once, and slurmctld misses them' within 200 missed
certify --level quick
like "$status $(states)" '^3 n1 [^ ]+ n2 [^ ]+ n3 [^ ]+ n4 idle$' '... they are unknown' || show
unlike "$(for node in n1 n2 n3; do reason $node; done)" '^muster:' 'nobody is drained by muster'
like "$output" '3 of 4 nodes fail alike in reach: .*no answer from the host' 'one line says that they fail alike'
lab heal >/dev/null
ok 'nothing is left' within 60 nothing_left
done_testing
