/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SHARING_H
#define MUSTER_SHARING_H

#include "collectives/algorithms/algorithm.h"

/* What the algorithms named "shared" have in common: ranks of one node through a window of memory
 * that all of them see. A rank puts a piece of its data into its own part of the window and tells
 * the others; these add it up, or take it, from there. So a byte is copied once into the window and
 * once out of it, by no more than the caches where pieces are small, and sums are made from the
 * others' parts without a copy of their own.
 *
 * The data go by in rounds, in two halves of the window in turn: a rank puts the next piece before
 * it waits for the last, so that none waits for another that is a little behind. What fits into
 * one round takes no more of the window than it needs: there are many small windows, so that a rank
 * may be many calls ahead of another.
 *
 * Little data are added up by all who want the sum, from what each rank has put, which is one wait
 * instead of two; more by each a share of it, or by some, where ranks wait for processors.
 *
 * Much goes past the caches, into the window and out of it: a line is then not read before it is
 * written, and what another processor's cache holds, changed, comes from there at an eighth of
 * memory's rate where the two are far apart. */

struct sharing;
typedef void sharing_round_fn(const struct sharing *s, unsigned k);

struct sharing {
    const struct plan_shape *shape;
    struct plan *plan;
    size_t half; /* elements of half a window */
    size_t each; /* ... of a rank's share in it, where every rank has one of its own */
    int owners;  /* of an allreduce: so many ranks have a share */
    unsigned rounds;
    sharing_round_fn *put, *end; /* of round k */
    bool awaits_ends;            /* what it has put is read by others until the round's end */
    bool is_nontemporal;         /* it all goes past the caches */
    struct plan_address partial; /* where sums wait that others are added to, if so: scratch */
};

/* all: elements of a part that would hold everything in one round; 0: not known at all ranks. Of
 * put, end and rounds nothing is set. */
struct sharing sharing_open(const struct plan_shape *shape, struct plan *plan, size_t all);

/* Writes all rounds down. */
void sharing_go(const struct sharing *s);

/* Whether data are so little that who wants the sum adds up all of it; and the same as open and go
 * then, in one round: put is of all that the rank has. */
bool sharing_is_little(const struct plan_shape *shape);
bool sharing_is_little_for_root(const struct plan_shape *shape);
void sharing_go_little(const struct plan_shape *shape, struct plan *plan, sharing_round_fn *put,
                       sharing_round_fn *end);

/* What a rank tells in round k, ascending in the order in which it does so: put(0), put(1),
 * reduced(0), end(0), put(2), reduced(1), end(1), ... */
static inline unsigned sharing_put_number(unsigned k)
{
    return k == 0 ? 1 : 3 * k - 1;
}

static inline unsigned sharing_reduced_number(unsigned k)
{
    return 3 * k + 3;
}

static inline unsigned sharing_end_number(unsigned k)
{
    return 3 * k + 4;
}

/* In the half of round k of a rank's part. */
static inline struct plan_address sharing_window(const struct sharing *s, int rank, unsigned k,
                                                 size_t offset)
{
    return (struct plan_address){PLAN_WINDOW,
                                 (size_t)rank * s->plan->window + k % 2 * s->half + offset};
}

static inline unsigned sharing_pieces(size_t count, size_t each)
{
    return (unsigned)((count + each - 1) / each);
}

static inline int sharing_next(const struct sharing *s, int distance)
{
    return (s->shape->rank + distance) % s->shape->ranks;
}

/* The k-th piece of `half` of a kind's one block. */
static inline struct plan_block sharing_piece(const struct sharing *s, unsigned k)
{
    return plan_block_piece((struct plan_block){0, s->shape->count}, s->half, k);
}

/* Puts a piece of each other rank's block, as far as it does not go by message, into the share that
 * is for that rank. */
sharing_round_fn sharing_put_for_each;

#endif
