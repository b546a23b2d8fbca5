#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The judge finds what is planted in synthetic fabrics, names the right part, and accuses nobody else.
. "$(dirname "$0")/../tap.sh"

sim=${top_builddir:?run by make check}/tests/sim/sim
out=$("$sim" short)
status=$?
is "$status" 0 'the goals are reached' || diag "$out"
is "$(grep -c '^reached: ' <<<"$out")" 3 'all three of them'
is "$(awk -F' [|] ' '/^[|] (rail|all|host|leaf|node|whole|one|trunk)[^|]*[|][^|]*[|] 2 / && ($4 != "100.0 %" || $5 != "100.0 %")' <<<"$out")" \
    '' 'each kind of fault but a single path is found and rightly named'
is "$("$sim" one tree 64 2 16 1 few lab 2 2 | sed 's/[0-9.]* | [0-9.]* | [0-9]* |$//')" \
    "$("$sim" one tree 64 2 16 1 few lab 2 2 | sed 's/[0-9.]* | [0-9.]* | [0-9]* |$//')" \
    'the same fabric gives the same table again'
"$sim" one tree 1 2 16 1 few lab 2 2 >/dev/null 2>&1
is $? 2 'a fabric of one node is refused'
done_testing
