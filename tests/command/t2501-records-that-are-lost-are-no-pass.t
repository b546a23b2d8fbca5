#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A program of the battery that cannot write its records to standard output does not exit with 0.
. "$(dirname "$0")/command.sh"
needs muster-launch
[ -w /dev/full ] || skip_all 'no /dev/full'
mpi_environment

launch=$top_builddir/muster-launch
text=$(timeout -k 5 600 "$launch" --json --time-limit=300 2>/dev/null </dev/null)
is "$?" 0 'a single rank passes'
like "$text" '"verdict":"pass"' '... with a record'
for option in --json --quick; do
    text=$(timeout -k 5 600 "$launch" $option 2>&1 >/dev/full </dev/null)
    is "$?" 3 "$option on a full disk: status 3"
    like "$text" '^muster-launch: standard output: (could not write all of it|No space left on device)$' \
        '... with the reason'
    is "$(wc -l <<<"$text")" 1 '... in one line'
done
done_testing
