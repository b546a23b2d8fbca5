#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# libmustercoll-pmpi.so preloaded into unmodified programs: results, which calls it replaces and which it
# leaves to MPI, the summary, exported symbols, stored figures, threads, Fortran.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
top_builddir=${top_builddir:-.}
. "$top_srcdir/tests/tap.sh"

program=$top_builddir/tests/command/unmodified
library=$(realpath "$top_builddir/collectives/libmustercoll-pmpi.so" 2>/dev/null)
if [ ! -x "$program" ] || [ -z "$library" ]; then
    skip_all 'built without MPI'
fi
command -v mpirun >/dev/null || skip_all 'no mpirun'
nm -D "$library" | grep -q __asan && skip_all 'the sanitizer cannot be preloaded'
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work" "$work.err"; }
mpi_environment
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1
export MUSTER_COLLECTIVES_CACHE=$work

run() { # RANKS COMMAND...: runs with the library; sets text to standard output, then standard error
    local status
    text=$(timeout 600 mpirun --oversubscribe -n "$1" -x LD_PRELOAD="$library" "${@:2}" \
        2>"$work.err" </dev/null)
    status=$?
    text+=$'\n'$(cat "$work.err")
    return $status
}

# exported symbols
is "$(nm -D --defined-only "$library" | awk '{print $3}' |
    grep -cvE '^(MPI_|mpi_|ompi_[a-z_]*_f$)')" 0 'only entry points of MPI are exported'
is "$(nm -D --undefined-only "$library" | awk '{print $2}' |
    grep -E '^MPI_' | grep -vE '^MPI_FORTRAN_')" '' 'the library calls MPI only by its profiling names'

# every algorithm, forced: no call that it supports is left to MPI
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
done < <(sed -n 's/.*LINE("\([a-z-]*\)", ALLREDUCE,.*/\1/p' \
    "$top_srcdir/collectives/algorithms/algorithm.h")
MUSTER_COLLECTIVES=ring run 3 "$program" threads
is "$?" 0 'three threads on communicators of their own'
like "$text" '^right$' '... right'

MUSTER_COLLECTIVES=ring run 3 "$program" aliases
is "$?" 0 'an all-gather whose send buffer is its receive buffer, without MPI_IN_PLACE'
like "$text" '^right$' '... right'
MUSTER_COLLECTIVES=recursive-doubling run 2 "$program" memory
is "$?" 0 'much data'
like "$text" '^right$' '... whose memory is freed'
OMPI_MCA_btl_vader_single_copy_mechanism=none \
    MUSTER_COLLECTIVES=reduce=shared,all-to-all=pairwise run 3 "$program" progress
is "$?" 0 'a message makes progress while its sender waits for others in shared memory'
like "$text" '^right$' '... right'

for force in auto allreduce=shared; do
    MUSTER_COLLECTIVES=$force run 3 bash -c 'ulimit -f 10240; exec "$0"' "$program"
    is "$?" 0 "$force: a file size limit below the size of the shared memory"
    like "$text" '^right$' '... right'
done

plain=$library
library=$plain:$(realpath "$top_builddir/tests/command/device-mpi.so")
DEVICE_MPI_RANK=1 MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_SUMMARY=1 run 3 "$program"
is "$?" 0 'an MPI that accepts device memory on one rank'
like "$text" '^right$' '... right'
is "$(grep -c '^muster: collectives left to MPI, which accepts device memory$' <<<"$text")" 1 \
    '... is reported once in the summary'
is "$(grep '^muster: [a-z]' <<<"$text" | grep -v collectives | awk '{print $3}' | sort -u)" mpi \
    '... and does all collectives'
library=$plain

MPICH_GPU_SUPPORT_ENABLED=1 MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_SUMMARY=1 run 2 "$program"
like "$text" '^muster: collectives left to MPI, which accepts device memory$' \
    'an MPI that is configured to accept device memory'
library=$plain:$(realpath "$top_builddir/tests/command/odd-mpi.so")
ODD_MPI=foreign MUSTER_COLLECTIVES=ring run 2 "$program"
is "$?" 0 'an MPI with the long version text of another one'
like "$text" '^right$' '... right'
like "$text" '^muster: collectives left to MPI: found MPICH Version: 4.0, expected Open MPI v[0-9.]+$' \
    '... with a message'
ODD_MPI=full MUSTER_COLLECTIVES=ring run 2 "$program"
is "$?" 0 'an MPI without a communicator for the library'
like "$text" '^right$' '... right'
like "$text" '^muster: collectives of a communicator left to MPI: MPI_Comm_split failed$' \
    '... with a message'
ODD_MPI=blind MUSTER_COLLECTIVES=ring run 2 "$program"
is "$?" 0 'an MPI that does not report which ranks share a node'
like "$text" '^right$' '... right'
like "$text" '^muster: MUSTER_COLLECTIVES: MPI does not report where ranks run; collectives left to MPI$' \
    '... with a message'
library=$plain

code=$(sed 's/.*"\(.*\)"/\1/' "$top_builddir/collectives/pmpi/preloaded-code.h")
sed "s/$code/$(tr 0-8 1-9 <<<"$code")/" "$plain" >"$work/other.so"
library=
# shellcheck disable=SC2016 # the rank's own
MUSTER_COLLECTIVES=ring run 3 bash -c '
    [ $OMPI_COMM_WORLD_RANK = 1 ] && one=$2 || one=$1
    LD_PRELOAD=$one exec "$3"' - "$plain" "$work/other.so" "$program"
is "$?" 0 'two builds of the library'
like "$text" '^right$' '... right'
is "$(grep '^muster' <<<"$text")" 'muster: collectives left to MPI: ranks have different builds of libmustercoll-pmpi.so; install one on all nodes' \
    '... with a message'
library=$plain
rm "$work/other.so"

for force in ring auto; do
    OMPI_MCA_btl=self,vader,tcp MUSTER_COLLECTIVES=$force run 2 "$program" spawn
    is "$?" 0 "$force: communicators that span a job and a job that it starts"
    is "$(grep -c '^right$' <<<"$text")" 2 '... right in both'
done

if awk '/^MemAvailable/ { exit !($2 > 5e6) }' /proc/meminfo; then
    MUSTER_COLLECTIVES=ring run 2 "$program" huge
    is "$?" 0 'an element of 2 GiB on one rank, many smaller ones on the other'
    like "$text" '^right$' '... right'
else
    skip 2 'less than 5 GB of memory'
fi

# chosen by stored figures
run 3 "$program"
is "$?" 0 'chosen algorithms: status 0'
like "$text" '^right$' '... right'
unlike "$text" 'muster' '... without a message, from stored figures'
is "$(find "$work" -name 'collectives-*.txt' | wc -l)" 4 'each number of ranks has a file of figures'
for file in "$work"/*; do
    like "$(head -n 1 "$file")" '^muster-collectives 1 crc32c=' '... with a checksum'
    like "$(cat "$file")" '^others [0-9.e-]+ 1$' '... with the load of other processes'
done

MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_SUMMARY=1 run 2 "$program"
like "$text" '^muster: allreduce +ring +[0-9]+ +[0-9]+ +[0-9.]+$' 'the summary has the algorithms used'
unlike "$text" '^muster: allreduce +recursive' '... which are the forced ones'
MUSTER_COLLECTIVES_EXPLAIN=1 run 2 "$program"
is "$(grep -cE '^[a-z-]+ +[0-9]+  [a-z-]+ +[0-9]+ .* chosen$' <<<"$text")" 30 \
    'MUSTER_COLLECTIVES_EXPLAIN=1: one is chosen for each collective and size'
like "$text" '^allreduce +65536  [a-z-]+ +[0-9]+ +[0-9.]+ +[0-9.]+(  chosen)?$' \
    '... with predicted and measured time'
MUSTER_COLLECTIVES=mpi MUSTER_COLLECTIVES_SUMMARY=1 run 2 "$program"
is "$?" 0 'all left to MPI'
is "$(grep '^muster: [a-z]' <<<"$text" | grep -v collectives | awk '{print $3}' | sort -u)" mpi \
    '... is reported in the summary'
MUSTER_COLLECTIVES=fast MUSTER_COLLECTIVES_CACHE=$work/unmeasured run 2 "$program"
is "$?" 0 'an unknown algorithm leaves collectives to MPI'
like "$text" \
    '^muster: MUSTER_COLLECTIVES: found "fast", expected auto, mpi or an algorithm; collectives left to MPI$' \
    '... with a message'
is "$(grep -c '^muster' <<<"$text")" 1 '... once, and nothing is measured'

# lossless coding only if the figures favor it: an invented machine with slow links and a fast codec, and
# one with fast links and a slow codec; muster's own programs read the same file
made_up() { # RANKS LINK_GBPS CODEC_GBPS [OTHERS TIMES]
    python3 "$top_srcdir/tests/command/figures.py" "$(grep -l "^ranks: $1 " "$work"/col*)" "${@:2}"
}
losses() { jq -r 'select(.metric == "loss").value' <<<"$text"; }
sent() { jq -r 'select(.metric == "sent" and .part == "step 1").value' <<<"$text"; }
train() { # OPTION...: on 2 ranks
    text=$(timeout 600 mpirun --oversubscribe -n 2 "$top_builddir/muster-train" --layers=1 \
        --channels=128 --heads=4 --context=32 --vocab=256 --batch=4 --steps=2 --fixed-batch \
        --json "$@" 2>/dev/null </dev/null)
}
if command -v python3 >/dev/null && command -v jq >/dev/null; then
    # figures that were measured under high load are measured again, once at most
    file=$(grep -l '^ranks: 2 ' "$work"/col*)
    made_up 2 5 2 0.9 1
    run 2 "$program"
    if [[ $text == *'measured while other processes used 0.90 of the processors'* ]]; then
        like "$text" '^muster: collectives: measuring this machine once' \
            'figures of a busy machine: measured again once it is idle'
        like "$(cat "$file")" '^others 0(\.[0-8][0-9.e-]*)? 2$' '... which are better'
    else
        unlike "$text" 'measuring' 'figures of a busy machine: used while it is still busy'
        like "$(cat "$file")" '^others 0.9 1$' '... and kept until it is idle'
    fi
    made_up 2 5 2 0.9 2
    run 2 "$program"
    unlike "$text" 'muster' '... not a third time'
    rm "$file"
    run 2 "$program"

    made_up 3 0.05 2
    export MUSTER_COLLECTIVES=ring MUSTER_COLLECTIVES_EXPLAIN=1
    MUSTER_COLLECTIVES_WIRE=auto run 3 "$program"
    is "$?" 0 'slow links: lossless coding'
    like "$text" '^right$' '... right'
    unlike "$text" 'figures not' '... the invented figures are used'
    like "$text" '^allreduce +16777216  ring .* lossless$' '... which is reported'
    like "$text" '^allreduce +64  ring .* as-is$' '... but small messages are not coded'
    MUSTER_COLLECTIVES_WIRE=fast run 3 "$program"
    like "$text" \
        '^muster: MUSTER_COLLECTIVES_WIRE: found "fast", expected as-is or auto; numbers are sent uncompressed$' \
        'an unknown wire format is reported'
    unlike "$text" 'lossless' '... and nothing is coded'
    made_up 3 5 0.05
    MUSTER_COLLECTIVES_WIRE=auto run 3 "$program"
    like "$text" '^right$' 'a slow codec: right'
    like "$text" '^allreduce +16777216  ring .* as-is$' '... without coding'
    unlike "$text" 'lossless' '... for all sizes'
    unset MUSTER_COLLECTIVES MUSTER_COLLECTIVES_EXPLAIN

    cp "$(grep -l '^ranks: 2 ' "$work"/col*)" "$work/kept"
    train
    plain=$(losses) plain_MB=$(sent)
    made_up 2 0.05 2
    train --wire=auto
    is "$(losses)" "$plain" 'muster-train --wire=auto, slow links: exactly the same losses'
    ok "... in fewer bytes ($(sent) of $plain_MB MB)" \
        awk "BEGIN { exit !($(sent) < 0.97 * $plain_MB) }"
    like "$(jq -r 'select(.metric == "predicted_lossless").part' <<<"$text")" \
        '^allreduce of [0-9.]+ MB by ring, lossless$' '... which is reported'
    ok '... in records that match the schema' "$top_builddir/tests/record-check" \
        "$top_srcdir/doc/records.md" <<<"$text"
    text=$(timeout 600 mpirun --oversubscribe -n 2 "$top_builddir/muster-collectives" --quick \
        --wire=auto --json 2>/dev/null </dev/null)
    is "$?" 0 'muster-collectives --wire=auto'
    like "$(jq -r 'select(.metric == "busbw" and (.part | test("by ring, lossless"))).message' <<<"$text")" \
        '^allreduce of 64 KiB .* by ring: .* GB/s; lossless, predicted [0-9.]+ ms uncompressed, [0-9.]+ ms compressed$' \
        '... measures the chosen algorithm, with the reason'
    is "$(jq -r 'select(.metric == "busbw" and (.part | test("1K by recursive"))).part' <<<"$text")" \
        'allreduce 1K by recursive-doubling' '... small messages are not coded'
    made_up 2 5 0.05
    train --wire=auto
    is "$(losses)/$(sent)" "$plain/$plain_MB" 'a slow codec: the same losses, in as many bytes'
    cp "$work/kept" "$(grep -l '^ranks: 2 ' "$work"/col*)"
    train --algorithm=measured
    measured=$(losses)
    like "$(jq -r 'select(.metric == "predicted_as_is").part' <<<"$text")" \
        '^allreduce of [0-9.]+ MB by [a-z-]+, as-is$' '--algorithm=measured prints what it chose'
    train --algorithm=measured --wire=auto
    is "$(losses)" "$measured" '... and gives the same losses with any wire format'
    rm "$work/kept"

    # figures of another version of the code
    file=$(grep -l '^ranks: 2 ' "$work"/col*)
    sed -i 's/^code: .*/code: 1/' "$file"
    made_up 2 5 2
    run 2 "$program"
    like "$text" "^muster: collectives: figures not used: $file: measured elsewhere: code: was 1, is [0-9]+$" \
        'figures of other code are not used'
    like "$text" '^muster: collectives: measuring this machine once' '... but measured again'
    run 2 "$program"
    unlike "$text" 'muster' '... and then used'
else
    skip 26 'no python3 or no jq'
fi
changed=$(sed -n 's/^top_srcdir = //p' "$top_builddir/Makefile")/collectives/choose/benchmarks.c
is "$(env -u MAKEFLAGS make -n -C "$top_builddir" -W "$changed" collectives/choose/measured-code.h |
    grep -c cksum)" 1 'changed benchmarks change the version of the code'

# a file that is damaged is replaced
file=$(grep -l '^ranks: 2 ' "$work"/*)
sed -i 's/^copy .*/copy 1/' "$file"
run 2 "$program"
like "$text" "^muster: collectives: figures not used: $file: cut or altered" 'an altered file is reported'
like "$text" '^muster: collectives: measuring this machine once' '... and measured again'
run 2 "$program"
unlike "$text" 'muster' '... and then used'
MUSTER_COLLECTIVES_CACHE=/proc/none run 2 "$program"
is "$?" 0 'a cache that cannot be written: status 0'
like "$text" '^muster: collectives: figures not kept: /proc/none/.*No such file' '... with a message'

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
    library+=:$(realpath "$top_builddir/tests/command/odd-mpi.so")
    ODD_MPI=foreign run 2 "$work/f7"
    like "$text" '^ *right$' "another MPI's Fortran: right"
    like "$text" '^odd$' '... in its own implementation'
else
    skip 8 'no mpif90'
fi
done_testing
