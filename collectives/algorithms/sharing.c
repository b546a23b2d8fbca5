/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/algorithms/sharing.h"

#include "lib/constants/collectives_constants.h"

_Static_assert(SHARED_ROOT_BYTES <= PLAN_WINDOW_BYTES / 2,
               "half of the window holds the data of all ranks");

/* The bytes that this rank gets or gives, whichever is more. Ranks may differ in it if each sets
 * its own blocks. */
static size_t bytes_of(const struct plan_shape *shape)
{
    size_t in = 0, out = 0;

    if (!collective_kind_has_blocks(shape->kind))
        return shape->count * shape->element_bytes;
    for (int r = 0; r < shape->ranks; r++) {
        in += plan_shape_send_block(shape, r).count;
        out += plan_shape_block(shape, r).count;
    }
    return (in > out ? in : out) * shape->element_bytes;
}

struct sharing sharing_open(const struct plan_shape *shape, struct plan *plan, size_t all)
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
    s.is_nontemporal = bytes_of(shape) >= SHARED_NONTEMPORAL_BYTES;
    plan_nontemporal(plan, s.is_nontemporal);
    return s;
}

static bool is_whole(const struct plan_shape *shape)
{
    return shape->count > 0 && (shape->segment == 0 || shape->segment >= shape->count);
}

/* A rank that adds up all of it reads more, at most ranks - 2 times all: for little data that takes
 * less time than a wait. */
bool sharing_is_little(const struct plan_shape *shape)
{
    return is_whole(shape) &&
           shape->count * shape->element_bytes * (size_t)shape->ranks <= SHARED_LITTLE_BYTES;
}

bool sharing_is_little_for_root(const struct plan_shape *shape)
{
    bool fits = shape->count * shape->element_bytes <= SHARED_ROOT_BYTES;

    return sharing_is_little(shape) ||
           (plan_is_oversubscribed(shape->topology) && is_whole(shape) && fits);
}

void sharing_add_rounds(const struct sharing *s)
{
    for (unsigned k = 0; k <= s->rounds; k++) {
        if (k < s->rounds) {
            for (int r = 0; r < s->shape->ranks && k >= 2 && s->awaits_ends; r++)
                if (r != s->shape->rank)
                    plan_await(s->plan, r, sharing_end_number(k - 2));
            s->put(s, k);
            plan_signal(s->plan, sharing_put_number(k));
        }
        if (k > 0) {
            s->end(s, k - 1);
            if (k + 1 < s->rounds) /* round k + 1 is put where round k - 1 was */
                plan_signal(s->plan, sharing_end_number(k - 1));
        }
    }
    if (s->rounds == 0)
        plan_signal(s->plan, sharing_put_number(0));
}

void sharing_add_one_round(const struct plan_shape *shape, struct plan *plan, sharing_round_fn *put,
                           sharing_round_fn *end)
{
    struct sharing s = {shape, plan, .put = put, .end = end, .rounds = 1};

    plan_window(plan, shape->count);
    sharing_add_rounds(&s);
}

/* A rank that wants the sum adds up the data of all others, after one wait. */
struct algorithm_cost shared_once_cost(const struct plan_shape *shape)
{
    double others = algorithm_bytes(shape) * (shape->ranks - 1);

    return (struct algorithm_cost){1, others, others};
}

bool shared_applies(const struct plan_shape *shape)
{
    return shape->wire == WIRE_AS_IS && shape->ranks > 1 && shape->topology &&
           shape->topology->has_window && shape->topology->nodes == 1 &&
           (size_t)shape->ranks * shape->element_bytes <= PLAN_WINDOW_BYTES / 2;
}
