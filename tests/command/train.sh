# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# train.sh - for tests of muster-train on several ranks: what they need, and an empty directory to be
# in. After tap.sh:
#
#   . "$top_srcdir/tests/command/train.sh"
#   train_ranks RANKS OPTION...         # mpirun muster-train, two minutes at most

# shellcheck disable=SC2154 # top_builddir is the test's
[ -x "$top_builddir/muster-train" ] || skip_all 'the trainer is not built'
command -v mpirun >/dev/null || skip_all 'there is no mpirun'
case $top_builddir in /*) ;; *) top_builddir=$PWD/$top_builddir ;; esac
work=$(mktemp -d)
tap_cleanup() { rm -rf "$work"; }
cd "$work" || exit
mpi_environment

train_ranks() {
    local ranks=$1
    shift
    timeout 120 mpirun --oversubscribe -n "$ranks" "$top_builddir/muster-train" "$@"
}
