#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The number of muster's requests to slurmctld does not grow with the nodes: certifying 4 and 16 nodes of one
# cluster, of which some were drained and some fail, and revoking their certificates, takes the same requests
# of each kind. The battery is made up, to save time.
. "$(dirname "$0")/madeup.sh"

muster_find
lab_up -n 16
conf_add head DrainCap=100 LinkTimes=1

made_up_battery

# Prints "KIND COUNT" of the requests since the last call. Leaves out what slurmd and slurmstepd send for each
# job, and requests that are repeated until a job is ready or has ended.
requests() {
    lab run sdiag | sed -n '/by message type/,/by user/s/^[\t ]*\([A-Z_]*\) .*count:\([0-9]*\) .*/\1 \2/p' | sort |
        grep -vE '^(REQUEST_(STEP_COMPLETE|COMPLETE_PROLOG|JOB_READY|JOB_INFO|JOB_INFO_SINGLE|FED_INFO|STATS_INFO)|MESSAGE_.*) '
    lab run sdiag -r >/dev/null
}

certify() { # NODES
    lab run "$muster" certify --level quick --json "$work/records" -w "$1" >"$work/output" 2>&1 </dev/null || true
}

# Certifies COUNT nodes, half of them drained and a quarter with a fault, then revokes the certificates. Writes
# the requests to $work/certify.COUNT and $work/revoke.COUNT.
round() { # COUNT
    local count=$1 half=$(($1 / 2)) quarter=$(($1 / 4)) i
    lab run scontrol update "nodename=n[1-$half]" state=drain reason='muster: slurm.gres gpu2 missing 2026-11-20'
    for ((i = 1; i <= quarter; i++)); do lab fault missing-gpu n$i 2 >/dev/null; done
    requests >/dev/null
    certify "n[1-$count]"
    requests >"$work/certify.$count"
    lab heal >/dev/null
    like "$(cat "$work/output")" "$((count - quarter)) of $count nodes certified" "of $count nodes half were drained, and a quarter fails again" ||
        sed 's/^/# /' "$work/output"
    is "$(grep -c ' stays drained: muster: ' "$work/output") $(grep -c ' released; it was drained' "$work/output")" \
        "$quarter $((half - quarter))" '... drained again, or released' || sed 's/^/# /' "$work/output"
    is "$(lab run sinfo -h -N -t drained -o %N | wc -l)" "$quarter" '... as Slurm says'
    is "$(lab run scontrol -o show node | grep -c 'Comment=.*muster')" 0 '... with no mark left'
    lab run scontrol update "nodename=n[1-$quarter]" state=resume

    requests >/dev/null
    is "$(lab run "$muster" revoke -w "n[1-$count]" 2>&1 | grep -c ': certificate revoked: \|: no certificate found')" $count \
        'all certificates are revoked'
    requests >"$work/revoke.$count"
}

for count in 4 16; do
    round $count
done
for what in certify revoke; do
    is "$(cat "$work/$what.16")" "$(cat "$work/$what.4")" "$what asks the controller for as much with 16 nodes as with 4"
done
is "$(sed -n 's/^REQUEST_UPDATE_NODE //p' "$work/certify.16")" 5 \
    'mark, resume, drain, unmark the drained and the released: a request each'
done_testing
