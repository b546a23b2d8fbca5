#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Our algorithms between nodes, beside MPI's collectives: exact, and a rank that lies is named.
. "$(dirname "$0")/battery.sh"

ours='all-gather by bruck,all-gather by ring,all-to-all by bruck,all-to-all by pairwise'
ours+=',allreduce by direct,allreduce by double-tree,allreduce by hierarchical'
ours+=',allreduce by rabenseifner,allreduce by recursive-doubling,allreduce by ring'
ours+=',allreduce by swing,broadcast by binomial,broadcast by chain,reduce by binomial'
ours+=',reduce by chain,reduce-scatter by halving,reduce-scatter by ring'

battery 2 muster-collectives --quick --algorithms
is "$status" 0 'a healthy cluster passes'
valid '...'
is "$(record_fields '.test == "collectives.correct" and .verdict == "pass" and " by " in .part' .part |
    sort | paste -sd,)" "$ours" '... every algorithm is exact'
is "$(record_fields '.verdict == "skip"' .part | sed 's/.* by //' | sort -u | xargs)" \
    'pull shared' '... except those for ranks on one node'
is "$(record_fields '.verdict not in ("pass", "skip", None)' .message)" '' '... and nothing else is judged'
is "$(record_fields '.test == "collectives.bound" and .verdict == "pass" and .value < 1 and " by " in .part' .part |
    sort | paste -sd,)" "$ours" '... and results of random numbers are within their bound'
is "$(record_fields '.test == "collectives.speed" and " 64K by " in .part and .value > 0' .part |
    sed 's/ 64K//' | grep -v 'by MPI$' | sort | paste -sd,)" "$ours" '... with its speed'
is "$(record_fields '.test == "collectives.speed" and " 64K by MPI" in .part' .part | wc -l)" 6 \
    "... beside MPI's own"

battery 2 muster-collectives --quick --algorithms --inject lie:5:recv
is "$status" 1 'a rank that damages what it receives'
is "$(record_fields '.metric == "corrupt"' .node .part .verdict)" 'n3 rank 5 fail' '... is named with its node'
ok '... as our algorithms show, too' test -n \
    "$(record_fields '.metric == "mismatches" and .part == "allreduce by hierarchical" and .value > 0' .part)"
is "$(record_fields '.test == "collectives.bound" and .verdict == "fail" and " by " in .part' .part |
    sort | paste -sd,)" "$ours" '... and results of random numbers exceed their bound'
done_testing
