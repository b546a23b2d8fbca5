/* SPDX-License-Identifier: Apache-2.0 */
/* Rings (P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 * workstations, JPDC 2009): every rank sends to the next and receives from the one before, one
 * block at a time, ranks - 1 times for the sums and as often for the results. */
#include "collectives/algorithms/algorithm.h"

static const struct plan_block nothing = {0, 0};

void ring_among(const struct plan_shape *shape, struct plan *plan, const struct ring *ring,
                struct plan_address from, struct plan_address to, size_t count)
{
    int ranks = ring->size, position = ring->position;
    int next = ring->ranks[(position + 1) % ranks];
    int before = ring->ranks[(position - 1 + ranks) % ranks];
    /* a block cannot be received where this rank's own contribution still is */
    bool is_same = from.buffer == to.buffer || shape->in_place;
    size_t most = plan_part(count, ranks, 0).count;
    struct plan_address by = to;
    struct plan_block block;

    if (ranks == 1) {
        plan_copy(plan, from, to, count);
        return;
    }
    if (is_same)
        by = plan_scratch(plan, 2 * most);
    for (int s = 0; s < ranks - 1; s++) {
        block = plan_part(count, ranks, (position - s + ranks) % ranks);
        plan_send_segments(plan, shape, next, plan_at(s ? to : from, block.offset), block.count);
        block = plan_part(count, ranks, (position - s - 1 + ranks) % ranks);
        exchange_and_reduce(shape, plan, before, from, nothing, block,
                            plan_at(by, is_same ? (size_t)(s % 2) * most : block.offset),
                            plan_at(to, block.offset));
    }
    for (int s = 0; s < ranks - 1; s++) {
        struct plan_block in = plan_part(count, ranks, (position - s + ranks) % ranks);

        block = plan_part(count, ranks, (position - s + 1 + ranks) % ranks);
        plan_pass_on(plan, shape, next, plan_at(to, block.offset), block.count, before,
                     plan_at(to, in.offset), in.count);
    }
}

void ring_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    int *ranks = plan_ints(plan, (size_t)shape->ranks);
    struct ring ring = {ranks, shape->ranks, plan_ring_position(shape, shape->rank)};

    if (!ranks)
        return;
    for (int i = 0; i < shape->ranks; i++)
        ranks[i] = plan_ring_rank(shape, i);
    ring_among(shape, plan, &ring, plan_in(0), plan_out(0), shape->count);
}

/* The sum of the block of position i begins at position i + 1 and is complete at i. */
void ring_reduce_scatter(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, position = plan_ring_position(shape, shape->rank);
    int next = plan_ring_rank(shape, position + 1), before = plan_ring_rank(shape, position - 1);
    struct plan_block block = plan_shape_block(shape, shape->rank);
    struct plan_address by[2], at;
    size_t greatest = plan_shape_greatest_block(shape);

    if (ranks == 1) {
        plan_copy(plan, plan_in(block.offset), plan_out(0), block.count);
        return;
    }
    by[0] = plan_scratch(plan, greatest);
    by[1] = plan_scratch(plan, greatest);
    block = plan_shape_block(shape, before);
    at = plan_in(block.offset);
    for (int s = 0; s < ranks - 1; s++) {
        bool is_last = s == ranks - 2;

        plan_send_segments(plan, shape, next, at, block.count);
        block = plan_shape_block(shape, plan_ring_rank(shape, position - s - 2));
        at = is_last ? plan_out(0) : by[s % 2];
        exchange_and_reduce(shape, plan, before, plan_in(0), nothing, block, by[s % 2], at);
    }
}

void ring_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    int position = plan_ring_position(shape, shape->rank);
    int next = plan_ring_rank(shape, position + 1), before = plan_ring_rank(shape, position - 1);
    struct plan_block own = plan_shape_block(shape, shape->rank), block = own;
    struct plan_address at = plan_in(0);

    if (plan_rounds(shape)) {
        at = plan_out(own.offset);
        plan_copy(plan, plan_in(0), at, own.count);
    }
    for (int s = 0; s < shape->ranks - 1; s++) {
        struct plan_block in = plan_shape_block(shape, plan_ring_rank(shape, position - s - 1));

        plan_pass_on(plan, shape, next, at, block.count, before, plan_out(in.offset), in.count);
        block = in;
        at = plan_out(in.offset);
    }
    if (!plan_rounds(shape))
        plan_copy(plan, plan_in(0), plan_out(own.offset), own.count);
}

struct algorithm_cost ring_reduce_scatter_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1, block = algorithm_bytes(shape);

    return (struct algorithm_cost){hops, hops * block, hops * block};
}

struct algorithm_cost ring_all_gather_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1, block = algorithm_bytes(shape);

    return (struct algorithm_cost){hops, hops * block, 0};
}

struct algorithm_cost ring_allreduce_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1;
    double block = algorithm_bytes(shape) / shape->ranks;

    return (struct algorithm_cost){2 * hops, 2 * hops * block, hops * block};
}

/* A chain: each rank passes segments on to the next. At first few messages are under way, but then
 * all links are busy, and no rank sends anything twice. */
void chain_broadcast(const struct plan_shape *shape, struct plan *plan)
{
    int position = plan_ring_position(shape, shape->rank);
    int place = (position - plan_ring_position(shape, shape->root) + shape->ranks) % shape->ranks;

    for (unsigned k = 0; k < plan_segments(shape, shape->count); k++) {
        struct plan_block part = plan_segment(shape, shape->count, k);

        if (place > 0)
            plan_receive(plan, plan_ring_rank(shape, position - 1), plan_out(part.offset),
                         part.count);
        if (place < shape->ranks - 1)
            plan_share(plan, plan_ring_rank(shape, position + 1), plan_out(part.offset),
                       part.count);
    }
}

/* Sums flow from the rank before the root, the last of the chain, rank by rank to the root. */
void chain_reduce(const struct plan_shape *shape, struct plan *plan)
{
    int position = plan_ring_position(shape, shape->rank);
    int place = (position - plan_ring_position(shape, shape->root) + shape->ranks) % shape->ranks;
    bool is_root = place == 0, is_last = place == shape->ranks - 1;
    size_t most = shape->count ? plan_segment(shape, shape->count, 0).count : 0;
    struct plan_address by = is_last ? plan_in(0) : plan_scratch(plan, 4 * most);

    for (unsigned k = 0; k < plan_segments(shape, shape->count); k++) {
        struct plan_block part = plan_segment(shape, shape->count, k);
        struct plan_address sum = plan_at(by, k % 4 * most), result = plan_out(part.offset);

        if (is_last) {
            sum = plan_in(part.offset);
        } else {
            plan_receive(plan, plan_ring_rank(shape, position + 1), sum, part.count);
            plan_reduce(plan, plan_in(part.offset), sum, is_root ? result : sum, part.count);
        }
        if (!is_root)
            plan_send(plan, plan_ring_rank(shape, position - 1), sum, part.count);
        else if (is_last)
            plan_copy(plan, sum, result, part.count);
    }
}

struct algorithm_cost chain_broadcast_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1, bytes = algorithm_bytes(shape);

    return (struct algorithm_cost){hops, hops > 0 ? bytes : 0, 0};
}

struct algorithm_cost chain_reduce_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1, bytes = algorithm_bytes(shape);

    return (struct algorithm_cost){hops, hops > 0 ? bytes : 0, hops > 0 ? bytes : 0};
}
