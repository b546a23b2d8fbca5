/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive doubling (R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective
 * communication operations in MPICH, IJHPCA 2005): exchanges all data with a partner at distance 1,
 * 2, 4, ... Few messages, many bytes. Ranks beyond a power of two first send their data to a
 * neighbor, and get the result at the end. */
#include "collectives/algorithms/algorithm.h"

/* Both partners join the lower rank's data with the higher rank's, in this order: same bits. */
static void join(struct plan *plan, bool mine_first, struct plan_address mine,
                 struct plan_address theirs, size_t count)
{
    plan_reduce(plan, mine_first ? mine : theirs, mine_first ? theirs : mine, plan_out(0), count);
}

void recursive_doubling_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    int power = halving_places(shape->ranks), more = shape->ranks - power, rank = shape->rank,
        place;
    struct plan_address mine = plan_in(0), theirs[2];

    if (shape->ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    if (rank < 2 * more && rank % 2 == 0) {
        plan_send(plan, rank + 1, mine, shape->count);
        plan_receive_plain(plan, rank + 1, plan_out(0), shape->count);
        return;
    }
    theirs[0] = plan_scratch(plan, shape->count);
    theirs[1] = plan_scratch(plan, shape->count);
    if (rank < 2 * more) {
        plan_receive(plan, rank - 1, theirs[1], shape->count);
        join(plan, false, mine, theirs[1], shape->count);
        mine = plan_out(0);
    }
    if (plan_rounds(shape)) {
        plan_copy(plan, mine, plan_out(0), shape->count);
        mine = plan_out(0);
    }
    place = rank < 2 * more ? rank / 2 : rank - more;
    for (int distance = 1, turn = 0; distance < power; distance *= 2, turn ^= 1) {
        int partner = place ^ distance;

        partner = partner < more ? 2 * partner + 1 : partner + more;
        plan_share(plan, partner, mine, shape->count);
        plan_receive(plan, partner, theirs[turn], shape->count);
        join(plan, rank < partner, mine, theirs[turn], shape->count);
        mine = plan_out(0);
    }
    if (rank < 2 * more)
        plan_send_plain(plan, rank - 1, plan_out(0), shape->count);
}

struct algorithm_cost recursive_doubling_allreduce_cost(const struct plan_shape *shape)
{
    int power = halving_places(shape->ranks), rounds = algorithm_rounds(power);
    double bytes = algorithm_bytes(shape);
    bool is_uneven = power != shape->ranks;

    return (struct algorithm_cost){rounds + 2 * is_uneven, (rounds + is_uneven) * bytes,
                                   (rounds + is_uneven) * bytes};
}
