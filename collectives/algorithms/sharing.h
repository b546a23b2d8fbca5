/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SHARING_H
#define MUSTER_SHARING_H

#include "collectives/algorithms/algorithm.h"

/* The common parts of the algorithms named "shared", for ranks of one node that share a window of
 * memory. A rank puts a piece of its data into its own part of the window and signals; the others
 * add it up, or copy it, from there. So a byte is copied once into the window and once out of it,
 * within the caches if pieces are small, and sums are made directly from the others' parts.
 *
 * Data moves in rounds, which use the two halves of the window in turn: a rank puts the next piece
 * before it waits for the last, so that none waits for another that is slightly behind. Data that
 * fits into one round takes no more of the window than it needs: there are many small windows, so
 * that a rank may be many calls ahead of another.
 *
 * Little data is added up by each rank that wants the sum, which takes one wait instead of two.
 * More data is added up in shares: by every rank, or where ranks wait for processors by some of
 * them.
 *
 * Much data goes past the caches, into the window and out of it: a line is then not read before it
 * is written, and a modified line in another processor's cache would come from there at an eighth
 * of memory's rate if the two are far apart. */

struct sharing;
typedef void sharing_round_fn(const struct sharing *s, unsigned k);

struct sharing {
    const struct plan_shape *shape;
    struct plan *plan;
    size_t half; /* elements of half a window */
    size_t each; /* elements of one rank's share of a half, if each rank has one */
    int owners;  /* of an allreduce: the number of ranks that have a share */
    unsigned rounds;
    sharing_round_fn *put, *end; /* of round k */
    bool awaits_ends;            /* others read what this rank has put until the round's end */
    bool is_nontemporal;         /* all data goes past the caches */
    struct plan_address partial; /* scratch for partial sums, if is_nontemporal */
};

/* Opens the window for the plan. all: elements of a part that would hold everything in one round;
 * 0: not known at all ranks. The caller sets put, end and rounds. */
struct sharing sharing_open(const struct plan_shape *shape, struct plan *plan, size_t all);

/* Adds the steps of all rounds to the plan. */
void sharing_add_rounds(const struct sharing *s);

/* Whether data is so little that each rank that wants the sum (_for_root: the root) adds up all of
 * it. sharing_add_one_round() then replaces sharing_open() and sharing_add_rounds(): one round, in
 * which put() puts all of a rank's data. */
bool sharing_is_little(const struct plan_shape *shape);
bool sharing_is_little_for_root(const struct plan_shape *shape);
void sharing_add_one_round(const struct plan_shape *shape, struct plan *plan, sharing_round_fn *put,
                           sharing_round_fn *end);

/* The numbers of a rank's signals in round k. They ascend in the order of the signals: put(0),
 * put(1), reduced(0), end(0), put(2), reduced(1), end(1), ... */
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

/* The address at an offset in a rank's part, in the half that round k uses. */
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

/* The k-th piece, of s->half elements, of a call with one block. */
static inline struct plan_block sharing_piece(const struct sharing *s, unsigned k)
{
    return plan_block_piece((struct plan_block){0, s->shape->count}, s->half, k);
}

/* Puts the k-th piece of the block for each other rank into the share for that rank, except of
 * blocks that are sent as messages. */
sharing_round_fn sharing_put_for_each;

#endif
