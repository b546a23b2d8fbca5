/* SPDX-License-Identifier: Apache-2.0 */
/* For ranks of one node that may read and write each other's memory: a rank reads data where it is,
 * once its owner has signalled, in one copy and without a message. A rank that would only wait
 * meanwhile does a share of the copying by writing. All ranks stay until all reads and writes are
 * done.
 *
 * An all-to-all copies the own block last, while others may still be reading. */
#include "collectives/algorithms/algorithm.h"
#include "lib/constants/collectives_constants.h"

enum { READY = 1, DONE }; /* others may access my buffers; I access no other's any more */

enum { MOST_PIECES = 256 };

bool pull_applies(const struct plan_shape *shape)
{
    return shape->wire == WIRE_AS_IS && shape->ranks > 1 && shape->topology &&
           shape->topology->can_pull && shape->topology->nodes == 1;
}

/* In place a block would be overwritten before it is read; if counts differ no rank knows where
 * others' blocks begin. */
bool pull_all_to_all_applies(const struct plan_shape *shape)
{
    return pull_applies(shape) && !shape->in_place && !shape->counts && !shape->send_counts;
}

static int peer_of(const struct plan_shape *shape, int distance)
{
    return (shape->rank + distance) % shape->ranks;
}

static void signal_ready(struct plan *plan)
{
    plan_window_of_buffers(plan);
    plan_signal(plan, READY);
}

static void await_all(const struct plan_shape *shape, struct plan *plan)
{
    for (int d = 1; d < shape->ranks; d++)
        plan_await(plan, peer_of(shape, d), DONE);
}

/* All ranks share the work of ranks - 1 copies: the root writes the first part to each rank, and
 * each rank reads the rest. */
void pull_broadcast(const struct plan_shape *shape, struct plan *plan)
{
    size_t first = plan_part(shape->count, shape->ranks, 0).count;

    signal_ready(plan);
    if (shape->rank == shape->root) {
        for (int d = 1; d < shape->ranks; d++) {
            plan_await(plan, peer_of(shape, d), READY);
            plan_push(plan, peer_of(shape, d), plan_out(0), plan_out(0), first);
        }
        plan_signal(plan, DONE);
        await_all(shape, plan);
        return;
    }
    plan_await(plan, shape->root, READY);
    plan_pull(plan, shape->root, plan_out(first), plan_out(first), shape->count - first);
    plan_signal(plan, DONE);
    plan_await(plan, shape->root, DONE);
}

/* Each rank adds up one part of all ranks' data and writes it to the root's out, segment by
 * segment, so that what was read is still in the nearest cache when it is added. */
void pull_reduce(const struct plan_shape *shape, struct plan *plan)
{
    struct plan_block part = plan_part(shape->count, shape->ranks, shape->rank);
    size_t most = plan_segment_most(shape, part.count);
    struct plan_address by = plan_scratch(plan, most), kept = plan_scratch(plan, most);
    bool is_root = shape->rank == shape->root;

    signal_ready(plan);
    for (unsigned k = 0; k < plan_segments(shape, part.count); k++) {
        struct plan_block some = plan_segment(shape, part.count, k);
        size_t at = part.offset + some.offset;
        struct plan_address own = plan_in(at), sum = is_root ? plan_out(at) : kept;

        for (int d = 1; d < shape->ranks; d++) {
            if (k == 0)
                plan_await(plan, peer_of(shape, d), READY);
            plan_pull(plan, peer_of(shape, d), plan_in(at), by, some.count);
            plan_reduce(plan, own, by, sum, some.count);
            own = sum;
        }
        if (!is_root)
            plan_push(plan, shape->root, sum, plan_out(at), some.count);
    }
    plan_signal(plan, DONE);
    await_all(shape, plan);
}

/* Copies blocks in pieces, one of each rank's block in turn. Two neighbors read the same piece at a
 * time: what one has read, of its own block or of another's, the other finds in the cache that they
 * share. No more than two, as the kernel makes readers of a page wait for each other. */
void pull_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    size_t most = plan_shape_greatest_block(shape), each = PULL_PIECE_BYTES / shape->element_bytes;

    each = most / MOST_PIECES > each ? most / MOST_PIECES : each;
    signal_ready(plan);
    for (size_t k = 0; k * each < most; k++)
        for (int turn = 0; turn < shape->ranks; turn++) {
            int from = (shape->rank / 2 * 2 + turn) % shape->ranks;
            struct plan_block some = plan_block_piece(plan_shape_block(shape, from), each, k);
            struct plan_address own = plan_in(k * each), out = plan_out(some.offset);

            if (from == shape->rank) {
                plan_copy(plan, own, out, some.count);
                continue;
            }
            if (k == 0)
                plan_await(plan, from, READY);
            plan_pull(plan, from, shape->in_place ? out : own, out, some.count);
        }
    plan_signal(plan, DONE);
    await_all(shape, plan);
}

void pull_all_to_all(const struct plan_shape *shape, struct plan *plan)
{
    size_t count = shape->count, own = (size_t)shape->rank * count;

    signal_ready(plan);
    for (int d = 1; d < shape->ranks; d++) {
        int peer = peer_of(shape, d);

        plan_await(plan, peer, READY);
        plan_pull(plan, peer, plan_in(own), plan_out((size_t)peer * count), count);
    }
    plan_signal(plan, DONE);
    plan_copy(plan, plan_in(own), plan_out(own), count);
    await_all(shape, plan);
}

static double peer_bytes(const struct plan_shape *shape)
{
    double bytes = algorithm_bytes(shape);

    return bytes * (shape->ranks - 1) / shape->ranks;
}

struct algorithm_cost pull_broadcast_cost(const struct plan_shape *shape)
{
    return (struct algorithm_cost){1, peer_bytes(shape), 0};
}

struct algorithm_cost pull_reduce_cost(const struct plan_shape *shape)
{
    return (struct algorithm_cost){1, peer_bytes(shape), peer_bytes(shape)};
}

struct algorithm_cost pull_blocks_cost(const struct plan_shape *shape)
{
    double block = algorithm_bytes(shape);

    return (struct algorithm_cost){1, (shape->ranks - 1) * block, 0};
}
