#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Without MUNGE a certificate cannot be verified: exit status 3, whether munged is stopped, is dead or has
# no socket.
. "$(dirname "$0")/certificate.sh"

request n1 | muster certificate issue --node n1 >/dev/null
like "$(verdict)" '^0 ' 'a good certificate'

cannot_tell() { # WHAT MESSAGE
    like "$(verdict)" "^3 n1: certificate unverified: cannot verify the seal: $2" "$1"
}

kill -STOP "$pid"
cannot_tell 'munged is stopped' 'MUNGE does not answer within 800 ms'
like "$(request n1 | muster certificate issue --node n1 --json 2>/dev/null)" \
    '"verdict":"fail","code":"certificate_failed",.*"message":"MUNGE does not answer' '... and nothing can be issued'
kill -CONT "$pid"
like "$(verdict)" '^0 ' 'once munged continues, the old certificate is valid'
like "$(verdict --json)" '"verdict":"pass"' '... as a record'
{ kill -KILL "$pid"; wait "$pid"; } 2>/dev/null
cannot_tell 'munged is dead' 'MUNGE does not answer: .*Connection refused'
like "$(verdict --json)" '"verdict":"unknown"' '... as a record'
rm "$dir/munge/socket"
cannot_tell 'the socket is missing' 'MUNGE does not answer: .*No such file'
munged_start
like "$(verdict)" '^0 ' 'with a new munged of the same key it is valid again'
done_testing
