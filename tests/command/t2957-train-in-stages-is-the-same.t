#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train as a pipeline: the losses of the reference for any number of stages, ranks, microbatches
# and any split; memory and traffic of each stage match the formulas; checkpoints continue with other
# stages; a rank that computes wrongly is named.
. "$(dirname "$0")/train.sh"

command -v jq >/dev/null || skip_all 'there is no jq'
here=$(hostname -s)
runs() { # RANKS OPTION...: the larger problem
    local ranks=$1
    shift
    train_ranks "$ranks" "${large[@]}" --verify "$@" >out 2>err
    is "$?" 0 "$ranks ranks, $*"
    ok '... have the losses of the reference' follows "$large_losses"
}
is_whole=yes ranks_tried=(2 4 6 8)
if is_sanitized "$top_builddir/muster-train"; then is_whole='' ranks_tried=(2); fi
for ranks in "${ranks_tried[@]}"; do
    train_ranks $ranks "${small[@]}" --stages=2 --verify >out 2>err
    is "$?" 0 "$ranks ranks, two stages, two sequences"
    ok '... have the losses of the reference' follows "$small_losses"
done
runs 2 --stages=2
runs 3 --stages=3 --microbatches=3
runs 4 --stages=4 --microbatches=1
runs 2 --stages=2 --split=3,1 --microbatches=7
if [ -n "$is_whole" ]; then
    runs 6 --stages=3 --split=1,1,2 --bucket=0.01
    runs 8 --stages=4 --microbatches=2
    runs 8 --stages=2 --split=1,3 --algorithm=ring
fi
train_ranks 1 "${large[@]}" --microbatches=3 >out 2>err
ok 'one rank that accumulates over three microbatches has these losses' follows "$large_losses"
train_ranks 2 "${large[@]}" --microbatches=4 --bucket=0.05 >out 2>err
ok 'so have two ranks that share the sequences' follows "$large_losses"

# bfloat16 if the processor has it: losses near the reference for each way to share the work.
if [ -n "$is_whole" ] && "$top_builddir/muster-train" "${small[@]}" --steps=0 --precision=bf16 >out 2>err; then
    for way in --strategy=ddp --strategy=zero3 --stages=2; do
        train_ranks 2 "${small[@]}" --precision=bf16 "$way" >out 2>err
        ok "two ranks in bf16, $way: the last loss is the reference's to 0.01" \
            awk '/^final/ { found = 1; off = $3 - 3.540202797 }
                END { exit !found || off > 0.01 || off < -0.01 }' out
    done
fi

# Stages by islands, which the plugin sets: gradients stay inside an island, also if ranks are mixed.
on_islands() { # "ISLAND OF RANK 0 ..." OPTION...
    local islands
    read -ra islands <<<"$1"
    shift
    ISLANDS="${islands[*]}" timeout 600 mpirun --oversubscribe -n ${#islands[@]} \
        bash -c 'island=($ISLANDS); MUSTER_ISLAND=${island[OMPI_COMM_WORLD_RANK]} exec "$0" "$@"' \
        "$top_builddir/muster-train" "${large[@]}" --layout=auto --verify "$@" >out 2>err
}
on_islands 'a b b a'
is "$?" 0 '--layout=auto on two islands'
ok '... has the losses of the reference' follows "$large_losses"
like "$(cat out)" "stage 0: . layers? on ranks 0,3 on $here,$here, island a, " '... each island is a stage'
like "$(cat out)" "stage 1: . layers? on ranks 1,2 on $here,$here, island b, " '... with its ranks'
like "$(cat out)" 'predicted: [0-9.]+ ms per step; [0-9.]+ ms if data parallel' '... and the prediction is printed'
on_islands 'a a a b' --stages=2
is "$(grep '^muster-train' err)" \
    'muster-train: --stages: 2 stages of 2 ranks do not fit into 2 islands; stages of 1 ranks do' \
    'stages that do not fit into islands are refused'
train_ranks 2 "${large[@]}" --layout=auto >out 2>err
ok 'without islands it is data parallel' follows "$large_losses"
runs 2 --stages=2 --split=measured
train_ranks 2 "${large[@]}" --stages=2 --dry-run --json >out 2>err
is "$(jq -r 'select(.metric == "loss").value' out)" '' '--dry-run runs no step'
is "$(jq -r 'select(.metric == "sent_forward" and .part == "stage 0 formula").value' out)" 0.032768 \
    '... and prints what would be sent'
records_hold '... in records that follow the schema' <out
figure() { jq -r "select(.metric == \"$1\" and .part == \"$2\").value" out; }
train_ranks 1 "${large[@]}" --layout=auto --dry-run --json >out 2>err
ok 'the time of a step is that of its layers, the head (a third of one), and the update' \
    awk -v step="$(figure predicted_step plan)" -v layer="$(figure layer_time 'stage 0')" \
    -v update="$(figure update_time 'stage 0')" 'BEGIN {
        off = step / (layer * (4 + 1 / 3) + update) - 1
        exit !(update > 0 && off < 1e-6 && off > -1e-6) }'

# Memory and traffic of each stage: P and E of this problem are 4 x 66496 and 4 x 18560 bytes, a layer
# 4 x 49984, activations of a batch 4 x 4 x 32 x 64; MB of all ranks of a stage.
train_ranks 4 "${large[@]}" --stages=2 --split=3,1 --algorithm=ring --json >out 2>err
records_hold 'the records follow the schema' <out
near() { # METRIC STAGE MB: measured value and formula are within 1 %
    ok "stage $2: $1 is $3 MB" awk -v a="$(figure "$1" "stage $2")" \
        -v b="$(figure "$1" "stage $2 formula")" -v c="$3" 'BEGIN {
            exit !(a != "" && a <= 1.01 * c && a >= 0.99 * c && b <= 1.01 * c && b >= 0.99 * c) }'
}
near state 0 2.696192
near state 1 1.096704
near working 0 0.074240
near sent_forward 0 0.032768
near sent_forward 1 0
near sent_backward 0 0
near sent_backward 1 0.032768
near sent_ends 0 0.074240
near sent_ends 1 0.074240
near sent_inside 0 1.422336
near sent_inside 1 0.622592
is "$(figure activations 'stage 0')" "$(figure activations 'stage 0 formula')" \
    'stage 0: activations as planned'

# Checkpoints: the same bits on as many ranks; the same losses with other stages and strategies.
final() { sed -n 's/^final *loss //p' out; }
long=("${large[@]}" --steps=12 --checkpoint-every=6 --threads=1)
train_ranks 4 "${long[@]}" --stages=2 --checkpoint=whole >out 2>err
wanted=$(final)
rm -r whole/step-000000012
for stages in 2 4; do
    cp -r whole "again-$stages"
    train_ranks 4 "${long[@]}" --stages=$stages --checkpoint="again-$stages" >out 2>err
    like "$(cat err)" 'resuming from step 6 of' "a checkpoint of two stages continues in $stages"
    [ $stages = 2 ] && is "$(final)" "$wanted" '... with the same loss'
    ok '... to 1e-6' awk -v a="$(final)" -v b="$wanted" 'BEGIN { exit !(a && a-b < 1e-6 && b-a < 1e-6) }'
done
if [ -n "$is_whole" ]; then
    train_ranks 4 "${long[@]}" --stages=2 --checkpoint=once >out 2>err
    ok '... and the same bits with as many stages' diff -r once/step-000000012 again-2/step-000000012
    train_ranks 3 "${long[@]}" --strategy=zero3 --checkpoint=whole >out 2>err
    ok 'zero3 continues from it, with the same loss to 1e-6' awk -v a="$(final)" -v b="$wanted" \
        'BEGIN { exit !(a && a-b < 1e-6 && b-a < 1e-6) }'
    rm -r whole/step-000000006
    train_ranks 2 "${long[@]}" --stages=2 --split=1,3 --checkpoint=whole --steps=13 >out 2>err
    like "$(cat err)" 'resuming from step 12 of' 'a pipeline continues from a checkpoint of zero3'
fi

# The rank that computes wrongly is named.
train() { train_ranks "$@" "${large[@]}" >out 2>err; }
train 4 --stages=2 --inject=nan:3@4
is "$?" 1 'a gradient that is not finite ends the run'
like "$(cat err)" \
    "^muster-train: step 4: loss [0-9.]*; the gradient of fcw in layer 2 is not finite, on rank 3 on $here" \
    '... named with step, rank, tensor and layer'
is "$(grep -c '^muster-train' err)" 1 '... in one line'
if [ -n "$is_whole" ]; then
    train 6 --stages=2 --verify --inject=flip:4@5
    is "$(grep '^muster-train: step' err)" \
        "muster-train: step 5: rank 4 on $here: parameter fcw of layer 2 differs from most of the 3 ranks" \
        'a parameter that differs within a stage is found'
fi
train 4 --stages=2 --verify --inject=rot:2@2
is "$(grep '^muster-train: step' err)" \
    "muster-train: step 3: rank 2 on $here: its stored layer 2 changed since the last step: its memory corrupts data" \
    'memory that loses a bit is found'

refused() { # LINE OPTION...
    local line=$1
    shift
    text=$(train_ranks 4 "${large[@]}" "$@" 2>&1)
    is "$(grep '^muster-train' <<<"$text")" "muster-train: $line; see muster-train --help" "$* is refused"
}
refused '--stages: 4 ranks cannot be divided evenly among 3 stages' --stages=3
refused '--stages: 2 layers cannot be split into 4 stages' --stages=4 --layers=2
refused '--split: expected 2 numbers, one per stage, with a sum of 4 layers; found "2,3"' \
    --stages=2 --split=2,3
refused '--stages: more than 1 requires --strategy=ddp, found zero3' \
    --stages=2 --strategy=zero3
done_testing
