#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-codec compresses and decompresses files, follows the conventions of gzip and zstd, and its format
# is the one in doc/codec-format.md.
. "$(dirname "$0")/command.sh"

codec=$top_builddir/muster-codec
gradients=$top_builddir/tests/unit/collectives/gradients
cd "$dir" || exit

"$gradients" normal bf16 100001 1 >normal.bf16
"$gradients" Laplace fp16 50000 2 >laplace.fp16
"$gradients" normal fp32 40000 3 >normal.fp32
"$gradients" 'rows of zeros' fp32 70000 4 >rows.fp32
"$gradients" 'any bits' bf16 33000 5 >any.bf16
"$gradients" Laplace bf16 600001 6 >long.bf16 # more than is read, coded or decoded at a time
head -c 100003 normal.fp32 >odd.fp32
printf x >one
: >empty

for file in normal.bf16 long.bf16 laplace.fp16 normal.fp32 rows.fp32 any.bf16 odd.fp32 one empty; do
    type=${file##*.}
    case $type in bf16 | fp16 | fp32) ;; *) type=bf16 ;; esac
    ok "$file is compressed as $type" "$codec" --type="$type" "$file"
    ok '... and keeps its input' test -e "$file"
    ok '... to the same bytes on the portable path' \
        cmp <("$codec" --type="$type" --path=portable -c "$file") "$file.mgc"
    ok '... is intact' "$codec" -t "$file.mgc"
    mkdir -p back
    ok '... is decompressed' "$codec" -d -o "back/$file" "$file.mgc"
    ok '... to what it was' cmp "back/$file" "$file"
    ok '... and by standard input and output' \
        cmp <("$codec" --type="$type" <"$file" | "$codec" -d) "$file"
    if command -v python3 >/dev/null && [ "$file" != normal.fp32 ] && [ "$file" != long.bf16 ]; then
        ok '... and by the reader written from the page' \
            cmp <(python3 "$top_srcdir/tests/command/codec-read.py" <"$file.mgc") "$file"
    fi
done

size() { stat -c %s "$1"; }
ok 'normal bf16 gets at least a third smaller' test "$(($(size normal.bf16.mgc) * 15))" -lt "$((200002 * 10))"
ok 'random bytes get hardly larger' test "$(size any.bf16.mgc)" -le $((66000 + 16 + 2 * 16 + 28))
for file in normal.bf16 normal.fp32; do
    ok "without --type the type of $file is detected" \
        cmp <("$codec" -c "$file") "$file.mgc"
done
cat normal.bf16.mgc rows.fp32.mgc >both.mgc
ok 'two frames in a row are one file' cmp <("$codec" -dc both.mgc) <(cat normal.bf16 rows.fp32)

# existing files are kept
echo mine >normal.fp32.mgc
text=$("$codec" normal.fp32 2>&1)
is "$?" 1 'an output that exists is not overwritten'
is "$text" 'muster-codec: normal.fp32.mgc: exists already; -f overwrites it' '... in one line'
is "$(cat normal.fp32.mgc)" mine '... and stays unchanged'
ok '... -f overwrites it' "$codec" -f normal.fp32
ok '... with the right content' cmp <("$codec" -dc normal.fp32.mgc) normal.fp32

chmod 640 normal.bf16
touch -d '2001-02-03 04:05:06' normal.bf16
ok '--rm succeeds' "$codec" -f --rm normal.bf16
ok '... and removes the input' test ! -e normal.bf16
is "$(stat -c '%a %y' normal.bf16.mgc | cut -c1-23)" '640 2001-02-03 04:05:06' \
    '... the output has its permissions and time'
ok '... -d --rm restores the input' "$codec" -d --rm normal.bf16.mgc
is "$(ls normal.bf16*)" normal.bf16 '... and removes the compressed file'

cp normal.bf16 own
ln own own.link
for output in own own.link ./own; do
    text=$("$codec" -f --rm -o $output own 2>&1)
    is "$?/$text" "1/muster-codec: $output: is also the input file" "the input is not an output: $output"
    ok '... and stays unchanged' cmp -s own normal.bf16
done
text=$("$codec" -o '' normal.bf16 2>&1)
is "$?/$text" "2/muster-codec: option --output needs an argument, FILE" 'an output without a name is a usage error'

text=$("$codec" -t normal.fp32.mgc missing.mgc rows.fp32.mgc 2>&1)
is "$?" 1 'a missing file fails'
is "$text" 'muster-codec: missing.mgc: No such file or directory' '... and the others are tested'
text=$("$codec" rows.fp32.mgc 2>&1)
is "$?" 1 'a compressed file is not compressed again'
like "$text" 'already ends in .mgc' '... with the reason'
text=$("$codec" -d rows.fp32 2>&1)
is "$?" 1 'a file without the suffix has no output name'
like "$text" 'does not end in .mgc; use -o FILE' '... with the option that sets one'
text=$("$codec" -t rows.fp32 2>&1)
is "$?" 1 'a file that is not compressed is refused'
like "$text" "rows.fp32: not in muster-codec's format" '... with the reason'
like "$("$codec" . 2>&1)" '\.: is a directory' 'a directory is refused'
is "$("$codec" -v -t rows.fp32.mgc 2>&1 | cut -d, -f1)" 'rows.fp32.mgc: fp32' '-v prints the type'
is "$("$codec" -t rows.fp32.mgc 2>&1)" '' 'nothing is printed without a terminal'
if [ -e /dev/full ]; then
    text=$("$codec" -dc rows.fp32.mgc 2>&1 >/dev/full)
    is "$?" 1 'a full disk fails'
    like "$text" 'rows.fp32.mgc: writing: No space' '... with the reason'
fi

# a signal leaves no output; the input is a pipe that stays open
mkfifo pipe
"$codec" -d -o signalled <pipe &
pid=$!
exec 9>pipe
cat rows.fp32.mgc >&9
ok 'the output is written to a temporary file' within 60 compgen -G 'signalled.*'
ok '... not under its name yet' test ! -e signalled
kill -TERM "$pid"
wait "$pid"
is "$?" 143 'a signal ends the program'
exec 9>&-
ok '... and leaves no file' test -z "$(compgen -G 'signalled*')"

# an output that is not a regular file, like /dev/null, is not replaced
mkfifo fifo
text=$("$codec" --force -o fifo empty 2>&1)
is "$?/$text" '1/muster-codec: fifo: is not a regular file; use --stdout to write elsewhere' 'a pipe is not replaced'
ok '... and stays a pipe' test -p fifo
rm fifo

# usage
help=$("$codec" --help)
is "$?" 0 '--help succeeds'
sed 's/\\-/-/g' "$top_srcdir/doc/muster-codec.1" >page
while read -r option; do
    ok "... the manual page knows $option" grep -qF -- "$option" page
done < <(grep -o -- '--[a-z]*' <<<"$help" | sort -u)
like "$("$codec" --version)" '^muster-codec [0-9.]+, format 1$' '--version'
usage() { # LINE OPTION...
    local line=$1 text
    shift
    text=$("$codec" "$@" 2>&1 </dev/null)
    is "$?" 2 "$*: a usage error"
    is "$text" "muster-codec: $line" '... in one clear line'
}
usage 'option --type: expected bf16, fp16 or fp32, found "int8"' --type int8
usage 'option --path: expected portable, avx2 or avx512, found "neon"' --path=neon
usage "--output 'x': one FILE at a time" -o x one empty
usage "--type 'bf16': applies only to compression; a compressed file stores its type" -d --type bf16
usage 'option --seconds: expected seconds from 0.01 to 600, found "0"' -b --seconds 0
for wrong in --nonsense --type --json=x -Z; do
    text=$("$codec" "$wrong" 2>&1 </dev/null)
    is "$?/$(wc -l <<<"$text")" 2/1 "$wrong: a usage error in one line"
done

# the figures of the benchmark are consistent
if command -v jq >/dev/null; then
    json=$("$codec" -b --json --seconds 0.01 --type=fp32 normal.fp32)
    is "$(jq -r '.paths[0].path, .bytes, .type' <<<"$json" | paste -sd' ')" 'portable 160000 fp32' \
        '-b --json has path, size and type'
    is "$(jq '.coded_bytes' <<<"$json")" "$(($(size normal.fp32.mgc) - 16 - 28))" \
        '... the size of the file without header and end'
    ok '... and a ratio just below the bound' \
        jq -e '.ratio <= .block_bound_ratio and .ratio > 0.99 * .block_bound_ratio' <<<"$json"
fi
like "$("$codec" -b --seconds 0.01 --path portable normal.fp32)" 'portable +[0-9.]+ GB/s' \
    '-b prints a table'
text=$("$codec" -b empty 2>&1)
is "$?" 1 'an empty file has no benchmark'
is "$text" 'muster-codec: empty: has no element of bf16' '... with the reason'

done_testing
