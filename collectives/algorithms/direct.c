/* SPDX-License-Identifier: Apache-2.0 */
/* Every rank sends part i of its data straight to rank i, which adds all of them up and sends the
 * sum to all. As many bytes as a ring, all messages at once, and a number is rounded on the wire
 * only twice: once on its way in, once in the result ("two-shot"). hierarchical.c uses the two
 * halves among the ranks of a node. */
#include "collectives/algorithms/algorithm.h"

/* The rank `distance` places further on, or before if it is negative. */
static int peer_at(const struct direct *d, int distance)
{
    int index = (d->index + distance + d->size) % d->size;

    return d->peers ? d->peers[index] : index;
}

/* Segment k of the part of the rank `distance` places further on; empty if that has no part, or
 * fewer segments. */
static struct plan_block segment_at(const struct plan_shape *shape, const struct direct *d,
                                    int distance, unsigned k)
{
    int index = (d->index + distance + d->size) % d->size;
    struct plan_block part = {0, 0}, some;

    if (index < d->parts)
        part = plan_part(shape->count, d->parts, index);
    if (k >= plan_segments(shape, part.count))
        return (struct plan_block){0, 0};
    some = plan_segment(shape, part.count, k);
    return (struct plan_block){part.offset + some.offset, some.count};
}

/* For each k sends segment k of each other rank's part to that rank, then receives segment k of
 * this rank's part from each other, in the order of distance. */
void direct_reduce(const struct plan_shape *shape, struct plan *plan, const struct direct *d)
{
    size_t greatest = plan_part(shape->count, d->parts, 0).count;
    size_t most = plan_segment_most(shape, greatest), turn = 0;
    struct plan_address by = plan_scratch(plan, d->index < d->parts ? 4 * most : 0);

    for (unsigned k = 0; k < plan_segments(shape, greatest); k++) {
        struct plan_block mine = segment_at(shape, d, 0, k);
        struct plan_address own = plan_in(mine.offset), sum = plan_out(mine.offset);

        for (int s = 1; s < d->size; s++) {
            struct plan_block some = segment_at(shape, d, s, k);

            (d->is_inner ? plan_send_plain : plan_send)(plan, peer_at(d, s), plan_in(some.offset),
                                                        some.count);
        }
        for (int s = 1; s < d->size; s++, turn++) {
            struct plan_address at = plan_at(by, turn % 4 * most);

            (d->is_inner ? plan_receive_plain : plan_receive)(plan, peer_at(d, -s), at, mine.count);
            plan_reduce(plan, own, at, sum, mine.count);
            own = sum;
        }
        if (d->size == 1)
            plan_copy(plan, own, sum, mine.count);
    }
}

void direct_gather(const struct plan_shape *shape, struct plan *plan, const struct direct *d)
{
    unsigned segments = plan_segments(shape, plan_part(shape->count, d->parts, 0).count);

    for (unsigned k = 0; k < segments; k++)
        for (int s = 1; s < d->size; s++) {
            struct plan_block mine = segment_at(shape, d, 0, k), some = segment_at(shape, d, -s, k);

            (d->is_inner ? plan_send_plain : plan_share)(plan, peer_at(d, s), plan_out(mine.offset),
                                                         mine.count);
            (d->is_inner ? plan_receive_plain : plan_receive)(plan, peer_at(d, -s),
                                                              plan_out(some.offset), some.count);
        }
}

void direct_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    struct direct all = {.size = shape->ranks, .index = shape->rank, .parts = shape->ranks};

    if (shape->ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    direct_reduce(shape, plan, &all);
    direct_gather(shape, plan, &all);
}
