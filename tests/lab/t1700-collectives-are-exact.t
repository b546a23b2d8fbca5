#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# muster-collectives: MPI's collectives are exact on a healthy cluster, in time.
. "$(dirname "$0")/battery.sh"

all='allgather allgatherv allreduce alltoall alltoallv barrier bcast exscan gather gatherv nonblocking reduce reduce_scatter reduce_scatter_block scan scatter'

healthy() { # NAME LIMIT OPTION...
    local what=$1 limit=$2
    shift 2
    battery 2 muster-collectives "$@"
    is "$status" 0 "$what: passes"
    is "$stderr_text" '' '... with nothing on standard error'
    valid "$what"
    within_s "$limit" '... in time'
    is "$(record_fields '.test == "collectives.correct" and .verdict == "pass" and .value == 0' .part |
        sort | xargs)" "$all" '... every collective'
    is "$(record_fields '.verdict not in ("pass", None)' .message)" '' '... and nothing else is judged'
    is "$(record_fields '.test == "collectives.speed" and .unit == "GB/s" and .value > 0' .metric | sort -u)" \
        busbw '... with a speed for information'
}

healthy 'default' 20
is "$(record_fields '.metric == "coverage" and .value > 0' .verdict)" pass '... with the share of the cases that were run'
healthy 'quick' 6 --quick
OMPI_MCA_btl=self,vader,tcp OMPI_MCA_btl_tcp_if_include=eth1 healthy 'over a rail' 10 --quick
battery 1 muster-collectives --time-limit 1
ok 'a time limit that is too short is reported, or was long enough' \
    test "$status" = 3 -o "$status" = 0
within_s 6 '... and kept'
done_testing
