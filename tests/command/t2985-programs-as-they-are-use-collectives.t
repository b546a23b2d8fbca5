#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# libmustercoll-pmpi.so under programs that know nothing of it: results, what is taken over and what
# is left to MPI, the summary, what is exported, figures that are kept, threads, Fortran.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
top_builddir=${top_builddir:-.}
. "$top_srcdir/tests/tap.sh"

program=$top_builddir/tests/command/unmodified
library=$(realpath "$top_builddir/collectives/.libs/libmustercoll-pmpi.so" 2>/dev/null)
if [ ! -x "$program" ] || [ -z "$library" ]; then
    skip_all 'built without MPI'
fi
command -v mpirun >/dev/null || skip_all 'no mpirun'
nm -D "$library" | grep -q __asan && skip_all 'the sanitizer cannot be preloaded'
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }
mpi_environment
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
export MUSTER_COLLECTIVES_CACHE=$work

run() { # RANKS COMMAND...: with the library; text gets what is printed
    text=$(timeout 200 mpirun --oversubscribe -n "$1" -x LD_PRELOAD="$library" "${@:2}" 2>&1 </dev/null)
}

# who is visible
is "$(nm -D --defined-only "$library" | awk '{print $3}' |
    grep -cvE '^(MPI_|mpi_|ompi_[a-z_]*_f$)')" 0 'nothing but entry points of MPI is exported'
is "$(nm -D --undefined-only "$library" | awk '{print $2}' |
    grep -E '^MPI_' | grep -vE '^MPI_FORTRAN_')" '' 'it calls MPI by its profiling names alone'

# every algorithm, by force: nothing is left to MPI that can be done
text=$(mpirun --oversubscribe -n 2 "$program" 2>&1)
is "$?/$text" 0/right 'the program is right without the library'
for ranks in 2 3 5; do
    MUSTER_COLLECTIVES=ring run $ranks "$program"
    is "$?" 0 "$ranks ranks, rings"
    like "$text" '^right$' '... right'
done
while read -r algorithm; do
    MUSTER_COLLECTIVES=$algorithm run 4 "$program"
    is "$?" 0 "4 ranks, $algorithm"
    like "$text" '^right$' '... right'
done < <(sed -n 's/.*{"\([a-z-]*\)", COLLECTIVE_ALLREDUCE.*/\1/p' \
    "$top_srcdir/collectives/algorithms/table.c")
MUSTER_COLLECTIVES=ring run 3 "$program" threads
is "$?" 0 'three threads on communicators of their own'
like "$text" '^right$' '... right'

# chosen, from figures that are kept
run 3 "$program"
is "$?" 0 'chosen'
like "$text" '^right$' '... right'
unlike "$text" 'muster' '... without a word, from the figures of the run before'
is "$(find "$work" -name 'collectives-*.txt' | wc -l)" 4 'a file of figures for each number of ranks'
for file in "$work"/*; do
    like "$(head -n 1 "$file")" '^muster-collectives 1 crc32c=' '... whole'
done

MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_SUMMARY=1 run 2 "$program"
like "$text" '^muster: allreduce +ring +[0-9]+ +[0-9]+ +[0-9.]+$' 'the summary tells what was done'
unlike "$text" '^muster: allreduce +recursive' '... by what was forced'
MUSTER_COLLECTIVES_EXPLAIN=1 run 2 "$program"
is "$(grep -cE '^[a-z-]+ +[0-9]+  [a-z-]+ +[0-9]+ .* chosen$' <<<"$text")" 30 \
    'asked why: one is chosen for each collective and size'
like "$text" '^allreduce +65536  [a-z-]+ +[0-9]+ +[0-9.]+ +[0-9.]+  chosen$' \
    '... with what was predicted beside what was measured'
MUSTER_COLLECTIVES=mpi MUSTER_COLLECTIVES_SUMMARY=1 run 2 "$program"
is "$?" 0 'all left to MPI'
is "$(grep '^muster: [a-z]' <<<"$text" | grep -v collectives | awk '{print $3}' | sort -u)" mpi \
    '... is what the summary says'
MUSTER_COLLECTIVES=fast run 2 "$program"
is "$?" 0 'an algorithm that is none leaves it to MPI'
like "$text" \
    '^muster: MUSTER_COLLECTIVES: found "fast", expected auto, mpi or an algorithm; collectives are left to MPI$' \
    '... which is said'
is "$(grep -c '^muster' <<<"$text")" 1 '... once'

# a file that is damaged is replaced
file=$(grep -l '^is ranks: 2 ' "$work"/*)
sed -i 's/^copy .*/copy 1/' "$file"
run 2 "$program"
like "$text" "^muster: collectives: figures not used: $file: cut or altered" 'an altered file is said'
like "$text" '^muster: collectives: measuring this machine once' '... and measured again'
run 2 "$program"
unlike "$text" 'muster' '... for good'
MUSTER_COLLECTIVES_CACHE=/proc/none run 2 "$program"
is "$?" 0 'no place for figures'
like "$text" '^muster: collectives: figures not kept: /proc/none/.*No such file' '... is said'

# Fortran
if command -v mpif90 >/dev/null; then
    for way in 7 8 9; do
        mpif90 -cpp -w -fallow-argument-mismatch -DWAY=$way -o "$work/f$way" \
            "$top_srcdir/tests/command/unmodified.f90" >"$work/log" 2>&1 || {
            skip 2 "Fortran, way $way: $(grep -m 1 -i error "$work/log")"
            continue
        }
        MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_SUMMARY=1 run 2 "$work/f$way"
        like "$text" '^ *right$' "Fortran, way $way: right"
        like "$text" '^muster: allreduce +ring +2 +80000 ' '... and through the library'
    done
else
    skip 6 'no mpif90'
fi
done_testing
