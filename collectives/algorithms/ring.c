/* SPDX-License-Identifier: Apache-2.0 */
/* Rings (P. Patarasuk, X. Yuan: Bandwidth optimal all-reduce algorithms for clusters of
 * workstations, JPDC 2009): every rank sends to the next and receives from the one before, a block
 * per rank, ranks - 1 times around for the sums and as often for the results. */
#include "collectives/algorithms/algorithm.h"

/* Sends and receives a block at once, segment by segment, in the order of the other side: what one
 * sends as its k-th message the next receives as its k-th. */

/* Receives the block, whose own contribution is at `own`, and adds the two at `to`. The segments
 * come in where they are added, unless that is where the own contribution is. */
static void receive_and_reduce(const struct plan_shape *shape, struct plan *plan, int peer,
                               struct plan_place own, struct plan_place by, struct plan_place to,
                               size_t count)
{
    for (unsigned k = 0; k < plan_segments(shape, count); k++) {
        struct plan_block part = plan_segment(shape, count, k);

        plan_receive(plan, peer, plan_at(by, part.offset), part.count);
        plan_reduce(plan, plan_at(own, part.offset), plan_at(by, part.offset),
                    plan_at(to, part.offset), part.count);
    }
}

static void send_segments(const struct plan_shape *shape, struct plan *plan, int peer,
                          struct plan_place from, size_t count)
{
    for (unsigned k = 0; k < plan_segments(shape, count); k++) {
        struct plan_block part = plan_segment(shape, count, k);

        plan_send(plan, peer, plan_at(from, part.offset), part.count);
    }
}

static void receive_segments(const struct plan_shape *shape, struct plan *plan, int peer,
                             struct plan_place to, size_t count)
{
    for (unsigned k = 0; k < plan_segments(shape, count); k++) {
        struct plan_block part = plan_segment(shape, count, k);

        plan_receive(plan, peer, plan_at(to, part.offset), part.count);
    }
}

void ring_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, position = plan_ring_position(shape, shape->rank);
    int next = plan_ring_rank(shape, position + 1), before = plan_ring_rank(shape, position - 1);
    struct plan_place by = {PLAN_OUT, 0};
    struct plan_block block;

    if (ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    /* two, so that a block can come in while the one before is being added */
    if (shape->in_place)
        by = plan_scratch(plan, 2 * plan_part(shape->count, ranks, 0).count);
    for (int s = 0; s < ranks - 1; s++) {
        int out = (position - s + ranks) % ranks, in = (position - s - 1 + ranks) % ranks;

        block = plan_part(shape->count, ranks, out);
        send_segments(shape, plan, next, s ? plan_out(block.offset) : plan_in(block.offset),
                      block.count);
        block = plan_part(shape->count, ranks, in);
        receive_and_reduce(
            shape, plan, before, plan_in(block.offset),
            shape->in_place ? plan_at(by, (size_t)(s % 2) * plan_part(shape->count, ranks, 0).count)
                            : plan_out(block.offset),
            plan_out(block.offset), block.count);
    }
    block = plan_part(shape->count, ranks, (position + 1) % ranks);
    for (unsigned k = 0; k < plan_segments(shape, block.count); k++) {
        struct plan_block part = plan_segment(shape, block.count, k);

        plan_complete(plan, plan_out(block.offset + part.offset), part.count);
    }
    for (int s = 0; s < ranks - 1; s++) {
        block = plan_part(shape->count, ranks, (position - s + 1 + ranks) % ranks);
        send_segments(shape, plan, next, plan_out(block.offset), block.count);
        block = plan_part(shape->count, ranks, (position - s + ranks) % ranks);
        receive_segments(shape, plan, before, plan_out(block.offset), block.count);
    }
}

/* The block of position i starts at position i + 1 and ends, complete, at i. */
void ring_reduce_scatter(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, position = plan_ring_position(shape, shape->rank);
    int next = plan_ring_rank(shape, position + 1), before = plan_ring_rank(shape, position - 1);
    struct plan_block block = plan_shape_block(shape, shape->rank);
    struct plan_place by[2], at;
    size_t greatest = 0;

    if (ranks == 1) {
        plan_copy(plan, plan_in(block.offset), plan_out(0), block.count);
        return;
    }
    for (int r = 0; r < ranks; r++)
        if (plan_shape_block(shape, r).count > greatest)
            greatest = plan_shape_block(shape, r).count;
    by[0] = plan_scratch(plan, greatest);
    by[1] = plan_scratch(plan, greatest);
    block = plan_shape_block(shape, before);
    at = plan_in(block.offset);
    for (int s = 0; s < ranks - 1; s++) {
        bool is_last = s == ranks - 2;

        send_segments(shape, plan, next, at, block.count);
        block = plan_shape_block(shape, plan_ring_rank(shape, position - s - 2));
        at = is_last ? plan_out(0) : by[s % 2];
        receive_and_reduce(shape, plan, before, plan_in(block.offset), by[s % 2], at, block.count);
    }
    plan_complete(plan, plan_out(0), block.count);
}

void ring_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    int position = plan_ring_position(shape, shape->rank);
    int next = plan_ring_rank(shape, position + 1), before = plan_ring_rank(shape, position - 1);
    struct plan_block block = plan_shape_block(shape, shape->rank);
    struct plan_place at = plan_in(0);

    for (int s = 0; s < shape->ranks - 1; s++) {
        send_segments(shape, plan, next, at, block.count);
        block = plan_shape_block(shape, plan_ring_rank(shape, position - s - 1));
        at = plan_out(block.offset);
        receive_segments(shape, plan, before, at, block.count);
    }
    block = plan_shape_block(shape, shape->rank);
    plan_copy(plan, plan_in(0), plan_out(block.offset), block.count);
}

struct algorithm_cost ring_reduce_scatter_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1, block = (double)(shape->count * shape->element_bytes);

    return (struct algorithm_cost){hops, hops * block, hops * block};
}

struct algorithm_cost ring_all_gather_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1, block = (double)(shape->count * shape->element_bytes);

    return (struct algorithm_cost){hops, hops * block, 0};
}

struct algorithm_cost ring_allreduce_cost(const struct plan_shape *shape)
{
    double hops = shape->ranks - 1;
    double block = (double)(shape->count * shape->element_bytes) / shape->ranks;

    return (struct algorithm_cost){2 * hops, 2 * hops * block, hops * block};
}
