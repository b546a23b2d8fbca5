/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algorithms/sharing.h"
#include "lib/constants/collectives_constants.h"

/* Whether there are partial sums, and they would go past the caches. */
static bool has_partial(const struct sharing *s)
{
    return s->is_nontemporal && s->shape->ranks > 2;
}

/* Reserves scratch for partial sums of up to count elements, so that they stay in a cache. */
static void keep_partial(struct sharing *s, size_t count)
{
    if (has_partial(s))
        s->partial = plan_scratch(s->plan, count);
}

/* Adds to the own numbers those that all other ranks, except the rank `but` (ranks: no exception),
 * have put at offset `at` in round k, and writes the sum. There is at least one such rank. */
static void add_others(const struct sharing *s, unsigned k, struct plan_address own, int but,
                       size_t at, struct plan_address sum, size_t count)
{
    int left = s->shape->ranks - 1 - (but < s->shape->ranks && but != s->shape->rank);

    for (int d = 1; d < s->shape->ranks; d++) {
        int from = sharing_next(s, d);
        struct plan_address to = has_partial(s) && left > 1 ? s->partial : sum;

        if (from == but)
            continue;
        plan_await(s->plan, from, sharing_put_number(k));
        plan_nontemporal(s->plan, s->is_nontemporal && left == 1);
        plan_reduce(s->plan, own, sharing_window(s, from, k, at), to, count);
        own = to;
        left--;
    }
    plan_nontemporal(s->plan, s->is_nontemporal);
}

/* ----------------------------------------------------------------------------------- allreduce */

/* The number of owners, which add up a share each: of little data, where ranks wait for processors,
 * no more than can run at once. An owner waits twice, a rank that only copies the sums once. */
static int owner_count(const struct plan_shape *shape)
{
    bool is_little = shape->count * shape->element_bytes <= SHARED_OWNERS_BYTES;

    return plan_is_oversubscribed(shape->topology) && is_little ? shape->topology->processors
                                                                : shape->ranks;
}

/* The rank that owns the share `index`. Owners are as far from each other as possible, so that they
 * do not run on one processor. */
static int owner_of(const struct sharing *s, int index)
{
    return (int)((long)index * s->shape->ranks / s->owners);
}

/* The share `index` of the k-th piece, which its owner adds up. */
static struct plan_block share_of(const struct sharing *s, unsigned k, int index)
{
    struct plan_block some =
        plan_block_piece((struct plan_block){0, s->shape->count}, s->each * (size_t)s->owners, k);
    struct plan_block share = plan_part(some.count, s->owners, index);

    share.offset += some.offset;
    return share;
}

/* Where a rank puts its numbers of the share `index`, and the owner of the share puts the sum. */
static struct plan_address share_window(const struct sharing *s, int rank, unsigned k, int index)
{
    return sharing_window(s, rank, k, (size_t)index * s->each);
}

/* The index of the first owner from this rank on: ranks begin with different owners. */
static int first_owner(const struct sharing *s)
{
    for (int index = 0; index < s->owners; index++)
        if (owner_of(s, index) >= s->shape->rank)
            return index;
    return 0;
}

/* Puts all shares except the one that this rank owns. A share has a fixed place in the window,
 * whatever the size of the piece; in its owner's part the sum is there, and others may still be
 * reading the last one. */
static void put_for_others(const struct sharing *s, unsigned k)
{
    for (int i = 0, first = first_owner(s); i < s->owners; i++) {
        int index = (first + i) % s->owners;
        struct plan_block share = share_of(s, k, index);

        if (owner_of(s, index) != s->shape->rank)
            plan_copy(s->plan, plan_in(share.offset), share_window(s, s->shape->rank, k, index),
                      share.count);
    }
}

static void reduce_share(const struct sharing *s, unsigned k, int index)
{
    struct plan_block share = share_of(s, k, index);
    struct plan_address sum = share_window(s, s->shape->rank, k, index);

    /* awaits all before it adds the first: they have then copied the sum of two rounds before */
    for (int d = 1; d < s->shape->ranks; d++)
        plan_await(s->plan, sharing_next(s, d), sharing_put_number(k));
    add_others(s, k, plan_in(share.offset), s->shape->ranks, (size_t)index * s->each, sum,
               share.count);
    plan_signal(s->plan, sharing_reduced_number(k));
}

static void reduce_and_take(const struct sharing *s, unsigned k)
{
    int first = first_owner(s);

    if (owner_of(s, first) == s->shape->rank)
        reduce_share(s, k, first);
    for (int i = 0; i < s->owners; i++) {
        int index = (first + i) % s->owners, owner = owner_of(s, index);
        struct plan_block share = share_of(s, k, index);

        if (owner != s->shape->rank)
            plan_await(s->plan, owner, sharing_reduced_number(k));
        plan_copy(s->plan, share_window(s, owner, k, index), plan_out(share.offset), share.count);
    }
}

static void put_all(const struct sharing *s, unsigned k)
{
    (void)k;
    plan_copy(s->plan, plan_in(0), sharing_window(s, s->shape->rank, 0, 0), s->shape->count);
}

/* Adds up in the order of ranks, so that all have the same bits. Reads the own numbers from the
 * window too, as in place the first sum overwrites them. */
static void add_up_all(const struct sharing *s, unsigned k)
{
    struct plan_address sum = sharing_window(s, 0, 0, 0);

    for (int r = 0; r < s->shape->ranks; r++)
        if (r != s->shape->rank)
            plan_await(s->plan, r, sharing_put_number(k));
    for (int r = 1; r < s->shape->ranks; r++) {
        plan_reduce(s->plan, sum, sharing_window(s, r, 0, 0), plan_out(0), s->shape->count);
        sum = plan_out(0);
    }
}

void shared_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    size_t owners = (size_t)owner_count(shape);
    struct sharing s;

    if (sharing_is_little(shape)) {
        sharing_add_one_round(shape, plan, put_all, add_up_all);
        return;
    }
    s = sharing_open(shape, plan, (shape->count + owners - 1) / owners * owners);
    s.owners = (int)owners;
    s.each = s.half / owners;
    keep_partial(&s, s.each);
    s.put = put_for_others;
    s.end = reduce_and_take;
    s.rounds = sharing_pieces(shape->count, s.each * owners);
    s.awaits_ends = false; /* by then this rank has copied the others' sums, made of what it put */
    sharing_add_rounds(&s);
}

struct algorithm_cost shared_allreduce_cost(const struct plan_shape *shape)
{
    double bytes = algorithm_bytes(shape);
    double others = bytes * (shape->ranks - 1) / shape->ranks;

    if (sharing_is_little(shape))
        return shared_once_cost(shape);
    return (struct algorithm_cost){2, 2 * others, others};
}

/* -------------------------------------------------------------------------------------- reduce */

/* The part of a piece that a rank adds up: all ranks except the root have one. */
static struct plan_block part_of(const struct sharing *s, struct plan_block some, int rank)
{
    int index = (rank - s->shape->root - 1 + s->shape->ranks) % s->shape->ranks;

    return plan_part(some.count, s->shape->ranks - 1, index);
}

static void put_towards_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = sharing_piece(s, k);

    for (int d = 1; d < s->shape->ranks && s->shape->rank != s->shape->root; d++) {
        struct plan_block part = part_of(s, some, sharing_next(s, d));

        if (sharing_next(s, d) != s->shape->root)
            plan_copy(s->plan, plan_in(some.offset + part.offset),
                      sharing_window(s, s->shape->rank, k, part.offset), part.count);
    }
}

static void reduce_for_root(const struct sharing *s, unsigned k, struct plan_block some)
{
    struct plan_block part = part_of(s, some, s->shape->rank);
    struct plan_address sum = sharing_window(s, s->shape->rank, k, part.offset);
    struct plan_address own = plan_in(some.offset + part.offset);

    if (s->shape->ranks == 2)
        plan_copy(s->plan, own, sum, part.count);
    else
        add_others(s, k, own, s->shape->root, part.offset, sum, part.count);
    plan_signal(s->plan, sharing_reduced_number(k));
}

static void reduce_towards_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = sharing_piece(s, k);

    if (s->shape->rank != s->shape->root) {
        reduce_for_root(s, k, some);
        return;
    }
    for (int d = 1; d < s->shape->ranks; d++) {
        struct plan_block part = part_of(s, some, sharing_next(s, d));
        size_t at = some.offset + part.offset;

        plan_await(s->plan, sharing_next(s, d), sharing_reduced_number(k));
        plan_reduce(s->plan, plan_in(at), sharing_window(s, sharing_next(s, d), k, part.offset),
                    plan_out(at), part.count);
    }
}

static void put_all_for_root(const struct sharing *s, unsigned k)
{
    if (s->shape->rank != s->shape->root)
        put_all(s, k);
}

static void add_up_at_root(const struct sharing *s, unsigned k)
{
    struct plan_address sum = plan_in(0);

    if (s->shape->rank != s->shape->root)
        return;
    for (int d = 1; d < s->shape->ranks; d++) {
        plan_await(s->plan, sharing_next(s, d), sharing_put_number(k));
        plan_reduce(s->plan, sum, sharing_window(s, sharing_next(s, d), 0, 0), plan_out(0),
                    s->shape->count);
        sum = plan_out(0);
    }
}

void shared_reduce(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s;

    if (sharing_is_little_for_root(shape)) {
        sharing_add_one_round(shape, plan, put_all_for_root, add_up_at_root);
        return;
    }
    s = sharing_open(shape, plan, shape->count);
    if (shape->rank != shape->root)
        keep_partial(&s, s.half / (size_t)(shape->ranks - 1) + 1);
    s.put = put_towards_root;
    s.end = reduce_towards_root;
    s.rounds = sharing_pieces(shape->count, s.half);
    s.awaits_ends = shape->rank != shape->root;
    sharing_add_rounds(&s);
}

struct algorithm_cost shared_reduce_cost(const struct plan_shape *shape)
{
    double bytes = algorithm_bytes(shape);

    if (sharing_is_little_for_root(shape))
        return shared_once_cost(shape);
    return (struct algorithm_cost){2, bytes, bytes};
}

/* ------------------------------------------------------------------------------ reduce-scatter */

/* In place the result would overwrite blocks that are still to be put: it is kept in scratch, from
 * offset 0 on. */
static void reduce_own(const struct sharing *s, unsigned k)
{
    struct plan_block block = plan_shape_block(s->shape, s->shape->rank);
    struct plan_block some = plan_block_piece(block, s->each, k);
    struct plan_address sum = {s->shape->in_place ? PLAN_SCRATCH : PLAN_OUT,
                               some.offset - block.offset};

    if (some.count == 0)
        return;
    add_others(s, k, plan_in(some.offset), s->shape->ranks, (size_t)s->shape->rank * s->each, sum,
               some.count);
}

void shared_reduce_scatter(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s =
        sharing_open(shape, plan, (size_t)shape->ranks * plan_shape_greatest_block(shape));
    size_t count = plan_shape_block(shape, shape->rank).count;

    s.put = sharing_put_for_each;
    s.end = reduce_own;
    s.rounds = sharing_pieces(plan_shape_greatest_block(shape), s.each);
    if (shape->in_place)
        plan_scratch(plan, count);
    keep_partial(&s, s.each);
    sharing_add_rounds(&s);
    if (shape->in_place)
        plan_copy(plan, (struct plan_address){PLAN_SCRATCH, 0}, plan_out(0), count);
}
