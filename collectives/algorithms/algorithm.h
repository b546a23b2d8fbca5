/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALGORITHM_H
#define MUSTER_ALGORITHM_H

#include "collectives/plan/plan.h"

/* The collectives' algorithms. To add one: a file in this folder with a function that writes the
 * steps of a rank, and a line in ALGORITHMS below. The unit test
 * tests/unit/collectives/algorithms.c then runs it for many shapes and compares its messages and
 * bytes with its formula. */

/* The parts of a collective's time, messages α + bytes β + reduced γ, on the rank that has most to
 * do and with messages in both directions at once. */
struct algorithm_cost {
    double messages; /* one after the other */
    double bytes;    /* sent by a rank, or received, whichever is more */
    double reduced;  /* bytes of results that a rank computes */
};

struct algorithm {
    const char *name;
    enum collective_kind kind;
    void (*plan)(const struct plan_shape *shape, struct plan *plan);
    bool (*applies)(const struct plan_shape *shape); /* NULL: applies to all shapes */
    /* The formula, for blocks of equal size and without segments. */
    struct algorithm_cost (*cost)(const struct plan_shape *shape);
    /* The most times that a lossy wire rounds a number, or a sum that contains it, on its way into
     * any result. precision_bound() needs this besides the ranks - 1 additions. */
    unsigned (*roundings)(const struct plan_shape *shape);
    bool is_whole; /* blocks travel whole: shape->segment changes nothing */
};

/* Ends with a name NULL. */
extern const struct algorithm algorithms[];

/* Returns the kind's algorithm of this name, or NULL. */
const struct algorithm *algorithm_find(enum collective_kind kind, const char *name);

bool algorithm_applies(const struct algorithm *algorithm, const struct plan_shape *shape);

/* Returns an algorithm that is good if nothing has been measured: by kind and size alone. */
const struct algorithm *algorithm_default(const struct plan_shape *shape);

/* Returns a segment, in elements, that is good if nothing has been measured: 256 KiB. */
size_t algorithm_default_segment(const struct plan_shape *shape);

/* Makes the rank's plan. Returns -1 if memory is out or the algorithm does not apply. */
int algorithm_plan(const struct algorithm *algorithm, const struct plan_shape *shape,
                   struct plan *plan, struct error *err);

/* Returns ceil(lg ranks): the rounds in which a tree, or an exchange with one partner at a time,
 * reaches all ranks. */
int algorithm_rounds(int ranks);

/* For formulas: bytes of the call, or of one rank's block for kinds with blocks. */
static inline double algorithm_bytes(const struct plan_shape *shape)
{
    return (double)(shape->count * shape->element_bytes);
}

/* Some ranks in the order in which a ring visits them. */
struct ring {
    const int *ranks;
    int size;
    int position; /* of this rank in the ring */
};

/* The allreduce of ring.c among some of the ranks: count elements at `from`, results at `to`, which
 * may be the same place. */
void ring_among(const struct plan_shape *shape, struct plan *plan, const struct ring *ring,
                struct plan_address from, struct plan_address to, size_t count);

/* The two halves of direct.c among some ranks that all have the data: direct_reduce() makes the sum
 * of part i at the i-th of them, direct_gather() sends it to the others. */
struct direct {
    const int *peers; /* [size]; NULL: all ranks, in rank order */
    int size, index;  /* index: of this rank among the peers */
    int parts;        /* at most size */
    bool is_inner;    /* within a node: nothing is coded */
};
void direct_reduce(const struct plan_shape *shape, struct plan *plan, const struct direct *d);
void direct_gather(const struct plan_shape *shape, struct plan *plan, const struct direct *d);

/* From halving.c. halving_places() returns the greatest power of two up to `ranks`.
 * exchange_and_reduce() exchanges numbers with a partner, segment by segment: sends the own numbers
 * of the block `away`, receives the partner's of `kept` in `by`, and writes their sums with the own
 * ones to `to`. Both blocks are offsets from `own`; either may be empty. by may be `to`, unless the
 * own numbers are there. */
int halving_places(int ranks);
void exchange_and_reduce(const struct plan_shape *shape, struct plan *plan, int partner,
                         struct plan_address own, struct plan_block away, struct plan_block kept,
                         struct plan_address by, struct plan_address to);

bool halving_applies(const struct plan_shape *shape);
bool halving_scatter_applies(const struct plan_shape *shape);
bool bruck_applies(const struct plan_shape *shape);
bool hierarchical_applies(const struct plan_shape *shape);
bool shared_applies(const struct plan_shape *shape);
bool pull_applies(const struct plan_shape *shape);
bool pull_all_to_all_applies(const struct plan_shape *shape);

/* All algorithms, in the order in which lists show them: name, kind, and the rest of struct
 * algorithm. */
#define ALGORITHMS(LINE)                                                                           \
    LINE("ring", ALLREDUCE, ring_allreduce, NULL, ring_allreduce_cost, by_ranks, false)            \
    LINE("recursive-doubling", ALLREDUCE, recursive_doubling_allreduce, NULL,                      \
         recursive_doubling_allreduce_cost, by_rounds, true)                                       \
    LINE("rabenseifner", ALLREDUCE, rabenseifner_allreduce, halving_applies,                       \
         halving_allreduce_cost, by_rounds_and_once, false)                                        \
    LINE("swing", ALLREDUCE, swing_allreduce, halving_applies, halving_allreduce_cost,             \
         by_rounds_and_once, false)                                                                \
    LINE("double-tree", ALLREDUCE, double_tree_allreduce, NULL, double_tree_allreduce_cost,        \
         by_rounds_and_once, false)                                                                \
    LINE("direct", ALLREDUCE, direct_allreduce, NULL, ring_allreduce_cost, twice, false)           \
    LINE("hierarchical", ALLREDUCE, hierarchical_allreduce, hierarchical_applies,                  \
         hierarchical_allreduce_cost, by_nodes, false)                                             \
    LINE("shared", ALLREDUCE, shared_allreduce, shared_applies, shared_allreduce_cost, never,      \
         false)                                                                                    \
    LINE("ring", REDUCE_SCATTER, ring_reduce_scatter, NULL, ring_reduce_scatter_cost, by_hops,     \
         false)                                                                                    \
    LINE("halving", REDUCE_SCATTER, halving_reduce_scatter, halving_scatter_applies,               \
         halving_reduce_scatter_cost, by_rounds_and_once, false)                                   \
    LINE("shared", REDUCE_SCATTER, shared_reduce_scatter, shared_applies, shared_once_cost, never, \
         false)                                                                                    \
    LINE("ring", ALL_GATHER, ring_all_gather, NULL, ring_all_gather_cost, once, false)             \
    LINE("bruck", ALL_GATHER, bruck_all_gather, bruck_applies, bruck_all_gather_cost, once, true)  \
    LINE("shared", ALL_GATHER, shared_all_gather, shared_applies, pull_blocks_cost, never, false)  \
    LINE("pull", ALL_GATHER, pull_all_gather, pull_applies, pull_blocks_cost, never, true)         \
    LINE("binomial", BROADCAST, binomial_broadcast, NULL, binomial_broadcast_cost, once, false)    \
    LINE("chain", BROADCAST, chain_broadcast, NULL, chain_broadcast_cost, once, false)             \
    LINE("shared", BROADCAST, shared_broadcast, shared_applies, shared_broadcast_cost, never,      \
         false)                                                                                    \
    LINE("pull", BROADCAST, pull_broadcast, pull_applies, pull_broadcast_cost, never, true)        \
    LINE("binomial", REDUCE, binomial_reduce, NULL, binomial_reduce_cost, by_rounds, false)        \
    LINE("chain", REDUCE, chain_reduce, NULL, chain_reduce_cost, by_hops, false)                   \
    LINE("shared", REDUCE, shared_reduce, shared_applies, shared_reduce_cost, never, false)        \
    LINE("pull", REDUCE, pull_reduce, pull_applies, pull_reduce_cost, never, false)                \
    LINE("pairwise", ALL_TO_ALL, pairwise_all_to_all, NULL, ring_all_gather_cost, once, true)      \
    LINE("bruck", ALL_TO_ALL, bruck_all_to_all, bruck_applies, bruck_all_to_all_cost, once, true)  \
    LINE("shared", ALL_TO_ALL, shared_all_to_all, shared_applies, pull_blocks_cost, never, false)  \
    LINE("pull", ALL_TO_ALL, pull_all_to_all, pull_all_to_all_applies, pull_blocks_cost, never,    \
         true)

#define ALGORITHM_DECLARE(name, kind, plan_function, applies, cost_function, roundings, is_whole)  \
    void plan_function(const struct plan_shape *shape, struct plan *plan);                         \
    struct algorithm_cost cost_function(const struct plan_shape *shape);
ALGORITHMS(ALGORITHM_DECLARE)

#endif
