#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A compressed file that was truncated, altered or combined from others is named, and leaves no output.
. "$(dirname "$0")/command.sh"

codec=$top_builddir/muster-codec
gradients=$top_builddir/tests/unit/collectives/gradients
cd "$dir" || exit

"$gradients" normal bf16 70000 1 | "$codec" --type=bf16 >good.mgc
"$gradients" normal fp32 70000 1 | "$codec" --type=fp32 >other.mgc
size=$(stat -c %s good.mgc)
number() { od -An -tu4 -j "$1" -N4 good.mgc | tr -d ' '; }
first=$(number 24) # bytes of the first block
second=$((16 + first))

damaged() { # WHAT LINE: decoding bad.mgc fails with this line
    local text
    text=$("$codec" -d bad.mgc 2>&1)
    is "$?" 1 "$1: refused"
    like "$text" "^muster-codec: bad.mgc: $2" '... with the reason'
    ok '... and nothing is written' test -z "$(find . -name 'bad' -o -name 'bad.??????')"
}
patch() { # OFFSET OCTAL
    cp good.mgc bad.mgc
    printf '%b' "\\0$2" | dd of=bad.mgc bs=1 seek="$1" conv=notrunc status=none
}
flip() { # OFFSET
    local byte
    byte=$(od -An -tu1 -j "$1" -N1 good.mgc | tr -d ' ')
    patch "$1" "$(printf %o $((byte ^ 16)))"
}

for length in 1 10 15 16 20 40 1000 $second $((second + 10)) $((size - 28)) $((size - 1)); do
    head -c "$length" good.mgc >bad.mgc
    if [ "$length" -lt 4 ]; then
        damaged "cut after $length bytes" "not in muster-codec's format"
    else
        damaged "cut after $length bytes" 'truncated: ends in the middle of a frame'
    fi
done
: >bad.mgc
damaged 'empty' "not in muster-codec's format"
flip 0
damaged 'another magic' "not in muster-codec's format"
patch 4 2
damaged 'another version' 'version 2 of the format, this program reads version 1'
for at in 5 6 8 12; do
    flip $at
    damaged "byte $at of the header altered" 'corrupt header: checksum'
done
for at in 16 22 32 100 40000 $((second - 1)); do
    flip "$at"
    damaged "byte $at altered" 'corrupt block: checksum'
done
flip $((second + 1000))
is "$("$codec" -dc bad.mgc 2>/dev/null | cmp -n 65536 - <("$codec" -dc good.mgc) && "$codec" -dc bad.mgc 2>/dev/null | wc -c)" \
    65536 'the blocks before a damaged one are written, and nothing else'
flip 21
damaged 'the type of a block altered' 'block of unknown type 16'
flip $((size - 1))
damaged 'the end altered' 'corrupt end record: checksum'
flip $((size - 20))
damaged 'the length of the end altered' 'end record of 12 bytes, expected 28 to 31'
{ head -c $((second)) good.mgc && tail -c +$((second + 1)) good.mgc | tail -c 28; } >bad.mgc
damaged 'a block left out' '32768 elements where the end counts 70000'
third=$((second + $(number $((second + 8)))))
{
    head -c 16 good.mgc
    tail -c +$((second + 1)) good.mgc | head -c $((third - second))
    tail -c +17 good.mgc | head -c "$first"
    tail -c +$((third + 1)) good.mgc
} >bad.mgc
damaged 'two blocks exchanged' 'blocks differ from those in the end record, or are in a different order'
{ head -c 16 good.mgc && tail -c +17 other.mgc; } >bad.mgc
damaged 'blocks of another type' 'block of 32768 elements of fp32 in a frame of bf16'
{ cat good.mgc && echo more; } >bad.mgc
damaged 'extra bytes after the end' 'found extra bytes after the end record'

done_testing
