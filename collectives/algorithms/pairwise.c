/* SPDX-License-Identifier: Apache-2.0 */
/* All-to-all, one partner after another: in round s a rank sends to the rank s further on, and
 * receives from the one s before, so that each rank sends and receives once in a round. */
#include "collectives/algorithms/algorithm.h"

/* In place, a block is sent, by way of scratch, before the one that takes its place is received. */
void pairwise_all_to_all(const struct plan_shape *shape, struct plan *plan)
{
    int ranks = shape->ranks, rank = shape->rank;

    for (int s = 0; s < ranks; s++) {
        int to = (rank + s) % ranks, from = (rank - s + ranks) % ranks;
        struct plan_block out = plan_shape_send_block(shape, to);
        struct plan_block in = plan_shape_block(shape, from);

        if (s == 0) {
            plan_copy(plan, plan_in(out.offset), plan_out(in.offset), in.count);
        } else if (!shape->in_place) {
            plan_send(plan, to, plan_in(out.offset), out.count);
            plan_receive(plan, from, plan_out(in.offset), in.count);
        } else {
            /* no receive yet: the block for `from` is still there, until round ranks - s */
            struct plan_address by = plan_scratch(plan, out.count);

            plan_copy(plan, plan_in(out.offset), by, out.count);
            plan_send(plan, to, by, out.count);
        }
    }
    for (int s = 1; s < ranks && shape->in_place; s++) {
        int from = (rank - s + ranks) % ranks;
        struct plan_block in = plan_shape_block(shape, from);

        plan_receive(plan, from, plan_out(in.offset), in.count);
    }
}
