#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Our collectives over MPI: every algorithm, in place and not, with 1 to 13 ranks; several at once; with
# MPI_THREAD_MULTIPLE; with one rank out of memory.
. "$(dirname "$0")/command.sh"
needs tests/command/collectives
program=$top_builddir/tests/command/collectives
command -v mpirun >/dev/null || skip_all 'no mpirun'
mpi_environment
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1

# The time-out is only for hangs: ranks that share processors with other tests may take minutes.
run() { # RANKS [threads|failures]
    text=$(timeout 600 mpirun --oversubscribe -n "$1" "$program" "${@:2}" 2>&1 </dev/null)
    is "$?" 0 "$1 ranks${2:+ with $2}: all results are right"
    unlike "$text" '^not ok' '... in each check'
    like "$text" '^ok - rings in an order of their own' '... to the last check'
    grep -v '^ok' <<<"$text" | sed 's/^/# /'
}

ranks_tried=(1 2 3 5 8 13)
if is_sanitized "$program"; then ranks_tried=(1 3 5); fi
for ranks in "${ranks_tried[@]}"; do
    run $ranks
done
run 4 threads
MUSTER_COLLECTIVES_CACHE=$dir run 3 failures
# without single copy, a long message needs its sender repeatedly
OMPI_MCA_btl_vader_single_copy_mechanism=none run 3
# where the kernel forbids reading the memory of other processes, or writing it; MPI itself must not try
# it then
confined=$top_builddir/tests/command/confined
no_copy=(--oversubscribe --mca btl_vader_single_copy_mechanism none --mca smsc ^cma)
if [ "$(id -u)" -eq 0 ] || [ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -eq 0 ]; then
    like "$text" '^ok - broadcast by pull' 'ranks that may read the memory of each other do so'
else
    skip 1 'this machine does not allow reading the memory of other processes'
fi
for who in 'none may read' 'one may not write'; do
    at=("$confined")
    middle=("$confined")
    [ "$who" = 'one may not write' ] && at=() && middle+=(--write)
    text=$(timeout 600 mpirun "${no_copy[@]}" -n 1 "${at[@]}" "$program" : \
        -n 1 "${middle[@]}" "$program" : -n 1 "${at[@]}" "$program" 2>&1 </dev/null)
    is "$?" 0 "3 ranks of which $who: all results are right"
    unlike "$text" '^not ok' '... in each check'
    like "$text" '^ok - rings in an order of their own' '... to the last check'
    unlike "$text" ' by pull' '... and no rank reads or writes the memory of another'
done
done_testing
