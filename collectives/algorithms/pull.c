/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of one node that may read each other's memory: who wants something takes it from where it
 * stands, once it is told that it is there, in one copy and without a message. All stay until all
 * have been read.
 *
 * What a rank moves within its own memory it moves last, while others may still be reading. */
#include "collectives/algorithms/algorithm.h"

enum { HERE = 1, DONE }; /* what is told: the buffers are here; nobody else's is read any more */

bool pull_applies(const struct plan_shape *shape)
{
    return shape->wire == WIRE_AS_IS && shape->ranks > 1 && shape->topology &&
           shape->topology->can_pull && shape->topology->nodes == 1;
}

/* In place a block would be overwritten before it is read; where counts differ nobody knows where
 * others' blocks begin. */
bool pull_all_to_all_applies(const struct plan_shape *shape)
{
    return pull_applies(shape) && !shape->in_place && !shape->counts && !shape->send_counts;
}

static int peer_of(const struct plan_shape *shape, int distance)
{
    return (shape->rank + distance) % shape->ranks;
}

static void begin(struct plan *plan)
{
    plan_window(plan, 1);
    plan_signal(plan, HERE);
}

static void await_all(const struct plan_shape *shape, struct plan *plan)
{
    for (int d = 1; d < shape->ranks; d++)
        plan_await(plan, peer_of(shape, d), DONE);
}

void pull_broadcast(const struct plan_shape *shape, struct plan *plan)
{
    begin(plan);
    if (shape->rank == shape->root) {
        await_all(shape, plan);
        return;
    }
    plan_await(plan, shape->root, HERE);
    plan_pull(plan, shape->root, plan_out(0), plan_out(0), shape->count);
    plan_signal(plan, DONE);
}

void pull_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    struct plan_block own = plan_shape_block(shape, shape->rank);

    begin(plan);
    for (int d = 1; d < shape->ranks; d++) {
        int peer = peer_of(shape, d);
        struct plan_block block = plan_shape_block(shape, peer);

        plan_await(plan, peer, HERE);
        plan_pull(plan, peer, shape->in_place ? plan_out(block.offset) : plan_in(0),
                  plan_out(block.offset), block.count);
    }
    plan_signal(plan, DONE);
    plan_copy(plan, plan_in(0), plan_out(own.offset), own.count);
    await_all(shape, plan);
}

void pull_all_to_all(const struct plan_shape *shape, struct plan *plan)
{
    size_t count = shape->count, own = (size_t)shape->rank * count;

    begin(plan);
    for (int d = 1; d < shape->ranks; d++) {
        int peer = peer_of(shape, d);

        plan_await(plan, peer, HERE);
        plan_pull(plan, peer, plan_in(own), plan_out((size_t)peer * count), count);
    }
    plan_signal(plan, DONE);
    plan_copy(plan, plan_in(own), plan_out(own), count);
    await_all(shape, plan);
}

struct algorithm_cost pull_broadcast_cost(const struct plan_shape *shape)
{
    return (struct algorithm_cost){1, (double)(shape->count * shape->element_bytes), 0};
}

struct algorithm_cost pull_blocks_cost(const struct plan_shape *shape)
{
    double block = (double)(shape->count * shape->element_bytes);

    return (struct algorithm_cost){1, (shape->ranks - 1) * block, 0};
}
