#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A text in memory that lacks a part must not be used as if it were complete: fclose() of a stream of
# memory_stream() fails then, fclose() of one of open_memstream(3) does not.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
. "$top_srcdir/tests/tap.sh"

streams() { # FUNCTION: prints how many sources open a stream with it
    (cd "$top_srcdir" && grep -rlE "\<$1\([^3]" --include='*.[ch]' lib spank validate collectives trainer) | wc -l
}

ok 'texts are written with memory_stream()' [ "$(streams memory_stream)" -gt 0 ]
is "$(streams open_memstream)" 0 '... and none with open_memstream(), which loses text if memory is out'
done_testing
