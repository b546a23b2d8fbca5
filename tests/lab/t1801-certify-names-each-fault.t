#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Faults of the lab are named: the right node, the right part, nothing else; healthy runs before and
# after find nothing. All of them, by turns with healthy runs: tests/lab/campaign-faults.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/certify.sh"

"$lab_dir/campaign-faults" -L "$name" -qv 1 slow-rail rail-down wrong-mtu slow-uplink missing-gpu \
    munge-key slurmd-killed slow-sends slow-leaf >"$work/campaign" 2>&1
while read -r line; do
    case $line in
    *' right') pass "$line" ;;
    *WRONG*) fail "$line" ;;
    esac
done < <(grep -E '^[0-9]+ ' "$work/campaign" | grep -v ' wrong$')
like "$(tail -n 1 "$work/campaign")" '^12 right, 0 wrong$' 'ten faults, two healthy runs' ||
    sed 's/^/# /' "$work/campaign" >&2
done_testing
