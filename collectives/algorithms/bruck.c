/* SPDX-License-Identifier: Apache-2.0 */
/* Bruck (J. Bruck et al.: Efficient algorithms for all-to-all communications in multiport
 * message-passing systems, IEEE TPDS 1997): ceil(lg p) messages instead of p - 1, for small blocks
 * of equal size. */
#include "collectives/algorithms/algorithm.h"

bool bruck_applies(const struct plan_shape *shape)
{
    /* blocks are passed on together with others, and coded again */
    return !shape->counts && !shape->send_counts && shape->wire != WIRE_INT8;
}

/* Scratch holds the blocks of this rank and the ranks after it: first one, then two, four, ... */
void bruck_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, rank = shape->rank;
    struct plan_address here = plan_scratch(plan, (size_t)ranks * shape->count);

    if (ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    plan_copy(plan, plan_in(0), here, shape->count);
    for (int have = 1; have < ranks; have *= 2) {
        int some = have < ranks - have ? have : ranks - have;

        plan_share(plan, (rank - have + ranks) % ranks, here, (size_t)some * shape->count);
        plan_receive(plan, (rank + have) % ranks, plan_at(here, (size_t)have * shape->count),
                     (size_t)some * shape->count);
    }
    for (int i = 0; i < ranks; i++) {
        struct plan_block block = plan_shape_block(shape, (rank + i) % ranks);

        plan_copy(plan, plan_at(here, (size_t)i * shape->count), plan_out(block.offset),
                  shape->count);
    }
}

/* Block i of scratch is for the rank i places further on. For each bit, all blocks whose index has
 * that bit move forward by `bit` ranks in one message. */
void bruck_all_to_all(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, rank = shape->rank;
    size_t count = shape->count, half = (size_t)(ranks + 1) / 2 * count;
    struct plan_address here = plan_scratch(plan, (size_t)ranks * count);
    struct plan_address out = plan_scratch(plan, half), in = plan_scratch(plan, half);

    for (int i = 0; i < ranks; i++)
        plan_copy(plan, plan_in((size_t)((rank + i) % ranks) * count),
                  plan_at(here, (size_t)i * count), count);
    for (int bit = 1; bit < ranks; bit *= 2) {
        size_t some = 0;

        for (int i = bit; i < ranks; i++)
            if (i & bit)
                plan_copy(plan, plan_at(here, (size_t)i * count), plan_at(out, some++ * count),
                          count);
        plan_send(plan, (rank + bit) % ranks, out, some * count);
        plan_receive(plan, (rank - bit + ranks) % ranks, in, some * count);
        some = 0;
        for (int i = bit; i < ranks; i++)
            if (i & bit)
                plan_copy(plan, plan_at(in, some++ * count), plan_at(here, (size_t)i * count),
                          count);
    }
    for (int i = 0; i < ranks; i++)
        plan_copy(plan, plan_at(here, (size_t)i * count),
                  plan_out((size_t)((rank - i + ranks) % ranks) * count), count);
}

struct algorithm_cost bruck_all_gather_cost(const struct plan_shape *shape)
{
    return (struct algorithm_cost){algorithm_rounds(shape->ranks),
                                   (shape->ranks - 1) * algorithm_bytes(shape), 0};
}

struct algorithm_cost bruck_all_to_all_cost(const struct plan_shape *shape)
{
    int blocks = 0;

    for (int i = 0; i < shape->ranks; i++)
        blocks += __builtin_popcount((unsigned)i);
    return (struct algorithm_cost){algorithm_rounds(shape->ranks), blocks * algorithm_bytes(shape),
                                   0};
}
