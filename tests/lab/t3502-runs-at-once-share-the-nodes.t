#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two certifications that begin at the same moment on one head do not wait for each other's nodes: each
# node is tested by one of them, and left alone by the other.
. "$(dirname "$0")/certify.sh"

pids=()
for run in a b; do
    lab run "$muster" certify -w 'n[1-4]' --json "$work/records.$run" >"$work/output.$run" 2>&1 \
        </dev/null &
    pids+=($!)
done
wait "${pids[@]}"
cat "$work/output.a" "$work/output.b" >"$work/output"
cat "$work/records.a" "$work/records.b" >"$work/records"
is "$(jq -r 'select(.suite == "certify" and .test == "certify" and .verdict == "pass") | .node' \
    "$work/records" | sort | xargs)" 'n1 n2 n3 n4' 'each node is certified once' || show
is "$(jq -r 'select(.suite == "certify" and .test == "certify" and .verdict and .verdict != "pass") |
    "\(.node) \(.verdict) \(.message)"' "$work/records" |
    grep -vcE '^n[1-4] unknown left alone: (another run is testing it|run [^ ]+ of host [^ ]+ tests it since|reservation [^ ]+ holds it since|jobs run there)')" 0 \
    'and left alone by the other run' || show
unlike "$(cat "$work/output")" 'no allocation' 'neither waited for an allocation'
is "$(certificates)" 'n1 n2 n3 n4' 'all have a certificate'
ok 'nothing is left' within 60 nothing_left

# Two heads, which know of each other only through Slurm, with a drain to test again: both need a reservation
# over the same nodes.
heads() { # SECONDS: starts one run on each head, SECONDS apart; sets $output to the output of both
    local head pids=()
    rm -f "$work"/records.*
    for head in a b; do
        [ $head = a ] || sleep "$1"
        lab run mkdir -p "/var/lib/muster-$head"
        cp "$top/.lab/$name/head/etc/muster/muster.conf" "$work/conf.$head"
        echo "HistoryFile=/var/lib/muster-$head/history.db" >>"$work/conf.$head"
        lab run "$muster" certify -c "$work/conf.$head" -w 'n[1-4]' --json "$work/records.$head" \
            >"$work/output.$head" 2>&1 </dev/null &
        pids+=($!)
    done
    wait "${pids[@]}"
    output=$(cat "$work/output.a" "$work/output.b")
    cat "$work/output.a" "$work/output.b" >"$work/output"
    cat "$work/records.a" "$work/records.b" >"$work/records"
}
delays=(3)
[ -z "${MUSTER_LONG-}" ] || delays+=(0 0.2 0.5 1 2)
for delay in "${delays[@]}"; do
    lab run scontrol update nodename=n2 state=drain 'reason=muster: links eth1 9 of 200 Mb/s 2026-01-01'
    heads "$delay"
    is "$(jq -r 'select(.suite == "certify" and .test == "certify" and .verdict == "pass") | .node' \
        "$work/records" | sort | xargs)" 'n1 n2 n3 n4' "two heads, $delay s apart: each node is certified once" || show
    like "$output" 'run 20[0-9-]+-[0-9a-f]{4} of host [^ ]+ tests n.* since [0-2][0-9]:[0-5][0-9] UTC' \
        'the other head says which run tests them' || show
    is "$(states)" 'n1 idle n2 idle n3 idle n4 idle' 'all are in service'
    ok 'nothing is left' within 60 nothing_left
done
done_testing
