# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # tests take the problems
#
# train.sh - common parts of tests of muster-train on several ranks, in $dir. Source it instead of
# command.sh:
#
#   . "$(dirname "$0")/train.sh"
#   train_ranks RANKS OPTION...         # mpirun muster-train, killed after 600 s
#   train_ranks 2 "${small[@]}" >out    # a problem of the reference, small or large
#   ok '...' follows "$small_losses"    # ... whether the file out has the losses of the reference

. "$(dirname "${BASH_SOURCE[0]}")/command.sh"
needs muster-train
command -v mpirun >/dev/null || skip_all 'there is no mpirun'
cd "$dir" || exit
mpi_environment

train_ranks() {
    local ranks=$1
    shift
    timeout 600 mpirun --oversubscribe -n "$ranks" "$top_builddir/muster-train" "$@"
}

small=(--layers=2 --heads=2 --channels=32 --context=16 --vocab=64 --batch=2 --fixed-batch)
small_losses='4.170606446 4.048292732 3.954357561 3.882185247 3.819699319 3.762451487 3.710817114
    3.664810251 3.622479505 3.581414961 3.540202797'
large=(--layers=4 --heads=4 --channels=64 --context=32 --vocab=256 --batch=4 --fixed-batch)
large_losses='5.556740297 5.221874668 5.033396350 4.899984272 4.798376302 4.707333925 4.621736354
    4.543080947 4.467205045 4.392749320 4.321273976'
follows() { # LOSSES: whether the run in the file out has these, within 1e-5
    grep -o 'loss [0-9.]*' out | awk -v expected="$1" '
        BEGIN { count = split(expected, wanted, " ") }
        { off = $2 - wanted[NR]; bad = bad || off > 1e-5 || off < -1e-5 }
        END { exit bad || NR != count }'
}
