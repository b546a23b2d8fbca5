#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two certifications that begin at the same moment on one head do not wait for each other's nodes: each
# node is tested by one of them, and left alone by the other.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/certify.sh"

pids=()
for run in a b; do
    lab run "$muster" certify -w 'n[1-4]' --json "$work/records.$run" >"$work/words.$run" 2>&1 \
        </dev/null &
    pids+=($!)
done
wait "${pids[@]}"
cat "$work/words.a" "$work/words.b" >"$work/words"
cat "$work/records.a" "$work/records.b" >"$work/records"
is "$(jq -r 'select(.suite == "certify" and .test == "certify" and .verdict == "pass") | .node' \
    "$work/records" | sort | xargs)" 'n1 n2 n3 n4' 'each node is certified once' || show
is "$(jq -r 'select(.suite == "certify" and .test == "certify" and .verdict and .verdict != "pass") |
    "\(.node) \(.verdict) \(.message)"' "$work/records" |
    grep -vcE '^n[1-4] unknown left alone: (another run tests it now|jobs run there)')" 0 \
    'and left alone by the other run' || show
unlike "$(cat "$work/words")" 'no allocation' 'neither waited for an allocation'
is "$(certificates)" 'n1 n2 n3 n4' 'all have a certificate'
ok 'nothing is left' nothing_left
done_testing
