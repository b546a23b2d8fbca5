#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster revoke -w removes certificates on other nodes, beside their jobs, and says where it cannot.
. "$(dirname "$0")/certify.sh"

for node in n1 n2 n3; do
    lab on $node touch /var/lib/muster/certificate
done
lab run sbatch -Q -w n2 --wrap 'sleep 1000' -o /dev/null
within 60 has_jobs -w n2 -t running
status=0
output=$(lab run "$muster" revoke -w 'n[1-2]' 2>&1) || status=$?
is "$status" 0 'two nodes, one of them busy: revoked' || diag "$output"
is "$(certificates)" n3 'their certificates are gone, the third is there'
like "$output" '^n2: certificate revoked: /var/lib/muster/certificate$' 'a line says so for each'
lab run scontrol update nodename=n3 state=drain reason=test
status=0
output=$(lab run "$muster" revoke -w n3,n9 2>&1) || status=$?
is "$status $output" '2 muster revoke: no node n9 in this cluster' \
    'an unknown node is reported before anything starts'
status=0
output=$(lab run "$muster" revoke -w n1,n3 2>&1) || status=$?
is "$status" 1 'a drained node: exit status 1'
like "$output" 'n1: no certificate found' 'the other node is done nevertheless'
like "$output" 'n3: node is drained .* run muster revoke on the node itself' 'the output has the next step'
is "$(certificates)" n3 'the certificate is still on the drained node'
like "$(lab run scontrol show node n3)" 'Comment=.muster: certificates issued until .* are revoked' \
    'but Slurm has it as revoked'
unlike "$(lab run scontrol show node n1)" Comment= 'and no other node is marked'
status=0
lab run "$muster" revoke -w 'n[1' 2>/dev/null || status=$?
is "$status" 2 'an invalid list: exit status 2'

lab run scontrol update partitionname=lab nodes=n1,n3
lab run scontrol create partitionname=other nodes=n2,n4
lab on n2 touch /var/lib/muster/certificate
output=$(lab run "$muster" revoke -w n2 2>&1) || diag "$output"
like "$output" '^n2: certificate revoked: ' 'a node that is not in the default partition'

lab run scontrol update nodename=n3 state=resume
certify -l quick -w 'n[1-4]'
is "$status $(verdicts)" '3 n1 pass n2 unknown n3 pass n4 unknown' 'a run is in one partition' || show
like "$output" '^not tested: n4: a run uses one partition, here lab; next: muster certify -p other, or --campaign NAME for all partitions$' \
    'and says where the others are' || show

lab fault frozen n1 >/dev/null
# a shell's background commands ignore an interrupt
lab run env --default-signal=INT "$muster" revoke -w n1,n2 >"$work/output" 2>&1 </dev/null &
within 60 has_jobs -n muster
lab run pkill -INT -x muster
wait $!
output=$(cat "$work/output")
lab heal >/dev/null
like "$output" 'muster revoke: n1: interrupted' 'a signal ends it, and the output says at which node'
like "$output" 'muster revoke: interrupted: not asked: n2' '... and what was not done'
ok '... and no job stays behind' within 60 no_jobs -n muster
done_testing
