#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Nodes without a certificate wait in a reservation, where no job of a user starts. They are tested there,
# a share of them at a time, and leave it when they are certified.
. "$(dirname "$0")/certify.sh"
. "$(dirname "$0")/madeup.sh"

made_up_battery
muster_says() {
    status=0
    output=$(lab run "$muster" "$@" 2>&1) || status=$?
}

conf_add head TestCap=50%
muster_says reserve --dry-run
is "$status $output" '0 would wait for muster certify in reservation muster: n[1-4]' \
    'all nodes without a certificate would wait'
is "$(reservations)" '' 'a dry run makes no reservation'
muster_says reserve -w n9
is "$status $output" '2 muster reserve: no node n9 in this cluster' 'an unknown node'
muster_says reserve -w 'n[1-3]'
is "$status" 0 'three nodes wait'
muster_says reserve
is "$status $output" '0 waiting for muster certify in reservation muster: n4' 'and now the fourth one'
muster_says reserve
is "$status $output" '0 nothing to do' 'all nodes wait already'
lab run sbatch -Q -w n3 -J user --wrap 'sleep 1' --uid=nobody -o /dev/null
certify --dry-run
is "$status" 3 'a dry run takes no node out' || show
like "$output" 'n\[1-4\]: left alone: it waits in reservation muster' 'and says so'
certify
is "$status $(verdicts)" '0 n1 pass n2 pass' 'half of them are tested' || show
like "$output" 'left for another run: n\[3-4\] \(TestCap=50%\)' 'the others are left for another run'
like "$output" 'taken out of reservation muster: n\[1-2\]' 'the tested nodes leave the reservation'
muster_says reserve --list
is "$output" 'n[3-4]' 'the others still wait'
is "$(lab run squeue -h -n user -o %T)" PENDING 'and no job of a user began there'
certify --due
is "$status $(verdicts)" '0 n3 pass n4 pass' 'then the nodes without a certificate are tested' || show
is "$(reservations)" '' 'the reservation ends with the last node'
ok 'the job of the user runs' within 60 no_jobs -n user
certify --due
is "$status $(grep -c '^no certificate is due' "$work/output")" '0 1' 'then none is due' || show
lab run "$muster" reserve -w n1 >/dev/null
muster_says reserve --release n1
is "$status $output $(reservations)" '0 taken out of reservation muster: n1 ' 'a node is released without a test'
ok 'nothing is left' within 60 nothing_left
done_testing
