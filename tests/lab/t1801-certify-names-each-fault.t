#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults of the lab are named: the right node, the right part, nothing else; healthy runs before and
# after find nothing. Injects a selection of faults, more with MUSTER_LONG; tests/lab/campaign-faults has
# all of them, repeated, in turns with healthy runs.
. "$(dirname "$0")/certify.sh"

faults=(slow-rail rail-down missing-gpu slow-sends slow-leaf corrupt-rail)
right=9 # there are two slow rails, and two healthy runs
if [ -n "${MUSTER_LONG-}" ]; then
    faults+=(lossy-rail wrong-mtu slow-uplink munge-key slurmd-killed)
    right=14
fi
"$lab_dir/campaign-faults" -L "$name" -qv 1 "${faults[@]}" >"$work/campaign" 2>&1
while read -r line; do
    case $line in
    *' right') pass "$line" ;;
    *WRONG*) fail "$line" ;;
    esac
done < <(grep -E '^[0-9]+ ' "$work/campaign" | grep -v ' wrong$')
like "$(tail -n 1 "$work/campaign")" "^$right right, 0 wrong$" 'each fault and two healthy runs' ||
    sed 's/^/# /' "$work/campaign" >&2
done_testing
