#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train on tiny problems: options, records, signals. tests/unit/trainer/trainer.c tests its
# numbers.
. "$(dirname "$0")/command.sh"
needs muster-train
cd "$dir" || exit
train=$top_builddir/muster-train
small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=2)

refused() { # LINE OPTION...
    local line=$1 text
    shift
    text=$("$train" "$@" 2>&1)
    is "$?" 2 "$*: a usage error"
    is "$text" "muster-train: $line; see muster-train --help" '... in one clear line'
}

help=$("$train" --help)
is "$?" 0 '--help succeeds'
sed 's/\\-/-/g' "$top_srcdir/doc/muster-train.1" >page
while read -r option; do
    ok "the manual page knows $option" grep -qF -- "$option" page
done < <(grep -o -- '^  --[a-z0-9-]*' <<<"$help")
like "$("$train" --version)" '^muster-train [0-9]' '--version'

text=$(timeout 600 "$train" 2>&1 >out)
is "$?/$(wc -c <out)" 2/0 'without options it trains nothing: a usage error'
is "$text" "$help" '... and prints its help'

refused 'channels must be a multiple of heads, found 32 and 5' "${small[@]}" --heads=5
refused 'option --steps: expected a number from 0 to 1000000000, found "1.5"' --steps=1.5
refused 'option --lr: expected a number from 0 to 1000, found "nan"' --lr=nan
refused 'option --batch: expected a number from 1 to 65536, found "0"' --batch=0
refused 'option --bucket: expected a number from 1e-06 to 2000, found "2001"' --bucket=2001
refused 'option --model: expected 124M, 350M, 774M or 1558M, found "7B"' --model=7B
refused 'option --precision: expected fp32 or bf16, found "fp8"' --precision=fp8
refused 'option --schedule: expected constant, linear or cosine, found "steep"' --schedule=steep
refused 'option --split needs an argument, HOW' --split=
refused '--split: expected even, measured or the layers of each stage such as 3,5,4; found "half"' \
    "${small[@]}" --split=half
refused '--split: expected 1 numbers, one per stage, with a sum of 2 layers; found "1,1"' \
    "${small[@]}" --split=1,1
refused '--stages: 1 rank cannot be divided evenly among 2 stages' "${small[@]}" --stages=2
refused 'option --window: expected a number from 1 to 1000, or none; found "all"' --window=all
refused 'option --seed-data: expected a whole number below 2^64, found "-1"' --seed-data=-1
refused 'option --seed-data: expected a whole number below 2^64, found "18446744073709551616"' \
    --seed-data=18446744073709551616
refused 'unknown option --nonsense' --nonsense
refused 'unexpected argument "word"' word

"$train" "${small[@]}" --fixed-batch >out
is "$?" 0 'a small problem is trained'
like "$(head -n 1 out)" '^28032 parameters: 2 layers, 2 heads, 32 channels' 'first line: the model'
like "$(sed -n 2p out)" '^step 0   loss 4\.17060' 'second line: the first loss of the reference'
like "$(tail -n 1 out)" '^final    loss 3\.54020' '... last line: its last loss'
is "$(wc -l <out)" 12 'one line per step'

losses() { grep -o 'loss [0-9.]*' <<<"$("$train" "${small[@]}" "$@")"; }
is "$(losses --threads=3)" "$(losses --threads=1)" 'threads change no digit'
isnt "$(losses)" "$(losses --fixed-batch)" 'batches differ from step to step'
isnt "$(losses --seed-data=7)" "$(losses)" 'another seed gives other data'
isnt "$(losses --seed-weights=7)" "$(losses)" 'another seed gives other weights'
isnt "$(losses --clip=0.1)" "$(losses)" 'clipping changes the losses'
isnt "$(losses --weight-decay=1)" "$(losses)" 'so does weight decay'
rates=$("$train" "${small[@]}" --warmup=2 --schedule=linear --steps=4 | grep -o 'rate [0-9.e-]*')
is "$(tr -s '\n ' ' ' <<<"$rates")" 'rate 0.0005 rate 0.001 rate 0.001 rate 0 ' \
    'the rate follows its schedule'

"$train" "${small[@]}" --steps=2 --gradient-norms --json >out
is "$(grep -c '"metric":"loss"' out)" 3 '--json: a loss per step and the final one'
is "$(grep -c '"part":"qkvw"' out)" 1 '... and the norm of each tensor'
records_hold 'the records follow the schema' <out

# a text as data
for ((i = 0; i < 200; i++)); do echo "line $i of a text"; done >text
like "$("$train" tokenize text tokens)" '^tokens: 3690 tokens, vocabulary of 256$' \
    'a text becomes tokens'
text=$("$train" tokenize text tokens 2>&1)
is "$?/$text" '1/muster-train: tokens already exists; --force replaces it' 'an existing file is not replaced'
ok '... except with --force' "$train" tokenize --force text tokens
mkfifo pipe # like /dev/null not a regular file, which must not be replaced
text=$("$train" tokenize --force text pipe 2>&1)
is "$?/$text" '1/muster-train: pipe: is not a regular file' 'a file that is not a regular file is never replaced'
text=$(timeout 600 "$train" --data=pipe 2>&1)
is "$?/$text" '1/muster-train: pipe: is not a regular file' '... and a FIFO as data does not hang'
text=$("$train" tokenize no-text other 2>&1)
is "$?/$text" '1/muster-train: no-text: No such file or directory' 'a missing text'
ok '... leaves no file' [ ! -e other ]
like "$("$train" tokenize - piped <text)" '^piped: 3690 ' 'standard input is a text'
ok '... with the same tokens' cmp tokens piped
cp text both
text=$("$train" tokenize --force both both 2>&1)
is "$?/$text" '1/muster-train: both: is also the input file' 'the input is not overwritten'
ok '... and stays unchanged' cmp -s text both
"$train" tokenize text >/dev/null 2>&1
is "$?" 2 'tokenize with one name is a usage error'
bytes=(--layers=1 --heads=2 --channels=16 --context=16 --vocab=256 --batch=4 --steps=200 --lr=0.01
    --threads=1)
last=$("$train" "${bytes[@]}" --data=tokens | tail -n 1)
ok "a text can be learned ($last)" awk '{ exit !($3 < 2) }' <<<"$last"
text=$("$train" "${bytes[@]}" --data=tokens --vocab=64 2>&1)
is "$?/$text" '1/muster-train: tokens: found a vocabulary of 256, expected at most 64 (--vocab)' \
    'a vocabulary too small for the tokens'
text=$("$train" "${bytes[@]}" --data=tokens --context=4000 2>&1)
is "$?/$text" '1/muster-train: tokens: found 3690 tokens, expected at least 4001 for one sequence' 'a text too short'
text=$("$train" "${bytes[@]}" --data=text 2>&1)
is "$?/$text" '1/muster-train: text: is not a token file; create one with muster-train tokenize' \
    'a text is not a token file'

# bf16 if the processor has it: near fp32, yet not the same
if text=$("$train" "${small[@]}" --fixed-batch --precision=bf16 2>&1); then
    like "$text" ' sequences per step, bf16' '--precision=bf16 is reported'
    ok 'and the last loss is near that of fp32, but different' awk '$1 == "final" { away = $3 - 3.540202797
        exit !(away * away < 1e-6 && away * away > 1e-16) }' <<<"$text"
else
    like "$text" '^muster-train: --precision=bf16 (is not built in: it needs oneDNN|needs a processor)' \
        '--precision=bf16 is refused with the reason'
fi

# else the sanitizer aborts at its own limit
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
text=$("$train" --batch=65536 --model=1558M 2>&1)
is "$?" 1 'memory that cannot be allocated: status 1'
like "$text" '^muster-train: cannot allocate .* GB.*: ' '... in one line'

# a process that a script starts in the background ignores SIGINT by default
rm -f out
env --default-signal=INT "$train" "${small[@]}" --steps=1000000 >out 2>err &
pid=$!
within 300 grep -q 'step 1 ' out
kill -INT $pid
wait $pid
is "$?" 130 'SIGINT ends it'
like "$(cat err)" '^muster-train: ended by signal 2 after step [0-9]+ of 1000000$' '... with a message'
rm -f out
(trap '' HUP && exec "$train" "${small[@]}" --steps=1000000 >out 2>err) &
pid=$!
within 300 grep -q 'step 1 ' out
kill -HUP $pid
sleep 0.5
kill -TERM $pid
wait $pid
is "$?" 143 'SIGHUP that nohup ignores does not end it, SIGTERM does'
"$train" "${small[@]}" >/dev/full 2>err
is "$?/$(cat err)" '1/muster-train: standard output: No space left on device' \
    'a full standard output is an error'
"$train" "${small[@]}" --dry-run >/dev/full 2>err
is "$?/$(cat err)" '1/muster-train: standard output: No space left on device' '... also for a plan'
"$train" tokenize --force text tokens >/dev/full 2>err
is "$?/$(cat err)" '1/muster-train tokenize: standard output: No space left on device' \
    '... and for the number of tokens'
"$train" --help >/dev/full 2>/dev/null
is "$?" 1 '... also with --help'
done_testing
