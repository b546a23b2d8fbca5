#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# muster-train battery: passes on a machine that computes correctly, and names a rank that does not.
. "$(dirname "$0")/train.sh"

command -v jq >/dev/null || skip_all 'there is no jq'
here=$(hostname -s)
battery() { # RANKS OPTION...
    local ranks=$1
    shift
    train_ranks "$ranks" battery --quick --json "$@" >out 2>err
    settled $?
}
# the status, without unknown speeds, which depend on other load of this machine
settled() { # STATUS
    [ "$1" -ne 3 ] || [ -n "$(jq 'select(.verdict == "unknown" and .metric != "throughput")' out)" ] || return 0
    return "$1"
}
# the verdicts, without those of speeds
verdicts() { jq -r 'select(.verdict and .metric != "throughput") | "\(.test) \(.verdict)"' out | xargs; }

battery 3
is "$?" 0 'three ranks of one node: status 0'
is "$(verdicts)" 'train.one pass train.node pass train.checkpoint pass train.data pass train.nodes pass train.model pass' \
    '... pass all tests'
is "$(jq -r 'select(.test == "train.one" and .metric == "throughput").part' out | xargs)" \
    'rank 0 rank 1 rank 2' '... each with its speed'
is "$(jq -r 'select(.metric == "efficiency").value > 0' out)" true '... and the efficiency of all together'
records_hold 'the records follow the schema' <out
is "$(jq -s 'map(select(.test | startswith("train.")) | select(.metric == "loss" and .value > 1e-6)) | length' out)" \
    0 'the losses are much nearer to the reference than the limit'

# without room for the checkpoint; mpirun itself needs some
battery_in() { # FOLDER [COMMAND...]: two ranks with FOLDER as TMPDIR
    local folder=$1
    shift
    "$@" timeout 600 mpirun --oversubscribe -n 2 env TMPDIR="$folder" "$top_builddir/muster-train" battery --quick \
        --json >out 2>err
    settled $?
}
battery_in /nowhere
is "$?" 0 'ranks without a folder for files: status 0'
is "$(jq -r 'select(.test == "train.checkpoint").verdict' out)" pass '... keep their checkpoint in memory'
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null; then
    mkdir full
    # shellcheck disable=SC2016 # the shell's own
    battery_in "$dir/full" unshare -m sh -c 'mount -t tmpfs -o size=1m none "$0" && exec "$@"' "$dir/full"
    is "$?" 3 'ranks with a full disk: status 3'
    is "$(jq -r 'select(.test == "train.checkpoint").verdict' out | sort -u)" unknown '... no rank fails'
    is "$(jq -r 'select(.test == "train.checkpoint").message' out | grep -c 'No space left on device')" 2 \
        '... and the reason is given for each rank'
else
    skip 3 'no namespace for a full disk'
fi

battery 3 --inject=wrong:1@4
is "$?" 1 'a rank that computes wrongly fails'
is "$(jq -r 'select(.verdict == "fail") | "\(.test) \(.node) \(.part)"' out)" "train.one $here rank 1" \
    '... and is named with its node'
like "$(jq -r 'select(.verdict == "fail").message' out)" \
    '^the loss of step 5 is [0-9.]*, 0.00[0-9]* from the reference: this rank computes wrong results$' '... with the step'
if ! is_sanitized "$top_builddir/muster-train"; then
    battery 3 --inject=nan:0@1
    is "$?" 1 'a rank whose numbers are not finite fails'
    is "$(jq -r 'select(.metric != "throughput") | select(.verdict == "fail" or .verdict == "warn") | "\(.metric) \(.part)"' out)" 'loss rank 0' \
        '... and no other rank is compared with it'
    like "$(jq -r 'select(.verdict == "unknown") | "\(.metric) \(.part): \(.message)"' out)" \
        '^throughput rank 0: could not measure the speed: step 1: ' '... its speed is unknown'
    is "$(jq -r 'select(.metric == "efficiency")' out)" '' '... and so is the efficiency'
    battery 2 --inject=flip:0@4
    is "$(jq -r 'select(.metric == "digest") | "\(.verdict) \(.part)"' out)" 'warn null' \
        'of two ranks that differ by a bit none is named as wrong'
    like "$(jq -r 'select(.metric == "digest").message' out)" "^parameters of rank 1 on $here after .* those of rank 0 on $here: " \
        '... both are named'
fi
battery 3 --inject=flip:2@4
is "$?" 0 'a difference of one bit is not a failure'
like "$(jq -r 'select(.metric == "digest") | "\(.verdict) \(.part) \(.message)"' out)" \
    '^warn rank 2 after 10 steps, parameters differ in bits from those of 2 of 3 ranks' \
    '... but a warning that names the rank'

"$top_builddir/muster-train" battery --quick --json >out 2>err
settled $?
is "$?" 0 'one process without MPI: status 0'
is "$(verdicts)" 'train.one pass train.checkpoint pass train.data pass' '... passes the tests of one process'
mkdir "a place's name"
TMPDIR=$PWD/"a place's name" "$top_builddir/muster-train" battery --quick --json >out 2>err
settled $?
is "$?/$(ls "a place's name")" 0/ 'a TMPDIR with any name is left empty'
mkdir -p tmp/muster-train-killed/step tmp/muster-train-now elsewhere
touch tmp/muster-train-killed/step/a elsewhere/a
ln -s ../elsewhere tmp/muster-train-link
touch -d '2 days ago' tmp/muster-train-killed elsewhere
touch -h -d '2 days ago' tmp/muster-train-link
TMPDIR=$PWD/tmp "$top_builddir/muster-train" battery --quick --json >out 2>err
settled $?
is "$?/$(cd tmp && echo *)/$(ls elsewhere)" '0/muster-train-link muster-train-now/a' \
    'files of a killed run are removed after a day, and nothing else'
text=$("$top_builddir/muster-train" battery --time-limit=1 2>&1)
is "$?/$text" '2/muster-train battery: option --time-limit: expected seconds from 5 to 604800, found "1"; see muster-train battery --help' \
    'a bad time limit is a usage error'
like "$("$top_builddir/muster-train" battery --help)" '^Usage: muster-train battery ' '--help'
done_testing
