#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The judge finds what is injected in synthetic fabrics, names the right part, and names nothing else.
. "$(dirname "$0")/../tap.sh"

sim=${top_builddir:?run by make check}/tests/sim/sim
is "$("$sim" one tree 64 2 16 1 few lab 2 2 | sed 's/[0-9.]* | [0-9]* |$//')" \
    "$("$sim" one tree 64 2 16 1 few lab 2 2 | sed 's/[0-9.]* | [0-9]* |$//')" \
    'the same fabric gives the same table again'

# The page is what `make sim` writes: but for times and memory the same rows come out again. What
# changes schedule, judge or noise changes them: run `make sim` then.
steady() { sed -E 's/([|][^|]*){2}[|]$//'; }
if ! is_sanitized "$sim"; then # minutes
    out=$("$sim" short)
    status=$?
    is "$status" 0 'the goals are reached' || diag "$out"
    is "$(grep -c '^reached: ' <<<"$out")" 3 'all three of them'
    is "$(awk -F' [|] ' '/^[|] (rail|all|host|leaf|node|whole|one|trunk)[^|]*[|][^|]*[|] 2 / && ($4 != "100.0 %" || $5 != "100.0 %")' <<<"$out")" \
        '' 'each kind of fault but a single path is found and rightly named'
    for row in 1 3 4; do
        is "$(sed -n '/^<!-- tables/,$p' "${top_srcdir:?}/doc/attribution.md" | grep -E '^[|] (fat|rail-opt)' |
            sed -n ${row}p | steady)" "$("$sim" row $row | steady)" \
            "row $row of doc/attribution.md is what is printed now"
    done
    is "$("$sim" busy 3 | awk -F'|' 'NR > 2 && ($9 + 0 > 0 || ($4 ~ /none/ && $6 + 0 < 100))')" '' \
        'no innocent node is drained, whatever the machines run beside; on quiet ones each part is named'
    # count, right and that very part, of the sample that the page has; not of the whole table
    out=$("$sim" calibrate 45)
    is $? 0 'failing findings of a sample are right as often as they say'
    is "$(grep '^| fail, ' <<<"$out" | awk -F'|' '{print $2, $5, $7, $8}')" \
        "$(grep -E '^[|] fail, (quiet|busy) ' "$top_srcdir/doc/attribution.md" | awk -F'|' '{print $2, $5, $7, $8}')" \
        '... as the page has them'
    # by chance most streams on it were one node's
    out=$(for number in 8355 8943 53367 54586 55257 61814 70715; do "$sim" -v calibrate 1 $number; done)
    is "$(grep -c 'fault: one cable of an uplink slow' <<<"$out")" 7 'beside a cable of an uplink that is slow'
    is "$(grep -E ' fail [0-2] .* wrong (roughly|exactly):' <<<"$out")" '' '... no node, rail or host is failed'
    # rates that changed by chance during a sample were low beside what the slow part leaves
    out=$(for number in 265 3169 3672 5919 8378 14539 24659 42773; do "$sim" -v calibrate 1 $number; done)
    is "$(grep -cE 'fault: (whole fabric|leaf switch) at half speed' <<<"$out")" 8 'beside a slow leaf or fabric'
    is "$(grep -E ' fail [0-2] .* wrong (roughly|exactly):' <<<"$out")" '' '... no node, rail or host is failed'
    # rails of several of its nodes are slow at times, or the fabric is slow
    out=$(for number in 2755 5595 10499 12855 30339; do "$sim" -v calibrate 1 $number; done)
    is "$(grep -E ' fail 4 .* wrong (roughly|exactly):' <<<"$out")" '' 'no leaf is named for faults of its nodes or of the fabric'
fi
"$sim" row 0 >/dev/null 2>&1
is $? 2 'a row that is not there is refused'
"$sim" one tree 1 2 16 1 few lab 2 2 >/dev/null 2>&1
is $? 2 'a fabric of one node is refused'
done_testing
