#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster revoke -w removes certificates on other nodes, beside their jobs, and says where it cannot.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/certify.sh"

for node in n1 n2 n3; do
    lab on $node touch /var/lib/muster/certificate
done
lab run sbatch -Q -w n2 --wrap 'sleep 100' -o /dev/null
within 10 sh -c "'$lab_dir/lab' -L '$name' run squeue -h -t running | grep -q n2"
status=0
words=$(lab run "$muster" revoke -w 'n[1-2]' 2>&1) || status=$?
is "$status" 0 'two nodes, one at work' || diag "$words"
is "$(certificates)" n3 'their certificates are gone, the third is there'
like "$words" '^n2: certificate revoked: /var/lib/muster/certificate$' 'a line says so for each'
lab run scontrol update nodename=n3 state=drain reason=test
status=0
words=$(lab run "$muster" revoke -w n1,n3,n9 2>&1) || status=$?
is "$status" 1 'a drained node and one that is not there: exit status 1'
like "$words" 'n1: there was no certificate' 'the others are done all the same'
like "$words" 'n3: it is drained .* run muster revoke on the node itself' 'what to do is said'
like "$words" 'n9: there is no such node' 'a wrong name too'
is "$(certificates)" n3 'nothing was touched there'
status=0
lab run "$muster" revoke -w 'n[1' 2>/dev/null || status=$?
is "$status" 2 'a list that is none: exit status 2'
done_testing
