#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Communicators, arrangements and pipelines of muster-train where one of three ranks is out of
# memory: no rank waits for another.
. "$(dirname "$0")/command.sh"
needs tests/command/pipelines
command -v mpirun >/dev/null || skip_all 'no mpirun'
mpi_environment

text=$(timeout 300 mpirun --oversubscribe -n 3 "$top_builddir/tests/command/pipelines" 2>&1 \
    </dev/null)
is "$?" 0 'each allocation of one of three ranks fails in turn: no rank waits'
unlike "$text" '^not ok' '... and all come to the same end'
like "$text" '^ok - pipelines without memory' '... of all that there is'
grep -v '^ok' <<<"$text" | sed 's/^/# /'
done_testing
