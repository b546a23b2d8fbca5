#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The gate knows a certificate that is missing, expired, altered or copied and a node that has
# changed, and does with the job what muster.conf says: ignore, log, refuse.
. "$(dirname "$0")/gate.sh"

gate_lab_up -n 2
log=$top/.lab/$name/n1/var/log/slurm/slurmd.log

job() { # runs a user's job on n1; sets $ran, whether it ran, and $said, what the gate logged
    local before
    ran=yes
    before=$(wc -l <"$log")
    as_user timeout 100 srun -Q -w n1 true >"$work/out" 2>&1 || ran=no
    said=$(tail -n +$((before + 1)) "$log" | grep 'muster: ')
}

policies refuse refuse refuse
put_certificate valid
job
is $ran yes 'a valid certificate: the job runs'
is "$said" '' '... without a message'

try() { # STATE KEY MESSAGE
    put_certificate "$1"
    case $2 in
    OnMissing) set -- "$@" refuse ignore ignore log ignore ignore ;;
    OnExpired) set -- "$@" ignore refuse ignore ignore log ignore ;;
    OnChanged) set -- "$@" ignore ignore refuse ignore ignore log ;;
    esac
    policies ignore ignore ignore
    job
    is $ran yes "$1, ignore: the job runs"
    is "$said" '' '... without a message'
    policies "$7" "$8" "$9"
    job
    is $ran yes "$1, $2=log: the job runs"
    like "$said" "muster: n1: certificate $3.*; job [0-9]+ allowed$" '... and slurmd.log has why'
    policies "$4" "$5" "$6"
    job
    is $ran no "$1, $2=refuse: the job does not run"
    like "$said" "error: muster: n1: certificate $3.*; job [0-9]+ refused by $2=refuse; next: muster certify -w n1$" \
        '... slurmd.log names node, state and next step'
    like "$(lab on n1 cat "${certificate%/*}/refused")" "Z n1: certificate $3" \
        '... and so does a note beside the certificate'
    ok '... the node is drained' within 60 is_in n1 drained
    resume n1
}

try missing OnMissing 'missing: there is no certificate at /var/lib/muster/certificate'
try expired OnExpired 'expired: '
try changed OnChanged 'changed: .*nic eth1: .*9000.*1500'
try altered OnChanged 'invalid: the text was changed after it was sealed'
try copied OnChanged 'invalid: the certificate belongs to node n2, this is n1'

policies refuse log log
job
is $ran no 'the strictest policy holds for a copied certificate'
resume n1

put_certificate valid
policies refuse refuse refuse
job
is $ran yes 'a new certificate: the job runs'
is "$said" '' '... without a message'

conf_add n1 'OnMissing=perhaps'
lab on n1 rm "$certificate"
job
is $ran yes 'a muster.conf that cannot be read never refuses'
like "$said" 'error: muster: n1: job [0-9]+ allowed: certificate could not be checked: /etc/muster/muster\.conf:' \
    '... and slurmd.log names file and line'

done_testing
