#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train on several ranks: every strategy has the losses of the reference for any number of ranks,
# also with more ranks than sequences, and needs the memory of its formula.
. "$(dirname "$0")/train.sh"

command -v jq >/dev/null || skip_all 'there is no jq'
runs() { # RANKS STRATEGY
    train_ranks "$1" "${small[@]}" --strategy="$2" --bucket=0.01 >out 2>err
    is "$?" 0 "$2 on $1 ranks ends well"
    ok '... with the losses of the reference' follows "$small_losses"
}
ranks_tried=(1 2 3 4 6 8) ranks_odd=(3 8)
if is_sanitized "$top_builddir/muster-train"; then ranks_tried=(1 3) ranks_odd=(3); fi
for ranks in "${ranks_tried[@]}"; do
    runs $ranks ddp
    runs $ranks zero3
done
for ranks in "${ranks_odd[@]}"; do
    runs $ranks zero1
    runs $ranks zero2
done

# Memory: within 5 % of the formulas 16 P, 8 P + 8 P/N, 4 P + 12 P/N, 16 P/N for N = 4.
expect=([0]='ddp 3.495936' 'zero1 2.18496' 'zero2 1.52947' 'zero3 0.873984')
for row in "${expect[@]}"; do
    strategy=${row% *}
    train_ranks 4 "${large[@]}" --strategy="$strategy" --json >out 2>err
    ok "$strategy: the losses of the larger problem, too" \
        awk -v expected="$large_losses" -F'"value":' '
            BEGIN { count = split(expected, wanted, " ") }
            /"metric":"loss"/ { n++; off = $2 + 0 - wanted[n]; bad = bad || off > 1e-5 || off < -1e-5 }
            END { exit bad || n != count }' out
    ok "$strategy: state of a rank within 5 % of ${row#* } MB" \
        awk -v expected="${row#* }" -F'"value":' '
            /"metric":"state"/ && /"part":"rank 0"/ { r = ($2 + 0) / expected; found = r > 0.95 && r < 1.05 }
            END { exit !found }' out
done
records_hold 'the records follow the schema' <out

# Traffic: each rank sends (N - 1) / N of 2 P bytes in a step, 3 P with zero3; sent bytes are counted.
for row in 'ddp 1.310976' 'zero1 1.310976' 'zero2 1.310976' 'zero3 1.966464'; do
    strategy=${row% *}
    train_ranks 4 "${large[@]}" --strategy="$strategy" --algorithm=ring --bucket=0.1 --json >out 2>err
    ok "$strategy: a rank sends within 1 % of ${row#* } MB in each step" \
        awk -v expected="${row#* }" -F'"value":' '
            /"metric":"sent"/ && !/"part":"step 0"/ { n++; r = ($2 + 0) / expected; bad = bad || r < 0.99 || r > 1.01 }
            END { exit bad || n != 9 }' out
done

# Wire formats of gradients: lossless coding gives the same bits, lossy formats near ones, both with fewer
# bytes. All use the same algorithm, since others add in other orders.
wide=(--layers=2 --heads=4 --channels=128 --context=32 --vocab=256 --batch=4 --fixed-batch
    --algorithm=ring)
losses() { jq -r 'select(.metric == "loss").value' out; }
sent() { jq -r 'select(.metric == "sent" and .part == "step 5").value' out; }
for strategy in ddp zero3; do
    train_ranks 3 "${wide[@]}" --strategy=$strategy --json >out 2>err
    plain=$(losses) plain_MB=$(sent)
    train_ranks 3 "${wide[@]}" --strategy=$strategy --json --wire=lossless >out 2>err
    is "$(losses)" "$plain" "$strategy, lossless: exactly the same losses"
    ok "... in fewer bytes ($(sent) of $plain_MB MB)" awk "BEGIN { exit !($(sent) < 0.97 * $plain_MB) }"
    train_ranks 3 "${wide[@]}" --strategy=$strategy --json --wire=bf16 >out 2>err
    isnt "$(losses)" "$plain" "$strategy, bf16: other losses"
    ok '... by less than 0.01' awk -v a="$(tail -n 1 <<<"$plain")" -v b="$(losses | tail -n 1)" \
        'BEGIN { off = a - b; exit !(off < 0.01 && off > -0.01) }'
    ok "... in fewer bytes ($(sent) of $plain_MB MB)" awk "BEGIN { exit !($(sent) < 0.9 * $plain_MB) }"
done

# An algorithm is used where it applies, not on one node or with a wire format that it lacks.
for option in --algorithm=hierarchical '--algorithm=rabenseifner --wire=int8'; do
    wire=$(grep -o -- '--wire=.*' <<<"$option")
    train_ranks 2 "${wide[@]::7}" ${wire:+"$wire"} --json >out 2>err
    plain=$(losses)
    # shellcheck disable=SC2086 # two words
    train_ranks 2 "${wide[@]::7}" $option --json >out 2>err
    is "$?:$(losses)" "0:$plain" "$option where it does not apply: the losses without it"
done

# The window of gathered units changes no digit of the losses, and is not exceeded.
for window in 1 2 3 none; do
    train_ranks 2 "${large[@]}" --strategy=zero3 --window="$window" >out 2>err
    grep -o 'loss [0-9.]*' out >"losses-$window"
    ok "--window=$window: the losses of --window=1" cmp losses-1 "losses-$window"
    [ $window = none ] && continue
    ok "... and at most $window times the largest unit gathered" awk -v window=$window '
        /^gathered: at most/ { found = 1; bad = $4 > window * $11 + 1e-6 }
        END { exit bad || !found }' out
done

train_ranks 2 "${small[@]}" --scheme=zero1 --bucket=0.01 >out 2>err
is "$?:$(grep -- --strategy err)" '0:muster-train: option --scheme is now --strategy' 'an old name of the option still works, with a message'

text=$(train_ranks 2 "${small[@]}" --strategy=zero9 2>&1)
like "$text" '^muster-train: option --strategy: expected ddp, zero1, zero2, zero3 or replicas, found "zero9"' \
    'an unknown strategy is refused'
is "$(grep -c '^muster-train' <<<"$text")" 1 '... in one line'
text=$(train_ranks 2 "${small[@]}" --data=no-such 2>&1)
like "$text" '^muster-train: no-such: No such file or directory' 'missing data is reported'
is "$(grep -c '^muster-train' <<<"$text")" 1 '... in one line'
done_testing
