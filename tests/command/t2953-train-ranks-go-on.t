#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train on several ranks with checkpoints: any rank is killed at any time; a new start on as many
# ranks gives the same bits, on another number the same losses; what stops a job is named.
. "$(dirname "$0")/train.sh"

# sanitizers test checkpoints in t2951, and ranks in t2952 and t2957
is_sanitized "$top_builddir/muster-train" && skip_all 'ranks that are killed take too long with sanitizers'
small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=4 --threads=1
    --checkpoint-every=3 --steps=60)
train() { # RANKS OPTION...
    local ranks=$1
    shift
    # shellcheck disable=SC2016  # for the shell of each rank
    timeout 600 mpirun --oversubscribe -n "$ranks" sh -c 'echo $$ >pid.$OMPI_COMM_WORLD_RANK; exec "$0" "$@"' \
        "$top_builddir/muster-train" "${small[@]}" "$@"
}
until_steps() { # waits until the job that writes to the file out has begun its steps, or has ended
    within 300 eval 'grep -q ^step out || ! kill -0 $!'
}
final() { sed -n 's/^final *loss //p' "$1"; }
same_bits() { # DIRECTORY DIRECTORY: compares the last checkpoints
    diff -r "$1/step-000000060" "$2/step-000000060"
}

held() { # STRATEGY RANKS OPTION...: "stages" is a pipeline
    case $1 in
    stages) train "$2" --stages=3 --layers=3 "${@:3}" ;;
    *) train "$2" --strategy="$1" "${@:3}" ;;
    esac
}
on_poor_storage() { # VARIABLE OPTION...: two ranks
    timeout 600 mpirun --oversubscribe -n 2 \
        -x LD_PRELOAD="$(realpath "$top_builddir/tests/command/poor-storage.so")" -x "$1" \
        "$top_builddir/muster-train" "${small[@]}" --steps=2 "${@:2}" 2>&1 </dev/null
}
# Storage that takes longer than a rank may be without progress (TRAIN_PATIENCE_S), and storage that does
# not answer. Runs in the background during the tests below.
on_poor_storage SLOW_FSYNC_S=65 --checkpoint=slow >slow.out &
slow=$!
mkdir hung
on_poor_storage HUNG_DIRECTORY=hung --checkpoint=hung >hung.out &
hung=$!

for strategy in ddp zero1 zero3 stages; do
    held $strategy 3 --checkpoint="whole-$strategy" >"whole-$strategy.out" 2>err
    is "$?" 0 "$strategy on three ranks with checkpoints completes"
    is "$(ls whole-$strategy/step-000000060)" $'manifest\nshard-00000\nshard-00001\nshard-00002' \
        '... with a shard of each rank'
    is "$(ls whole-$strategy)" $'step-000000057\nstep-000000060' '... and the last two checkpoints'
done

kills=7
# A random rank is killed, several times for each strategy. A run that ended before the kill is repeated.
for strategy in ddp zero3 stages; do
    deaths=0
    for ((try = 0; try < 6 * kills && deaths < kills; try++)); do
        : >out
        held $strategy 3 --checkpoint="killed-$strategy" >out 2>err &
        job=$!
        until_steps
        sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
        kill -KILL "$(cat pid.$((RANDOM % 3)))" 2>/dev/null
        if wait $job; then rm -r "killed-$strategy"; else deaths=$((deaths + 1)); fi
    done
    is "$deaths" $kills "$strategy: number of kills before the end ($try tries)"
done
for strategy in ddp zero3 stages; do
    held $strategy 3 --checkpoint="killed-$strategy" >out 2>err
    is "$?" 0 "$strategy: after the kills the run completes"
    is "$(final out)" "$(final whole-$strategy.out)" '... with the same loss'
    ok '... and the same bits' same_bits whole-$strategy killed-$strategy
done

# The rank that stopped the job is named.
: >out
train 3 --steps=1000000 --context=8 >out 2>err &
until_steps
kill -KILL "$(cat pid.1)"
wait $!
isnt "$?" 0 'a rank that dies ends the job'
like "$(cat out)" "rank 1 on $(hostname -s) died" '... and is named with its node'
: >out
train 3 --steps=1000000 --context=8 >out 2>err &
until_steps
kill -STOP "$(cat pid.2)"
wait $!
isnt "$?" 0 'a rank that is frozen ends the job'
like "$(cat out)" "rank 2 on $(hostname -s) .*(frozen|answer)" '... and is named with its node'
kill -KILL "$(cat pid.2)" 2>/dev/null
: >out
train 3 --steps=1000000 --checkpoint=told >out 2>err &
job=$!
until_steps
kill -TERM "$(cat pid.1)"
wait $job
like "$(cat err)" 'muster-train: ended by signal 15 after step [0-9]+ of' \
    'a signal to one rank ends the run after a step'
step=$(sed -n 's/.*after step \([0-9]*\) of.*/\1/p' err)
is "$(ls told | tail -n 1)" "$(printf 'step-%09d' "$step")" '... with a checkpoint of that step'

# Continued on another number of ranks, with another strategy.
rm -r whole-zero3/step-000000060
for row in '2 zero2' '1 ddp' '4 zero1' '6 zero3'; do
    cp -r whole-zero3 other
    train "${row% *}" --strategy="${row#* }" --checkpoint=other >out 2>err
    is "$?" 0 "a checkpoint of zero3 on three ranks continues in $row"
    like "$(cat err)" 'resuming from step 57 of other' '... from its step'
    ok "... to the same loss ($(final out))" awk -v found="$(final out)" \
        -v expected="$(final whole-zero3.out)" \
        'BEGIN { off = found - expected; exit !(off < 1e-6 && off > -1e-6) }'
    rm -r other
done

printf x | dd of=whole-ddp/step-000000060/shard-00001 bs=1 seek=99 conv=notrunc 2>/dev/null
train 2 --checkpoint=whole-ddp >out 2>err
is "$?" 0 'with an altered shard the run continues from the checkpoint before'
like "$(cat err)" \
    'muster-train: whole-ddp/step-000000060/shard-00001: corrupt: .*; trying the previous checkpoint' \
    '... with the name of the file'
is "$(grep -c 'trying the previous' err)" 1 '... once'
text=$(train 2 --checkpoint=whole-ddp --batch=8 2>&1)
like "$text" 'muster-train: whole-ddp/step-0000000..: was written with --batch=4, this run has --batch=8' \
    'a checkpoint of another batch is refused'
is "$(grep -c 'was written' <<<"$text")" 1 '... in one line'

wait $slow
is "$?" 0 'storage that takes more than a minute is not a hang'
is "$(ls slow/step-000000002)" $'manifest\nshard-00000\nshard-00001' '... and the checkpoint exists'
wait $hung
isnt "$?" 0 'storage that does not answer ends the job'
like "$(cat hung.out)" "rank 0 on $(hostname -s) hangs in phase the checkpoints of hung: " \
    '... and the rank that waits for it is named'
done_testing
