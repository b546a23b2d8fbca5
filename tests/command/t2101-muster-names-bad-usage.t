#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The dispatcher: help, version, and one clear line and status 2 for what it does not know.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
top_builddir=${top_builddir:-.}
. "$top_srcdir/tests/tap.sh"

muster=$top_builddir/muster
[ -x "$muster" ] || skip_all 'muster is not built'
unset MUSTER_CONF

text=$("$muster" --help)
is "$?" 0 '--help succeeds'
commands=$(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$text")
like "$commands" '^inventory$' 'it lists inventory'
for command in $commands; do
    help=$("$muster" help "$command" </dev/null)
    is "$?" 0 "help $command succeeds"
    like "$help" "^Usage: muster $command" "... and tells its usage"
    is "$("$muster" "$command" --help </dev/null)" "$help" "... as $command --help does"
    "$muster" "$command" --no-such-option </dev/null >/dev/null 2>&1
    is "$?" 2 "... and an unknown option is a usage error"
done
like "$("$muster" --version)" '^muster [0-9]' '--version'

text=$("$muster" inventry 2>&1)
is "$?" 2 'an unknown command is a usage error'
is "$text" "muster: no command 'inventry'; muster --help lists them" '... in one clear line'
text=$("$muster" --frob 2>&1)
is "$?" 2 'an unknown option is a usage error'
is "$text" "muster: no option '--frob' before the command; muster --help lists what is" '... in one line'
"$muster" >/dev/null 2>&1
is "$?" 2 'no command is a usage error'
"$muster" help frob >/dev/null 2>&1
is "$?" 2 'help on an unknown command too'
for option in --config= --root=; do
    text=$("$muster" inventory "$option" 2>&1)
    is "$?" 2 "an empty value is one too: $option"
    like "$text" "^muster inventory: option '${option%=}' is given nothing, expected a value" \
        '... and its option is named'
done
text=$("$muster" certify -nc '' 2>&1)
is "$?" 2 'so it is in a word of its own'
like "$text" "^muster certify: option '-nc' is given nothing" '... and named there'
for option in --junit=/no/such/report --report=html:/no/such/report; do
    text=$("$muster" certify $option 2>&1)
    is "$?/$text" '2/muster certify: /no/such/report: No such file or directory' \
        "a report that has no place is refused before the tests: $option"
done
text=$("$muster" inventory extra 2>&1)
is "$?" 2 'a word too many too'
like "$text" "^muster inventory: what is 'extra'\\?" '... and is named'
done_testing
