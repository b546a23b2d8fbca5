#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A bad configuration gives exit status 2 and one line: file and line, what was found, what is allowed.
. "$(dirname "$0")/command.sh"
needs muster

refused() { # TEXT MESSAGE: the text of the file, the message about it
    local said status=0
    printf "$1" >"$dir/conf"
    said=$("$muster" conf --check --config "$dir/conf" 2>&1) || status=$?
    is "$status $said" "2 muster conf: $dir/conf$2" "refused: ${2:0:40}"
}

refused 'OnMissing=maybe\n' ':1: OnMissing=maybe: found "maybe", allowed ignore, log, refuse'
refused '\n\nMTU=12\n' ':3: MTU=12: found "12", allowed 68 to 65535, or majority'
refused 'OnMising=log' ':1: found an unknown key "OnMising", nearest is OnMissing'
refused 'MTU=1500\r\nmtu=9000\r\n' ':2: MTU: found a second time, first in line 1'
refused 'MTU\n' ':1: found "MTU", expected Key=Value'
for path in lib /opt:lib /opt: :/opt; do
    refused "GpuLibraryPath=$path\n" ":1: GpuLibraryPath=$path: found \"$path\", allowed absolute paths with colons between, at most 1023 bytes, or nothing"
done
refused 'MTU=1500\n\0\n' ': found a NUL byte: not a text file'

is "$("$muster" conf --config "$dir/absent" 2>&1)" "muster conf: $dir/absent: no such file" \
    'a named file must exist'
is "$("$muster" conf --config "$dir" 2>&1)" \
    "muster conf: $dir: is not a regular file" 'a directory is refused'
"$muster" conf --what >/dev/null 2>&1
is $? 2 'an unknown option'
text=$("$muster" conf --check what 2>&1)
is "$? ${text%%$'\n'*}" '2 muster conf: unexpected argument "what"; name the file with -c' 'an extra argument'
printf 'OnMissing=maybe' >"$dir/conf"
for command in 'certificate verify' 'revoke' 'inventory'; do
    MUSTER_CONF=$dir/conf "$muster" $command >/dev/null 2>"$dir/said"
    is $? 2 "muster $command refuses the file, too"
    like "$(cat "$dir/said")" 'conf:1: OnMissing=maybe' '... with the reason'
done
done_testing
