#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The MPI programs, without mpirun: help, version, and one clear line from rank 0 for bad usage, before MPI
# can print a message.
. "$(dirname "$0")/command.sh"
needs muster-launch
mpi_environment # root may run it
cd "$dir" || exit

refused() { # PROGRAM OPTION... -- LINE
    local program=$1 words=()
    shift
    while [ "$1" != -- ]; do
        words+=("$1")
        shift
    done
    text=$("$top_builddir/$program" "${words[@]}" 2>&1 </dev/null)
    is "$?" 2 "$program ${words[*]}: a usage error"
    is "$text" "$program: $2 (--help lists the options)" '... in one clear line'
}

for program in muster-launch muster-links muster-collectives muster-gpu muster-host muster-preflight; do
    help=$("$top_builddir/$program" --help </dev/null)
    is "$?" 0 "$program --help succeeds"
    like "$help" "^Usage: srun .* $program" '... and prints its usage'
    sed 's/\\-/-/g' "$top_srcdir/doc/$program.1" >page
    while read -r option; do
        ok "... the manual page knows $option" grep -qF -- "$option" page
    done < <(grep -o -- '^  --[a-z-]*' <<<"$help")
    like "$("$top_builddir/$program" --version </dev/null)" "^$program [0-9]" '--version'
    refused $program --nonsense -- 'unknown option --nonsense'
    refused $program word -- 'unexpected argument "word"'
    refused $program --json=1 -- 'option --json takes no argument'
    refused $program --time-limit -- 'option --time-limit needs an argument, SECONDS'
    refused $program --time-limit=soon -- \
        'option --time-limit: expected seconds from 1 to 604800, found "soon"'
    refused $program --config= -- 'option --config needs an argument, FILE'
    text=$("$top_builddir/$program" --version 2>&1 >/dev/full)
    is "$?" 3 'a full standard output: status 3'
    is "$text" "$program: standard output: No space left on device" '... with the reason'
    refused $program --inject=lie:me -- \
        'option --inject: expected a rank after the colon, found "me"'
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        refused $program --inject=die:1 -- 'option --inject: rank 1 of 1 ranks' # after MPI, which leaks
    refused $program --config=/no/such -- '/no/such does not exist'
    echo 'ClockOffsetMs=late' >bad.conf
    text=$("$top_builddir/$program" --config=bad.conf 2>&1 </dev/null)
    is "$?" 2 'an error in the configuration is a usage error'
    like "$text" "^$program: bad.conf:1: " '... with its line'
    text=$(PMI_RANK=0 PMI_SIZE=2 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        "$top_builddir/$program" 2>&1 </dev/null)
    is "$?/$text" '3/muster: MPI started each of 2 ranks alone' 'MPI that does not know the launcher'
    text=$(SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 \
        "$top_builddir/$program" 2>&1 </dev/null)
    is "$?/$text" 3/ '... in one line of all ranks'
    text=$(PMIX_RANK=1 "$top_builddir/$program" --nonsense 2>&1 </dev/null)
    is "$?/$text" 2/ 'rank 1 is silent and has the same status'
    text=$(SLURM_PROCID=3 PMIX_RANK=0 "$top_builddir/$program" --nonsense 2>&1 </dev/null)
    isnt "$text" '' 'the rank of PMIx takes precedence over that of Slurm'
done

refused muster-collectives --wire=fast -- \
    'option --wire: expected as-is, auto, lossless, bf16, fp16, e4m3, e5m2 or int8, found "fast"'
refused muster-collectives --rounds=0 -- \
    'option --rounds: expected a number from 1 to 100000, found "0"'
refused muster-host --times=0 -- 'option --times: expected a number from 1 to 100000, found "0"'
refused muster-host --tests=fast -- \
    'option --tests: expected some of compute,memory,disk, found "fast"'
refused muster-launch --expect-nodes= -- 'option --expect-nodes needs an argument, LIST'
refused muster-launch --expect-nodes='n[1' -- 'option --expect-nodes: "n[1" has a [ without a ]'
refused muster-launch --expect-ranks-per-node=0 -- \
    'option --expect-ranks-per-node: expected a number from 1 to 65536, found "0"'
refused muster-links --pairs=n1 -- 'option --pairs: expected NODE:NODE,..., found "n1"'
refused muster-links --pairs=n1:,n2:n3 -- 'option --pairs: expected NODE:NODE,..., found "n1:,n2:n3"'
refused muster-links --pairs=n1:n2+n3 -- 'option --pairs: expected NODE:NODE,..., found "n1:n2+n3"'
refused muster-links --bytes=1T -- \
    'option --bytes: expected a size from 1 to 1099511627776 bytes (64K, 1M), found "1T"'
refused muster-links --floor=120 -- 'option --floor: expected a number from 1 to 100, found "120"'
refused muster-links --repeats=65 -- 'option --repeats: expected a number from 1 to 64, found "65"'
if [ "$(id -u)" -eq 0 ]; then
    for program in muster-launch muster-links muster-collectives muster-preflight; do
        text=$(env -u MUSTER_ALLOW_ROOT timeout 600 "$top_builddir/$program" 2>&1 </dev/null)
        is "$? $text" "2 $program: refusing to run as root: it accepts messages from the network; run it as \
another user, or set MUSTER_ALLOW_ROOT=1" "$program refuses root, in one line"
    done
else
    skip 4 'not root'
fi

# Full shared memory is reported before MPI starts, since MPI may fail to start then, or die of a signal
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    cat >full <<END
mount -t tmpfs -o size=64k tmpfs /dev/shm && head -c 1000000 /dev/zero >/dev/shm/data 2>/dev/null
chown 4711 /dev/shm/data
SLURMD_NODENAME=n3 timeout 600 "$top_builddir/muster-launch" --quick
END
    like "$(ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 unshare -m sh full 2>&1 </dev/null)" \
        'muster-launch: n3: /dev/shm is full: uid 4711 has 6.55e-05 GB in /dev/shm' 'full shared memory is reported with its owner'
else
    skip 1 'no mount namespace here'
fi
done_testing
