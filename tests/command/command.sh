# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests take what is set
#
# command.sh - common parts of the tests of the muster command. Source it instead of tap.sh:
#
#   . "$(dirname "$0")/command.sh"
#   needs muster muster-launch          # skips the whole file if one of the programs is not built
#   $top_srcdir $top_builddir $muster   # absolute paths
#   $dir                                # a scratch directory, removed when the test ends
#   records_hold 'of the schema' <out   # checks that the records match doc/records.md
#
# Removes variables of a job, a rank or a configuration that the tests are started in.

set -u
. "$(dirname "${BASH_SOURCE[0]}")/../tap.sh"
top_srcdir=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
top_builddir=$(cd "${top_builddir:-.}" && pwd)
muster=$top_builddir/muster
unset MUSTER_CONF MUSTER_RUN SLURM_CONF SLURMD_NODENAME SLURM_JOB_ID SLURM_JOBID SLURM_STEP_ID
unset PMIX_RANK OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID
dir=$(mktemp -d)
tap_cleanup() { rm -rf "$dir"; }

needs() { # PROGRAM...
    local program
    for program; do
        [ -x "$top_builddir/$program" ] || skip_all "$program is not built"
    done
}

records_hold() { # NAME
    if [ -x "$top_builddir/tests/record-check" ]; then # leaks of record-check do not matter
        ASAN_OPTIONS=detect_leaks=0 ok "$1" "$top_builddir/tests/record-check" "$top_srcdir/doc/records.md"
    else
        skip 1 'record-check is not built'
    fi
}
