# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests take what is set
#
# command.sh - how a test of the muster command begins. Instead of tap.sh:
#
#   . "$(dirname "$0")/command.sh"
#   needs muster muster-launch          # programs of ours, else the whole file is skipped
#   $top_srcdir $top_builddir $muster   # absolute paths
#   $dir                                # a folder of the test's own, gone when it ends
#   records_hold 'of the schema' <out   # the records are as doc/records.md says
#
# Nothing of a job, a rank or a configuration that the tests are started in is in the environment.

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
    if [ -x "$top_builddir/tests/record-check" ]; then # a tool of the tests, which may leak
        ASAN_OPTIONS=detect_leaks=0 ok "$1" "$top_builddir/tests/record-check" "$top_srcdir/doc/records.md"
    else
        skip 1 'record-check is not built'
    fi
}
