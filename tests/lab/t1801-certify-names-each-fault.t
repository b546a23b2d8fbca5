#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each fault of the lab is named: the right node, the right part, nothing else; healthy runs before
# and after find nothing.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/testlab.sh"
. "$(dirname "$0")/certify.sh"

"$lab_dir/campaign-faults" -L "$name" -v 1 >"$work/campaign" 2>&1
while read -r line; do
    case $line in
    *' right') pass "$line" ;;
    *WRONG*) fail "$line" ;;
    esac
done < <(grep -E '^[0-9]+ ' "$work/campaign" | grep -v ' wrong$')
like "$(tail -n 1 "$work/campaign")" '^27 right, 0 wrong$' 'thirteen faults, fourteen healthy runs' ||
    sed 's/^/# /' "$work/campaign" >&2
done_testing
