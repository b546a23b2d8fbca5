/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ALGORITHM_H
#define MUSTER_ALGORITHM_H

#include "collectives/plan/plan.h"

/* The collectives' algorithms. To add one: a file in this folder with a function that writes the
 * steps of a rank, its declaration below, and a line in the table of table.c. The unit test
 * tests/unit/collectives/algorithms.c then runs it for many shapes and holds its messages and
 * bytes against its formula. */

/* What the time of a collective is made of: messages α + bytes β + reduced γ, of the rank that has
 * most to do and with messages in both directions at once. */
struct algorithm_cost {
    double messages; /* one after the other */
    double bytes;    /* sent by a rank, or received, whichever is more */
    double reduced;  /* bytes of results that a rank computes */
};

struct algorithm {
    const char *name;
    enum collective_kind kind;
    void (*plan)(const struct plan_shape *shape, struct plan *plan);
    bool (*applies)(const struct plan_shape *shape); /* NULL: to all shapes */
    /* The formula, for blocks of equal size and without segments. */
    struct algorithm_cost (*cost)(const struct plan_shape *shape);
    /* The most times that a number, or a sum that it is part of, is rounded by a lossy wire on its
     * way into any result: what precision_bound() wants beside ranks - 1 additions. */
    unsigned (*roundings)(const struct plan_shape *shape);
    bool is_whole; /* blocks travel whole: shape->segment changes nothing */
};

/* Ends with a name NULL. In the order in which lists show them. */
extern const struct algorithm algorithms[];

/* NULL: none of this name for the kind. */
const struct algorithm *algorithm_find(enum collective_kind kind, const char *name);

bool algorithm_applies(const struct algorithm *algorithm, const struct plan_shape *shape);

/* One that is good where nothing has been measured: by size and number of ranks alone. */
const struct algorithm *algorithm_default(const struct plan_shape *shape);

/* The segment, in elements, that is good where nothing has been measured; 0: none. */
size_t algorithm_default_segment(const struct algorithm *algorithm, const struct plan_shape *shape);

/* Writes the rank's plan. -1: out of memory, or the algorithm does not apply to the shape. */
int algorithm_plan(const struct algorithm *algorithm, const struct plan_shape *shape,
                   struct plan *plan, struct error *err);

/* ceil(lg ranks): the rounds in which a tree, or an exchange with one partner at a time, reaches
 * all. */
int algorithm_rounds(int ranks);

/* For formulas: bytes of the call, or of a rank's block where there are such. */
static inline double algorithm_bytes(const struct plan_shape *shape)
{
    return (double)(shape->count * shape->element_bytes);
}

/* Some ranks in the order in which a ring visits them. */
struct ring {
    const int *ranks;
    int size;
    int position; /* of this rank */
};

/* ring.c's allreduce among a part of the ranks, of count elements from one place to another, which
 * may be the same. */
void ring_among(const struct plan_shape *shape, struct plan *plan, const struct ring *ring,
                struct plan_address from, struct plan_address to, size_t count);

/* direct.c's two halves, among some ranks that all have the data: the i-th of them gets the sum of
 * part i, and gives it to the others. */
struct direct {
    const int *peers; /* [size]; NULL: all ranks, as they are numbered */
    int size, index;  /* of this rank among them */
    int parts;        /* size at most */
    bool is_inner;    /* within a node: nothing is coded, and no sum complete */
};
void direct_reduce(const struct plan_shape *shape, struct plan *plan, const struct direct *d);
void direct_gather(const struct plan_shape *shape, struct plan *plan, const struct direct *d);

/* halving.c's: the greatest power of two up to `ranks`; and the exchange with a partner, segment by
 * segment: the own numbers of the block `away` go there, those of `kept` come to `by` and are added
 * to the own ones at `to`. own is where the numbers begin that both blocks are counted from. */
int halving_places(int ranks);
void halving_exchange(const struct plan_shape *shape, struct plan *plan, int partner,
                      struct plan_address own, struct plan_block away, struct plan_block kept,
                      struct plan_address by, struct plan_address to);

void ring_allreduce(const struct plan_shape *shape, struct plan *plan);
void ring_reduce_scatter(const struct plan_shape *shape, struct plan *plan);
void ring_all_gather(const struct plan_shape *shape, struct plan *plan);
void chain_broadcast(const struct plan_shape *shape, struct plan *plan);
void chain_reduce(const struct plan_shape *shape, struct plan *plan);
void recursive_doubling_allreduce(const struct plan_shape *shape, struct plan *plan);
void rabenseifner_allreduce(const struct plan_shape *shape, struct plan *plan);
void swing_allreduce(const struct plan_shape *shape, struct plan *plan);
void halving_reduce_scatter(const struct plan_shape *shape, struct plan *plan);
void double_tree_allreduce(const struct plan_shape *shape, struct plan *plan);
void direct_allreduce(const struct plan_shape *shape, struct plan *plan);
void hierarchical_allreduce(const struct plan_shape *shape, struct plan *plan);
void binomial_broadcast(const struct plan_shape *shape, struct plan *plan);
void binomial_reduce(const struct plan_shape *shape, struct plan *plan);
void bruck_all_gather(const struct plan_shape *shape, struct plan *plan);
void bruck_all_to_all(const struct plan_shape *shape, struct plan *plan);
void pairwise_all_to_all(const struct plan_shape *shape, struct plan *plan);
void shared_allreduce(const struct plan_shape *shape, struct plan *plan);
void shared_reduce_scatter(const struct plan_shape *shape, struct plan *plan);
void shared_all_gather(const struct plan_shape *shape, struct plan *plan);
void shared_broadcast(const struct plan_shape *shape, struct plan *plan);
void shared_reduce(const struct plan_shape *shape, struct plan *plan);
void shared_all_to_all(const struct plan_shape *shape, struct plan *plan);
void pull_all_gather(const struct plan_shape *shape, struct plan *plan);
void pull_broadcast(const struct plan_shape *shape, struct plan *plan);
void pull_reduce(const struct plan_shape *shape, struct plan *plan);
void pull_all_to_all(const struct plan_shape *shape, struct plan *plan);

bool halving_applies(const struct plan_shape *shape);
bool halving_scatter_applies(const struct plan_shape *shape);
bool bruck_applies(const struct plan_shape *shape);
bool hierarchical_applies(const struct plan_shape *shape);
bool shared_applies(const struct plan_shape *shape);
bool pull_applies(const struct plan_shape *shape);
bool pull_all_to_all_applies(const struct plan_shape *shape);

struct algorithm_cost ring_allreduce_cost(const struct plan_shape *shape);
struct algorithm_cost ring_reduce_scatter_cost(const struct plan_shape *shape);
struct algorithm_cost ring_all_gather_cost(const struct plan_shape *shape);
struct algorithm_cost chain_broadcast_cost(const struct plan_shape *shape);
struct algorithm_cost chain_reduce_cost(const struct plan_shape *shape);
struct algorithm_cost recursive_doubling_allreduce_cost(const struct plan_shape *shape);
struct algorithm_cost halving_allreduce_cost(const struct plan_shape *shape);
struct algorithm_cost halving_reduce_scatter_cost(const struct plan_shape *shape);
struct algorithm_cost double_tree_allreduce_cost(const struct plan_shape *shape);
struct algorithm_cost hierarchical_allreduce_cost(const struct plan_shape *shape);
struct algorithm_cost binomial_broadcast_cost(const struct plan_shape *shape);
struct algorithm_cost binomial_reduce_cost(const struct plan_shape *shape);
struct algorithm_cost bruck_all_gather_cost(const struct plan_shape *shape);
struct algorithm_cost bruck_all_to_all_cost(const struct plan_shape *shape);
struct algorithm_cost shared_allreduce_cost(const struct plan_shape *shape);
struct algorithm_cost shared_reduce_scatter_cost(const struct plan_shape *shape);
struct algorithm_cost shared_broadcast_cost(const struct plan_shape *shape);
struct algorithm_cost shared_reduce_cost(const struct plan_shape *shape);
struct algorithm_cost pull_broadcast_cost(const struct plan_shape *shape);
struct algorithm_cost pull_reduce_cost(const struct plan_shape *shape);
struct algorithm_cost pull_blocks_cost(const struct plan_shape *shape);

#endif
