#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster check of this machine answers in time, whatever is missing on it, and changes nothing.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
top_builddir=${top_builddir:-.}
. "$top_srcdir/tests/tap.sh"

muster=$top_builddir/muster
[ -x "$muster" ] || skip_all 'muster is not built'
unset SLURM_CONF
export MUSTER_CONF=

start=$(date +%s%N)
text=$("$muster" check)
status=$?
took_ms=$((($(date +%s%N) - start) / 1000000))
like "$status" '^[013]$' 'it comes to a verdict'
like "$text" ' net.interfaces ' '... with the interfaces in it'
# MUNGE alone may take 800 ms when munged is stopped
if [ -n "${MUSTER_SLOW_BUILD-}" ]; then
    skip 1 'a slow build'
else
    ok "it took $took_ms ms" test "$took_ms" -lt "$(by_load 2000)"
fi

if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    opened=$(strace -f -e trace=openat,open "$muster" check --only net,gpu,slurm,host.limits,host.config 2>&1 >/dev/null |
        grep -E '"/dev/' | grep -vE '/dev/(null|tty)"')
    is "$opened" '' 'no device is opened'
    written=$(strace -f -e trace=openat,open "$muster" check --only net,gpu,slurm,host.limits,host.config 2>&1 >/dev/null |
        grep -E 'O_WRONLY|O_RDWR|O_CREAT')
    is "$written" '' 'nothing is written'
else
    skip 2 'no strace'
fi
done_testing
