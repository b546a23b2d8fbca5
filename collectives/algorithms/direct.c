/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank sends part i of its data straight to rank i, which adds all of them up and sends the
 * sum to all. As many bytes as a ring, all messages at once, and a number is rounded on the wire
 * only twice: once on its way in, once in the result ("two-shot"). */
#include "collectives/algorithms/algorithm.h"

/* Segment k of each other rank's part to it. */
static void send_parts(const struct plan_shape *shape, struct plan *plan, unsigned k)
{
    for (int s = 1; s < shape->ranks; s++) {
        int to = (shape->rank + s) % shape->ranks;
        struct plan_block part = plan_part(shape->count, shape->ranks, to), some;

        if (k >= plan_segments(shape, part.count))
            continue;
        some = plan_segment(shape, part.count, k);
        plan_send(plan, to, plan_in(part.offset + some.offset), some.count);
    }
}

/* Segment k of this rank's part from each other, in the order of distance. */
static void reduce_part(const struct plan_shape *shape, struct plan *plan, unsigned k,
                        struct plan_address by, size_t most)
{
    struct plan_block mine = plan_part(shape->count, shape->ranks, shape->rank), some;
    struct plan_address own, sum;

    if (k >= plan_segments(shape, mine.count))
        return;
    some = plan_segment(shape, mine.count, k);
    own = plan_in(mine.offset + some.offset);
    sum = plan_out(mine.offset + some.offset);
    for (int s = 1; s < shape->ranks; s++) {
        struct plan_address at = plan_at(by, (size_t)(s % 4) * most);

        plan_receive(plan, (shape->rank - s + shape->ranks) % shape->ranks, at, some.count);
        plan_reduce(plan, own, at, sum, some.count);
        own = sum;
    }
    plan_complete(plan, sum, some.count);
}

void direct_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, rank = shape->rank;
    struct plan_block mine = plan_part(shape->count, ranks, rank);
    size_t greatest = plan_part(shape->count, ranks, 0).count;
    unsigned segments = plan_segments(shape, greatest);
    size_t most = plan_segment_most(shape, greatest);
    struct plan_address by;

    if (ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    by = plan_scratch(plan, 4 * most);
    for (unsigned k = 0; k < segments; k++) {
        send_parts(shape, plan, k);
        reduce_part(shape, plan, k, by, most);
    }
    for (unsigned k = 0; k < segments; k++)
        for (int s = 1; s < ranks; s++) {
            int from = (rank - s + ranks) % ranks;
            struct plan_block part = plan_part(shape->count, ranks, from);

            if (k < plan_segments(shape, mine.count)) {
                struct plan_block some = plan_segment(shape, mine.count, k);

                plan_share(plan, (rank + s) % ranks, plan_out(mine.offset + some.offset),
                           some.count);
            }
            if (k < plan_segments(shape, part.count)) {
                struct plan_block some = plan_segment(shape, part.count, k);

                plan_receive(plan, from, plan_out(part.offset + some.offset), some.count);
            }
        }
}
