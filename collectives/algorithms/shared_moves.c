/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algorithms/sharing.h"
#include "lib/constants/collectives_constants.h"

/* ----------------------------------------------------------------------------------- broadcast */

static void put_from_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = sharing_piece(s, k);

    if (s->shape->rank == s->shape->root)
        plan_copy(s->plan, plan_out(some.offset), sharing_window(s, s->shape->root, k, 0),
                  some.count);
}

static void take_from_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = sharing_piece(s, k);

    if (s->shape->rank == s->shape->root)
        return;
    plan_await(s->plan, s->shape->root, sharing_put_number(k));
    plan_copy(s->plan, sharing_window(s, s->shape->root, k, 0), plan_out(some.offset), some.count);
}

void shared_broadcast(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s = sharing_open(shape, plan, shape->count);

    s.put = put_from_root;
    s.end = take_from_root;
    s.rounds = sharing_pieces(shape->count, s.half);
    s.awaits_ends = shape->rank == shape->root;
    sharing_add_rounds(&s);
}

struct algorithm_cost shared_broadcast_cost(const struct plan_shape *shape)
{
    return (struct algorithm_cost){1, algorithm_bytes(shape), 0};
}

/* ---------------------------------------------------------------------------------- all-gather */

static void put_own(const struct sharing *s, unsigned k)
{
    struct plan_block own = {0, plan_shape_block(s->shape, s->shape->rank).count};

    own = plan_block_piece(own, s->half, k);
    plan_copy(s->plan, plan_in(own.offset), sharing_window(s, s->shape->rank, k, 0), own.count);
}

/* Copies the own piece first: it has just been read, and others may still be late. */
static void take_all(const struct sharing *s, unsigned k)
{
    struct plan_block own =
        plan_block_piece(plan_shape_block(s->shape, s->shape->rank), s->half, k);

    plan_copy(s->plan, plan_in(k * s->half), plan_out(own.offset), own.count);
    for (int d = 1; d < s->shape->ranks; d++) {
        int from = sharing_next(s, d);
        struct plan_block some = plan_block_piece(plan_shape_block(s->shape, from), s->half, k);

        plan_await(s->plan, from, sharing_put_number(k));
        plan_copy(s->plan, sharing_window(s, from, k, 0), plan_out(some.offset), some.count);
    }
}

void shared_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s = sharing_open(shape, plan, plan_shape_greatest_block(shape));

    s.put = put_own;
    s.end = take_all;
    s.rounds = sharing_pieces(plan_shape_greatest_block(shape), s.half);
    sharing_add_rounds(&s);
}

/* ---------------------------------------------------------------------------------- all-to-all */

/* Whether a block is sent as a message: a large one of ranks that set their own blocks and wait for
 * processors. Both ends know the block. Not in place (no send_counts): the block would have to be
 * moved out of the way first. */
static bool goes_by_message(const struct plan_shape *shape, struct plan_block block)
{
    size_t pairs = (size_t)shape->ranks * (size_t)shape->ranks;

    return plan_is_oversubscribed(shape->topology) && shape->send_counts &&
           block.count * shape->element_bytes * pairs >= SHARED_MESSAGE_BYTES;
}

/* The rank's block in `in`, and in out, if it goes through the window; empty if it is a message. */
static struct plan_block block_to(const struct plan_shape *shape, int rank)
{
    struct plan_block block = plan_shape_send_block(shape, rank);

    return goes_by_message(shape, block) ? (struct plan_block){0, 0} : block;
}

static struct plan_block block_from(const struct plan_shape *shape, int rank)
{
    struct plan_block block = plan_shape_block(shape, rank);

    return goes_by_message(shape, block) ? (struct plan_block){0, 0} : block;
}

void sharing_put_for_each(const struct sharing *s, unsigned k)
{
    for (int d = 1; d < s->shape->ranks; d++) {
        int to = sharing_next(s, d);
        struct plan_block some = plan_block_piece(block_to(s->shape, to), s->each, k);

        plan_copy(s->plan, plan_in(some.offset),
                  sharing_window(s, s->shape->rank, k, (size_t)to * s->each), some.count);
    }
}

static void exchange_messages(const struct plan_shape *shape, struct plan *plan)
{
    for (int d = 1; d < shape->ranks; d++) {
        int to = (shape->rank + d) % shape->ranks;
        int from = (shape->rank - d + shape->ranks) % shape->ranks;
        struct plan_block out = plan_shape_send_block(shape, to);
        struct plan_block in = plan_shape_block(shape, from);

        if (goes_by_message(shape, out))
            plan_send(plan, to, plan_in(out.offset), out.count);
        if (goes_by_message(shape, in))
            plan_receive(plan, from, plan_out(in.offset), in.count);
    }
}

static void copy_own(const struct sharing *s)
{
    struct plan_block out = plan_shape_send_block(s->shape, s->shape->rank);
    struct plan_block in = plan_shape_block(s->shape, s->shape->rank);

    plan_copy(s->plan, plan_in(out.offset), plan_out(in.offset), in.count);
}

static void take_each(const struct sharing *s, unsigned k)
{
    if (k == 0) /* others may still be late */
        copy_own(s);
    for (int d = 1; d < s->shape->ranks; d++) {
        int from = sharing_next(s, d);
        struct plan_block some = plan_block_piece(block_from(s->shape, from), s->each, k);

        if (some.count == 0)
            continue;
        plan_await(s->plan, from, sharing_put_number(k));
        plan_copy(s->plan, sharing_window(s, from, k, (size_t)s->shape->rank * s->each),
                  plan_out(some.offset), some.count);
    }
}

/* The greatest block that goes through the window, if all ranks know it, else 0: if each rank sets
 * its own blocks, two ranks know all blocks between them, and more ranks do not. */
static size_t greatest_known(const struct plan_shape *shape)
{
    int other = 1 - shape->rank;
    size_t out, in;

    if (!shape->counts && !shape->send_counts)
        return shape->count;
    if (shape->ranks > 2)
        return 0;
    out = block_to(shape, other).count;
    in = block_from(shape, other).count;
    return out > in ? out : in;
}

/* If ranks do not know all blocks, each has as many rounds as its own blocks need: at its end it
 * has put and read all. */
void shared_all_to_all(const struct plan_shape *shape, struct plan *plan)
{
    size_t greatest = greatest_known(shape);
    struct sharing s = sharing_open(shape, plan, (size_t)shape->ranks * greatest);

    s.put = sharing_put_for_each;
    s.end = take_each;
    for (int r = 0; r < shape->ranks; r++) {
        unsigned sends = sharing_pieces(block_to(shape, r).count, s.each);
        unsigned receives = sharing_pieces(block_from(shape, r).count, s.each);

        if (r == shape->rank)
            continue;
        s.rounds = sends > s.rounds ? sends : s.rounds;
        s.rounds = receives > s.rounds ? receives : s.rounds;
    }
    exchange_messages(shape, plan);
    if (s.rounds == 0)
        copy_own(&s);
    sharing_add_rounds(&s);
    if (greatest == 0)
        plan_signal(plan, PLAN_SIGNAL_LAST);
}
