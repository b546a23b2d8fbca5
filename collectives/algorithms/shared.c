/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of one node through a window of memory that all of them see: a rank puts a piece of its
 * data into its own part of the window and tells the others; these add it up, or take it, from
 * there. So a byte is copied once into the window and once out of it, by no more than the caches
 * where pieces are small, and sums are made from the others' parts without a copy of their own.
 *
 * The data go by in rounds, in two halves of the window in turn: a rank puts the next piece before
 * it waits for the last, so that none waits for another that is a little behind. What fits into
 * one round takes no more of the window than it needs: there are many small windows, so that a rank
 * may be many calls ahead of another.
 *
 * Little data are added up by all who want the sum, from what each rank has put, which is one wait
 * instead of two; more by each a share of it. */
#include "collectives/algorithms/algorithm.h"

struct sharing;
typedef void round_fn(const struct sharing *s, unsigned k);

/* Of all ranks together. Measured with 2, 3 and 4 ranks on two processors: up to here to add up
 * all takes less time, or as much, from twice as much on more. */
enum { LITTLE_BYTES = 32768 };

struct sharing {
    const struct plan_shape *shape;
    struct plan *plan;
    size_t half; /* elements of half a window */
    size_t each; /* ... of a rank's share in it, where every rank has one of its own */
    unsigned rounds;
    round_fn *put, *end; /* of round k */
    bool awaits_ends;    /* what it has put is read by others until the round's end */
};

/* What a rank tells in round k, ascending in the order in which it does so: put(0), put(1),
 * reduced(0), end(0), put(2), reduced(1), end(1), ... */
static unsigned put_number(unsigned k)
{
    return k == 0 ? 1 : 3 * k - 1;
}

static unsigned reduced_number(unsigned k)
{
    return 3 * k + 3;
}

static unsigned end_number(unsigned k)
{
    return 3 * k + 4;
}

/* In the half of round k of a rank's part. */
static struct plan_place window_at(const struct sharing *s, int rank, unsigned k, size_t offset)
{
    return (struct plan_place){PLAN_WINDOW,
                               (size_t)rank * s->plan->window + k % 2 * s->half + offset};
}

static unsigned pieces(size_t count, size_t each)
{
    return (unsigned)((count + each - 1) / each);
}

/* all: elements of a part that would hold everything in one round; 0: not known at all ranks. */
static struct sharing open_sharing(const struct plan_shape *shape, struct plan *plan, size_t all)
{
    struct sharing s = {.shape = shape, .plan = plan, .awaits_ends = true};
    size_t most = PLAN_WINDOW_BYTES / 2 / shape->element_bytes, ranks = (size_t)shape->ranks;
    bool is_one_round;

    s.half = shape->segment > 0 && shape->segment < most ? shape->segment : most;
    is_one_round = all > 0 && all <= s.half;
    if (is_one_round)
        s.half = all;
    if (s.half < ranks)
        s.half = ranks;
    s.each = s.half / ranks;
    plan_window(plan, is_one_round ? s.half : 2 * s.half);
    return s;
}

/* Whether who wants the sum adds up all of it. What more a rank reads then, at most ranks - 2 times
 * all, is to take less time than a wait. */
static bool is_little(const struct plan_shape *shape)
{
    bool is_whole = shape->segment == 0 || shape->segment >= shape->count;

    return shape->count > 0 && is_whole &&
           shape->count * shape->element_bytes * (size_t)shape->ranks <= LITTLE_BYTES;
}

static void go_round(const struct sharing *s)
{
    for (unsigned k = 0; k <= s->rounds; k++) {
        if (k < s->rounds) {
            for (int r = 0; r < s->shape->ranks && k >= 2 && s->awaits_ends; r++)
                if (r != s->shape->rank)
                    plan_await(s->plan, r, end_number(k - 2));
            s->put(s, k);
            plan_signal(s->plan, put_number(k));
        }
        if (k > 0) {
            s->end(s, k - 1);
            if (k + 1 < s->rounds) /* round k + 1 is put where this one was */
                plan_signal(s->plan, end_number(k - 1));
        }
    }
    if (s->rounds == 0)
        plan_signal(s->plan, put_number(0));
}

/* Little data, in one round: put is of all that the rank has. */
static void go_little(const struct plan_shape *shape, struct plan *plan, round_fn *put,
                      round_fn *end)
{
    struct sharing s = {shape, plan, .put = put, .end = end, .rounds = 1};

    plan_window(plan, shape->count);
    go_round(&s);
}

static struct algorithm_cost little_cost(const struct plan_shape *shape)
{
    double others = (double)(shape->count * shape->element_bytes) * (shape->ranks - 1);

    return (struct algorithm_cost){1, others, others};
}

static int next_of(const struct sharing *s, int distance)
{
    return (s->shape->rank + distance) % s->shape->ranks;
}

bool shared_applies(const struct plan_shape *shape)
{
    return shape->wire == WIRE_AS_IS && shape->ranks > 1 && shape->topology &&
           shape->topology->has_window && shape->topology->nodes == 1 &&
           (size_t)shape->ranks * shape->element_bytes <= PLAN_WINDOW_BYTES / 2;
}

/* ------------------------------------------------------------------------------------ allreduce */

/* Everybody has a share of the k-th piece, to be added up by it. */
static struct plan_block share_of(const struct sharing *s, unsigned k, int rank)
{
    struct plan_block some = plan_block_piece((struct plan_block){0, s->shape->count},
                                              s->each * (size_t)s->shape->ranks, k);
    struct plan_block share = plan_part(some.count, s->shape->ranks, rank);

    share.offset += some.offset;
    return share;
}

/* All but what this rank adds up itself: a share has its own place in the window, where the sum
 * will be in its owner's, whatever the size of the piece; others may still be reading the last. */
static void put_for_others(const struct sharing *s, unsigned k)
{
    for (int d = 1; d < s->shape->ranks; d++) {
        int owner = next_of(s, d);
        struct plan_block share = share_of(s, k, owner);

        plan_copy(s->plan, plan_in(share.offset),
                  window_at(s, s->shape->rank, k, (size_t)owner * s->each), share.count);
    }
}

static void reduce_and_take(const struct sharing *s, unsigned k)
{
    struct plan_block share = share_of(s, k, s->shape->rank);
    size_t at = (size_t)s->shape->rank * s->each;
    struct plan_place sum = window_at(s, s->shape->rank, k, at), own = plan_in(share.offset);

    /* of all before the first: they have then taken the sum that stood here two rounds before */
    for (int d = 1; d < s->shape->ranks; d++)
        plan_await(s->plan, next_of(s, d), put_number(k));
    for (int d = 1; d < s->shape->ranks; d++) {
        plan_reduce(s->plan, own, window_at(s, next_of(s, d), k, at), sum, share.count);
        own = sum;
    }
    plan_complete(s->plan, sum, share.count);
    plan_signal(s->plan, reduced_number(k));
    for (int d = 0; d < s->shape->ranks; d++) {
        int owner = next_of(s, d);

        share = share_of(s, k, owner);
        if (d > 0)
            plan_await(s->plan, owner, reduced_number(k));
        plan_copy(s->plan, window_at(s, owner, k, (size_t)owner * s->each), plan_out(share.offset),
                  share.count);
    }
}

static void put_all(const struct sharing *s, unsigned k)
{
    (void)k;
    plan_copy(s->plan, plan_in(0), window_at(s, s->shape->rank, 0, 0), s->shape->count);
}

/* In the order of ranks, so that all have the same bits; the own numbers from the window too, as
 * the first sum may stand where they were. */
static void add_up_all(const struct sharing *s, unsigned k)
{
    struct plan_place sum = window_at(s, 0, 0, 0);

    for (int r = 0; r < s->shape->ranks; r++)
        if (r != s->shape->rank)
            plan_await(s->plan, r, put_number(k));
    for (int r = 1; r < s->shape->ranks; r++) {
        plan_reduce(s->plan, sum, window_at(s, r, 0, 0), plan_out(0), s->shape->count);
        sum = plan_out(0);
    }
    plan_complete(s->plan, sum, s->shape->count);
}

void shared_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    size_t ranks = (size_t)shape->ranks;
    struct sharing s;

    if (is_little(shape)) {
        go_little(shape, plan, put_all, add_up_all);
        return;
    }
    s = open_sharing(shape, plan, (shape->count + ranks - 1) / ranks * ranks);
    s.put = put_for_others;
    s.end = reduce_and_take;
    s.rounds = pieces(shape->count, s.each * (size_t)shape->ranks);
    s.awaits_ends =
        false; /* it has taken the others' sums by then, which they made of what it put */
    go_round(&s);
}

struct algorithm_cost shared_allreduce_cost(const struct plan_shape *shape)
{
    double bytes = (double)(shape->count * shape->element_bytes);
    double others = bytes * (shape->ranks - 1) / shape->ranks;

    if (is_little(shape))
        return little_cost(shape);
    return (struct algorithm_cost){2, 2 * others, others};
}

/* --------------------------------------------------------------------------------------- reduce */

/* The share of a rank in a piece that all but the root add up among themselves. */
static struct plan_block part_of(const struct sharing *s, struct plan_block some, int rank)
{
    int index = (rank - s->shape->root - 1 + s->shape->ranks) % s->shape->ranks;

    return plan_part(some.count, s->shape->ranks - 1, index);
}

static void put_towards_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = plan_block_piece((struct plan_block){0, s->shape->count}, s->half, k);

    for (int d = 1; d < s->shape->ranks && s->shape->rank != s->shape->root; d++) {
        struct plan_block part = part_of(s, some, next_of(s, d));

        if (next_of(s, d) != s->shape->root)
            plan_copy(s->plan, plan_in(some.offset + part.offset),
                      window_at(s, s->shape->rank, k, part.offset), part.count);
    }
}

static void reduce_for_root(const struct sharing *s, unsigned k, struct plan_block some)
{
    struct plan_block part = part_of(s, some, s->shape->rank);
    struct plan_place sum = window_at(s, s->shape->rank, k, part.offset);
    struct plan_place own = plan_in(some.offset + part.offset);

    if (s->shape->ranks == 2)
        plan_copy(s->plan, own, sum, part.count);
    for (int d = 1; d < s->shape->ranks; d++) {
        if (next_of(s, d) == s->shape->root)
            continue;
        plan_await(s->plan, next_of(s, d), put_number(k));
        plan_reduce(s->plan, own, window_at(s, next_of(s, d), k, part.offset), sum, part.count);
        own = sum;
    }
    plan_signal(s->plan, reduced_number(k));
}

static void reduce_towards_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = plan_block_piece((struct plan_block){0, s->shape->count}, s->half, k);

    if (s->shape->rank != s->shape->root) {
        reduce_for_root(s, k, some);
        return;
    }
    for (int d = 1; d < s->shape->ranks; d++) {
        struct plan_block part = part_of(s, some, next_of(s, d));
        size_t at = some.offset + part.offset;

        plan_await(s->plan, next_of(s, d), reduced_number(k));
        plan_reduce(s->plan, plan_in(at), window_at(s, next_of(s, d), k, part.offset), plan_out(at),
                    part.count);
        plan_complete(s->plan, plan_out(at), part.count);
    }
}

static void put_all_for_root(const struct sharing *s, unsigned k)
{
    if (s->shape->rank != s->shape->root)
        put_all(s, k);
}

static void add_up_at_root(const struct sharing *s, unsigned k)
{
    struct plan_place sum = plan_in(0);

    if (s->shape->rank != s->shape->root)
        return;
    for (int d = 1; d < s->shape->ranks; d++) {
        plan_await(s->plan, next_of(s, d), put_number(k));
        plan_reduce(s->plan, sum, window_at(s, next_of(s, d), 0, 0), plan_out(0), s->shape->count);
        sum = plan_out(0);
    }
    plan_complete(s->plan, sum, s->shape->count);
}

void shared_reduce(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s;

    if (is_little(shape)) {
        go_little(shape, plan, put_all_for_root, add_up_at_root);
        return;
    }
    s = open_sharing(shape, plan, shape->count);
    s.put = put_towards_root;
    s.end = reduce_towards_root;
    s.rounds = pieces(shape->count, s.half);
    s.awaits_ends = shape->rank != shape->root;
    go_round(&s);
}

struct algorithm_cost shared_reduce_cost(const struct plan_shape *shape)
{
    double bytes = (double)(shape->count * shape->element_bytes);

    if (is_little(shape))
        return little_cost(shape);
    return (struct algorithm_cost){2, bytes, bytes};
}

/* ------------------------------------------------------------------------------------ broadcast */

static void put_from_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = plan_block_piece((struct plan_block){0, s->shape->count}, s->half, k);

    if (s->shape->rank == s->shape->root)
        plan_copy(s->plan, plan_out(some.offset), window_at(s, s->shape->root, k, 0), some.count);
}

static void take_from_root(const struct sharing *s, unsigned k)
{
    struct plan_block some = plan_block_piece((struct plan_block){0, s->shape->count}, s->half, k);

    if (s->shape->rank == s->shape->root)
        return;
    plan_await(s->plan, s->shape->root, put_number(k));
    plan_copy(s->plan, window_at(s, s->shape->root, k, 0), plan_out(some.offset), some.count);
}

void shared_broadcast(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s = open_sharing(shape, plan, shape->count);

    s.put = put_from_root;
    s.end = take_from_root;
    s.rounds = pieces(shape->count, s.half);
    s.awaits_ends = shape->rank == shape->root;
    go_round(&s);
}

struct algorithm_cost shared_broadcast_cost(const struct plan_shape *shape)
{
    return (struct algorithm_cost){1, (double)(shape->count * shape->element_bytes), 0};
}

/* ----------------------------------------------------------------------------------- all-gather */

static void put_own(const struct sharing *s, unsigned k)
{
    struct plan_block own = {0, plan_shape_block(s->shape, s->shape->rank).count};

    own = plan_block_piece(own, s->half, k);
    plan_copy(s->plan, plan_in(own.offset), window_at(s, s->shape->rank, k, 0), own.count);
}

/* The own piece first: it has just been read, and others may still be late. */
static void take_all(const struct sharing *s, unsigned k)
{
    struct plan_block own =
        plan_block_piece(plan_shape_block(s->shape, s->shape->rank), s->half, k);

    plan_copy(s->plan, plan_in(k * s->half), plan_out(own.offset), own.count);
    for (int d = 1; d < s->shape->ranks; d++) {
        int from = next_of(s, d);
        struct plan_block some = plan_block_piece(plan_shape_block(s->shape, from), s->half, k);

        plan_await(s->plan, from, put_number(k));
        plan_copy(s->plan, window_at(s, from, k, 0), plan_out(some.offset), some.count);
    }
}

void shared_all_gather(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s = open_sharing(shape, plan, plan_shape_greatest_block(shape));

    s.put = put_own;
    s.end = take_all;
    s.rounds = pieces(plan_shape_greatest_block(shape), s.half);
    go_round(&s);
}

struct algorithm_cost shared_all_gather_cost(const struct plan_shape *shape)
{
    double block = (double)(shape->count * shape->element_bytes);

    return (struct algorithm_cost){1, (shape->ranks - 1) * block, 0};
}

/* ------------------------------------------------------------------- reduce-scatter, all-to-all */

/* A piece of each other rank's block, in the share that is for that rank. */
static void put_for_each(const struct sharing *s, unsigned k)
{
    for (int d = 1; d < s->shape->ranks; d++) {
        int to = next_of(s, d);
        struct plan_block block = s->shape->kind == COLLECTIVE_ALL_TO_ALL
                                      ? plan_shape_send_block(s->shape, to)
                                      : plan_shape_block(s->shape, to);
        struct plan_block some = plan_block_piece(block, s->each, k);

        plan_copy(s->plan, plan_in(some.offset),
                  window_at(s, s->shape->rank, k, (size_t)to * s->each), some.count);
    }
}

/* The result of a reduce-scatter in place stands where other blocks are until they are put: it
 * waits in scratch, which begins at 0. */
static void reduce_own(const struct sharing *s, unsigned k)
{
    struct plan_block block = plan_shape_block(s->shape, s->shape->rank);
    struct plan_block some = plan_block_piece(block, s->each, k);
    struct plan_place sum = {s->shape->in_place ? PLAN_SCRATCH : PLAN_OUT,
                             some.offset - block.offset};
    struct plan_place own = plan_in(some.offset);

    for (int d = 1; d < s->shape->ranks; d++) {
        plan_await(s->plan, next_of(s, d), put_number(k));
        plan_reduce(s->plan, own, window_at(s, next_of(s, d), k, (size_t)s->shape->rank * s->each),
                    sum, some.count);
        own = sum;
    }
    plan_complete(s->plan, sum, some.count);
}

void shared_reduce_scatter(const struct plan_shape *shape, struct plan *plan)
{
    struct sharing s =
        open_sharing(shape, plan, (size_t)shape->ranks * plan_shape_greatest_block(shape));
    size_t count = plan_shape_block(shape, shape->rank).count;

    s.put = put_for_each;
    s.end = reduce_own;
    s.rounds = pieces(plan_shape_greatest_block(shape), s.each);
    if (shape->in_place)
        plan_scratch(plan, count);
    go_round(&s);
    if (shape->in_place)
        plan_copy(plan, (struct plan_place){PLAN_SCRATCH, 0}, plan_out(0), count);
}

struct algorithm_cost shared_reduce_scatter_cost(const struct plan_shape *shape)
{
    double block = (double)(shape->count * shape->element_bytes), others = shape->ranks - 1;

    return (struct algorithm_cost){1, others * block, others * block};
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
        int from = next_of(s, d);
        struct plan_block some = plan_block_piece(plan_shape_block(s->shape, from), s->each, k);

        if (some.count == 0)
            continue;
        plan_await(s->plan, from, put_number(k));
        plan_copy(s->plan, window_at(s, from, k, (size_t)s->shape->rank * s->each),
                  plan_out(some.offset), some.count);
    }
}

/* Blocks may be as each rank likes, and so rounds: a rank that has ended has put and read all. */
void shared_all_to_all(const struct plan_shape *shape, struct plan *plan)
{
    bool is_known = !shape->counts && !shape->send_counts;
    struct sharing s =
        open_sharing(shape, plan, is_known ? (size_t)shape->ranks * shape->count : 0);

    s.put = put_for_each;
    s.end = take_each;
    for (int r = 0; r < shape->ranks; r++) {
        unsigned sends = pieces(plan_shape_send_block(shape, r).count, s.each);
        unsigned receives = pieces(plan_shape_block(shape, r).count, s.each);

        if (r == shape->rank)
            continue;
        s.rounds = sends > s.rounds ? sends : s.rounds;
        s.rounds = receives > s.rounds ? receives : s.rounds;
    }
    if (s.rounds == 0)
        copy_own(&s);
    go_round(&s);
}

struct algorithm_cost shared_all_to_all_cost(const struct plan_shape *shape)
{
    double block = (double)(shape->count * shape->element_bytes);

    return (struct algorithm_cost){1, (shape->ranks - 1) * block, 0};
}
