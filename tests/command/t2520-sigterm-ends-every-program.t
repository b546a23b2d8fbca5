#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# SIGTERM ends each program in the midst of what takes it long, with status 128 + 15; or with 3 those
# of the battery that have records, of which what was not measured is unknown. One that does not heed it would run for a minute and more.
set -u
top_srcdir=$(cd "${top_srcdir:-$(dirname "$0")/../..}" && pwd)
top_builddir=${top_builddir:-.}
. "$top_srcdir/tests/tap.sh"

unset MUSTER_CONF PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID
work=$(mktemp -d)
tap_cleanup() {
    exec 3>&-
    rm -rf "$work"
}
mpi_environment
case $top_builddir in /*) ;; *) top_builddir=$PWD/$top_builddir ;; esac
cd "$work" || exit
mkfifo empty
exec 3<>empty # a file that says nothing, and does not end

long_step=(--layers=2 --heads=2 --channels=256 --context=512 --vocab=64 --batch=256 --threads=1)
while IFS=: read -r expected under_way command; do
    # shellcheck disable=SC2086 # words
    read -ra words <<<"$command"
    program=${words[0]}
    if [ ! -x "$top_builddir/$program" ]; then
        ok "$command # SKIP not built" true
        continue
    fi
    "$top_builddir/$program" "${words[@]:1}" >out 2>&1 <empty &
    pid=$!
    for ((i = 0; i < 200; i++)); do
        if [ "$under_way" = - ]; then
            # asleep in a read, or at work for so long
            [ "$i" -ge 5 ] && break
        else
            grep -q "$under_way" out && break
        fi
        sleep 0.1
    done
    kill -TERM "$pid" 2>/dev/null
    for ((i = 0; i < 80; i++)); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    ok "$command: is gone" test "$i" -lt 80
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
    like "$?" "^$expected\$" '... by the signal' || sed 's/^/# /' out
done <<END_OF_TABLE
143:-:muster-codec
143:-:muster-codec -d
143:-:muster report empty
143:-:muster compare empty
143:-:muster-train tokenize empty tokens
143:loss:muster-train --layers=1 --heads=1 --channels=8 --context=8 --vocab=64 --batch=1 --steps=100000000
143:parameters:muster-train ${long_step[*]} --steps=2
(3|143):-:muster-launch --inject=hang:0
(3|143):-:muster-links --inject=hang:0
(3|143):-:muster-collectives --inject=hang:0
(3|143):-:muster-preflight --inject=hang:0
END_OF_TABLE
done_testing
