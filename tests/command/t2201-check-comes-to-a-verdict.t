#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster check of this machine gives a verdict, whatever the machine lacks, and changes nothing.
. "$(dirname "$0")/command.sh"
needs muster
export MUSTER_CONF=

text=$("$muster" check)
status=$?
like "$status" '^[013]$' 'status 0, 1 or 3'
like "$text" ' net.interfaces ' '... with a line for interfaces'

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
