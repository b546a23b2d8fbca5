#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train with injected faults: NaN, parameters that differ, memory that loses a bit, a rank that
# computes differently. They are found at their step, with rank and tensor.
. "$(dirname "$0")/train.sh"

small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=4)
here=$(hostname -s)
train() { # RANKS OPTION...
    local ranks=$1
    shift
    train_ranks "$ranks" "${small[@]}" "$@" >out 2>err
}
named() { # LINE
    is "$(grep '^muster-train' err)" "muster-train: $1" "... $2"
}

for strategy in ddp zero1 zero2 zero3 replicas; do
    train 3 --strategy=$strategy --verify
    is "$?" 0 "$strategy: three ranks have the same parameters after each step"
done
is "$(grep -c '^step' out)" 10 '... and complete all steps'
for strategy in ddp zero3; do
    train 3 --strategy=$strategy --inject=nan:1@4
    is "$?" 1 "$strategy: a gradient that is not finite ends the run"
    like "$(cat err)" \
        "^muster-train: step 4: loss [0-9.]*; the gradient of fcw in layer 0 is not finite, on rank 1 on $here" \
        '... named with step, rank, tensor and layer'
    is "$(grep -c '^step' out)" 4 '... at that step'
done
train 3 --strategy=ddp --verify --inject=flip:2@5
is "$?" 1 'a bit of a parameter that differs ends the run'
named "step 5: rank 2 on $here: parameter fcw of layer 0 differs from most of the 3 ranks" \
    'named with step, rank, tensor and layer'
train 2 --strategy=ddp --verify --inject=flip:1@5
named "step 5: parameter fcw of layer 0 differs between the 2 ranks: rank 1 on $here and rank 0 on $here; run more ranks to find which is wrong" \
    'of two ranks it is unknown which is wrong'
train 3 --strategy=ddp --inject=flip:2@5
is "$?" 0 'without --verify it is not checked'
for strategy in zero1 zero3; do
    train 3 --strategy=$strategy --verify --inject=rot:1@2
    is "$?" 1 "$strategy: memory that loses a bit between two steps ends the run"
    named "step 3: rank 1 on $here: its stored layer 0 changed since the last step: its memory corrupts data" \
        'named with step, rank and layer'
done
train 3 --strategy=replicas --inject=flip:0@6
is "$?" 1 'a replica that computes a parameter differently ends the run'
named "step 6: rank 0 on $here: parameter fcw of layer 0 differs from most of the 3 ranks" \
    'named with step, rank and tensor'
train 3 --strategy=replicas --inject=nan:2@6
is "$?" 1 'so does one that computes a gradient differently'
named "step 6: rank 2 on $here: the gradient of fcw differs from most of the 3 ranks" \
    'named with step, rank and tensor'
train 2 --inject=nonsense
is "$?" 1 'an unknown fault is refused'

# If one rank lacks something, all ranks end, and the rank is named.
differ() { # RANKS COMMANDS OPTION...: each rank's shell runs COMMANDS before it becomes the trainer
    # shellcheck disable=SC2016 # for the shell of each rank
    timeout 600 mpirun --oversubscribe -n "$1" sh -c "rank=\$OMPI_COMM_WORLD_RANK; $2"' exec "$0" "$@"' \
        "$top_builddir/muster-train" "${small[@]}" --vocab=256 "${@:3}" >out 2>err
}
for ((i = 0; i < 99; i++)); do echo "line $i of a text"; done >text
"$top_builddir/muster-train" tokenize text tokens >/dev/null
# shellcheck disable=SC2016
differ 3 '[ $rank = 1 ] && cd /;' --data=tokens
is "$?" 1 'a rank without the data ends the run'
named "rank 1 on $here: tokens: No such file or directory" 'named'
mkdir other
(echo another line && cat text) >other/text
"$top_builddir/muster-train" tokenize other/text other/tokens >/dev/null
# shellcheck disable=SC2016
differ 3 '[ $rank = 2 ] && cd other;' --data=tokens
is "$?" 1 'so does one with other data'
like "$(cat err)" "^muster-train: tokens: rank 2 on $here has 1785 tokens \(checksum [0-9a-f]{8}\), rank 0 has 1772 " \
    '... which is named'
if "$top_builddir/muster-train" "${small[@]}" --steps=0 --precision=bf16 >out 2>&1; then
    # shellcheck disable=SC2016
    differ 2 '[ $rank = 1 ] && export DNNL_MAX_CPU_ISA=AVX2;' --precision=bf16
    is "$?" 1 'so does one whose processor has no bf16'
    like "$(cat err)" "^muster-train: rank 1 on $here: --precision=bf16 needs a processor" '... which is named'
else
    skip 2 'no bf16 here'
fi
done_testing
