#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train with checkpoints: killed at any time, ended by a signal, with a bad checkpoint, with a
# full disk.
. "$(dirname "$0")/command.sh"
needs muster-train
cd "$dir" || exit
small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=2 --threads=1
    --checkpoint-every=3)
train() { "$top_builddir/muster-train" "${small[@]}" "$@"; }
train_aside() { # OPTION...: in the background; sets pid
    "$top_builddir/muster-train" "${small[@]}" "$@" &
    pid=$!
}

train --steps=60 --checkpoint=whole >out 2>err
is "$?" 0 'a run with checkpoints ends well'
is "$(ls whole)" $'step-000000057\nstep-000000060' 'the last two checkpoints exist'
final=$(tail -n 1 out)

train --checkpoint=whole --keep=1 --dry-run >out 2>err
is "$?/$(ls whole)" $'0/step-000000057\nstep-000000060' 'a dry run removes no checkpoint'
train --checkpoint=none --dry-run >out 2>err
ok '... and makes no directory' [ ! -e none ]

# Killed at random times; each run continues from the newest checkpoint.
for ((kill = 0; kill < 20; kill++)); do
    train_aside --steps=60 --checkpoint=killed >/dev/null 2>>err
    sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
done
train --steps=60 --checkpoint=killed >out 2>>err
is "$?" 0 'after twenty kills the run completes'
is "$(tail -n 1 out)" "$final" '... with the same loss'
ok '... and the same bits' cmp whole/step-000000060/shard-00000 killed/step-000000060/shard-00000
is "$(ls killed)" $'step-000000057\nstep-000000060' '... and no unfinished checkpoint is left'

# The state after a kill between the last checkpoint and the removal of the oldest one.
cp -r killed/step-000000057 killed/step-000000054
mkdir killed/step-000000063.unfinished
train --steps=60 --checkpoint=killed >out 2>>err
is "$(ls killed)" $'step-000000057\nstep-000000060' 'the next run removes what a kill left'

train_aside --steps=1000000 --checkpoint=told >out 2>err
within 300 grep -q 'step 4 ' out
text=$(train --steps=4 --checkpoint=told 2>&1)
is "$?" 1 'a directory that another run writes to is refused'
is "$text" 'muster-train: told: in use by another muster-train' '... in one line'
kill -TERM $pid
wait $pid
is "$?" 143 'SIGTERM ends a run'
step=$(sed -n 's/.*after step \([0-9]*\) of.*/\1/p' err)
is "$(ls told | tail -n 1)" "$(printf 'step-%09d' "$step")" '... with a checkpoint of its last step'

printf x >>whole/step-000000060/shard-00000
train --steps=60 --checkpoint=whole >out 2>err
is "$?" 0 'a checkpoint with an extra byte: the run continues from the one before'
like "$(head -n 1 err)" \
    '^muster-train: whole/step-000000060/shard-00000: too long, expected .*; trying the previous checkpoint$' \
    '... with the name of the file'
like "$(sed -n 2p err)" '^muster-train: resuming from step 57 of whole$' '... and the step to resume from'
is "$(tail -n 1 out)" "$final" '... and the same final loss'

train --steps=6 --checkpoint=passed >out 2>err
printf x >>passed/step-000000006/shard-00000
train --steps=8 --checkpoint-every=4 --checkpoint=passed >out 2>err
is "$?/$(ls passed)" $'0/step-000000004\nstep-000000008' \
    'a damaged checkpoint is not one of the two that are kept'

rm whole/step-000000060/shard-00000
mkfifo whole/step-000000060/shard-00000 # without a writer: opening it would hang
timeout 600 "$top_builddir/muster-train" "${small[@]}" --steps=60 --checkpoint=whole >out 2>err
is "$?" 0 'a FIFO in place of a shard does not hang'
is "$(head -n 1 err)" \
    'muster-train: whole/step-000000060/shard-00000: is not a regular file; trying the previous checkpoint' \
    '... and is named'
is "$(tail -n 1 out)" "$final" '... and the run has the same final loss'

rm whole/step-000000060/shard-00000
ln -s /proc/self/mem whole/step-000000060/shard-00000
text=$(train --steps=60 --checkpoint=whole 2>&1)
is "$?" 1 'a shard that cannot be read ends the run'
is "$text" 'muster-train: whole/step-000000060/shard-00000: Input/output error' '... in one line'
rm -r whole/step-000000060
train --steps=60 --checkpoint=whole >out 2>err
is "$?/$(head -n 1 err)" '0/muster-train: resuming from step 57 of whole' \
    '... which continues from the one before once that checkpoint is removed'

text=$(train --steps=60 --checkpoint=whole --batch=4 2>&1)
is "$?" 1 'a checkpoint of another batch is refused'
is "$text" \
    'muster-train: whole/step-000000060: was written with --batch=2, this run has --batch=4' \
    '... in one line'

storage=$top_builddir/tests/command/poor-storage.so
if nm -D "$storage" | grep -q __asan; then
    skip 3 'the sanitizer cannot be preloaded'
else
    NO_FLOCK=1 LD_PRELOAD=$storage train --steps=2 --checkpoint=unlocked >out 2>err
    is "$?" 0 'on a file system without locks the run continues'
    is "$(cat err)" \
        'muster-train: unlocked: cannot be locked against another muster-train: No locks available' \
        '... with one message'
    is "$(ls unlocked)" step-000000002 '... with a checkpoint'
fi

mkdir -p blocked/step-000000002.unfinished/in-the-way
train --steps=2 --checkpoint-every=1 --checkpoint=blocked >out 2>err
is "$?" 1 'a last checkpoint that cannot be written fails the run'
like "$(cat err)" \
    '^muster-train: checkpoint of step 2: blocked/step-000000002.unfinished: File exists$' '... with the reason'
is "$(ls blocked)" $'step-000000001\nstep-000000002.unfinished' '... and the one before exists'
train --steps=3 --checkpoint-every=1 --checkpoint=blocked >out 2>err
is "$?/$(grep -c 'step 2: .*File exists$' err)" 0/1 'an earlier checkpoint that cannot be written is only left out'

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir full
    cat >on-a-small-disk <<END
mount -t tmpfs -o size=500k tmpfs full && cd full || exit 99
"$top_builddir/muster-train" ${small[*]} --steps=4 --checkpoint-every=2 --keep=1 --checkpoint=c
ls c
END
    text=$(unshare -m sh on-a-small-disk 2>&1)
    like "$text" '^muster-train: checkpoint of step 4: c/.*: No space left on device$' \
        'a full disk is reported'
    like "$text" '^final ' '... and the run continues'
    is "$(tail -n 1 <<<"$text")" step-000000002 '... and the checkpoint before still exists'
else
    skip 3 'no mount namespace here'
fi
done_testing
