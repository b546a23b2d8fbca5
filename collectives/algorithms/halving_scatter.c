/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter by recursive halving (R. Thakur, R. Rabenseifner, W. Gropp: Optimization of
 * collective communication operations in MPICH, IJHPCA 2005): with partners at distances p/2, p/4,
 * ..., 1, each time half of the blocks that are left go to the partner and the sums of the others
 * are kept, in lg p exchanges where a ring has p - 1.
 *
 * Ranks beyond a power of two first send their numbers to a neighbor, which sums up their block
 * along with its own and sends it back. */
#include "collectives/algorithms/algorithm.h"

#include <math.h>

struct halving {
    const struct plan_shape *shape;
    struct plan *plan;
    int places, more; /* the first `more` places stand for two ranks each */
};

static struct halving halving_of(const struct plan_shape *shape, struct plan *plan)
{
    int places = halving_places(shape->ranks);

    return (struct halving){shape, plan, places, shape->ranks - places};
}

/* The first of the ranks that a place stands for; for the place behind the last:
 * h->shape->ranks. */
static int first_rank(const struct halving *h, int place)
{
    return place < h->more ? 2 * place : place + h->more;
}

/* The rank that works for a place. */
static int worker(const struct halving *h, int place)
{
    return place < h->more ? 2 * place + 1 : place + h->more;
}

/* The blocks of all ranks of the places first to first + count - 1, which are contiguous. */
static struct plan_block cover(const struct halving *h, int first, int count)
{
    struct plan_block begin = plan_shape_block(h->shape, first_rank(h, first));
    struct plan_block last = plan_shape_block(h->shape, first_rank(h, first + count) - 1);

    return (struct plan_block){begin.offset, last.offset + last.count - begin.offset};
}

/* A worker's steps. Sums are at the same offsets in scratch as numbers are in `in`. */
static void work(const struct halving *h, int place)
{
    const struct plan_shape *shape = h->shape;
    struct plan_block whole = cover(h, 0, h->places), own = plan_shape_block(shape, shape->rank);
    struct plan_address sums = plan_scratch(h->plan, whole.count);
    struct plan_address by = plan_scratch(h->plan, whole.count), from = plan_in(0);
    bool is_double = place < h->more;
    /* in place, the last exchange still sends numbers from the place of the result */
    bool is_apart = is_double || shape->in_place;
    int first = 0;

    if (is_double) {
        struct plan_block nothing = {0, 0};

        exchange_and_reduce(shape, h->plan, shape->rank - 1, from, nothing, whole, by, sums);
        from = sums;
    }
    for (int count = h->places / 2; count > 0; count /= 2) {
        int kept = first + (place & count), away = first + (~place & count);
        struct plan_block block = cover(h, kept, count);

        exchange_and_reduce(shape, h->plan, worker(h, place ^ count), from, cover(h, away, count),
                            block, by,
                            count > 1 || is_apart ? plan_at(sums, block.offset) : plan_out(0));
        from = sums;
        first = kept;
    }
    if (!is_apart)
        return;
    plan_copy(h->plan, plan_at(sums, own.offset), plan_out(0), own.count);
    if (is_double) {
        struct plan_block theirs = plan_shape_block(shape, shape->rank - 1);

        plan_send_segments(h->plan, shape, shape->rank - 1, plan_at(sums, theirs.offset),
                           theirs.count);
    }
}

void halving_reduce_scatter(const struct plan_shape *shape, struct plan *plan)
{
    struct halving h = halving_of(shape, plan);
    struct plan_block own = plan_shape_block(shape, shape->rank);

    if (shape->ranks == 1) {
        plan_copy(plan, plan_in(own.offset), plan_out(0), own.count);
    } else if (shape->rank < 2 * h.more && shape->rank % 2 == 0) {
        plan_send_segments(plan, shape, shape->rank + 1, plan_in(0), cover(&h, 0, h.places).count);
        plan_receive_segments(plan, shape, shape->rank + 1, plan_out(0), own.count);
    } else {
        work(&h, shape->rank < 2 * h.more ? shape->rank / 2 : shape->rank - h.more);
    }
}

/* Blocks with gaps between them cannot travel in one message. */
bool halving_scatter_applies(const struct plan_shape *shape)
{
    return !shape->offsets;
}

struct algorithm_cost halving_reduce_scatter_cost(const struct plan_shape *shape)
{
    struct halving h = halving_of(shape, NULL);
    double block = algorithm_bytes(shape), all = block * shape->ranks;
    struct algorithm_cost cost = {algorithm_rounds(h.places) + (h.more > 0 ? 2 : 0),
                                  h.more > 0 ? all : 0, 0};

    for (int place = 0; place < h.places; place++) {
        bool is_double = place < h.more;
        double sent = is_double ? block : 0, received = is_double ? all : 0;
        int first = 0;

        for (int count = h.places / 2; count > 0; count /= 2) {
            int kept = first + (place & count), away = first + (~place & count);

            sent += block * (first_rank(&h, away + count) - first_rank(&h, away));
            received += block * (first_rank(&h, kept + count) - first_rank(&h, kept));
            first = kept;
        }
        cost.bytes = fmax(cost.bytes, fmax(sent, received));
        cost.reduced = fmax(cost.reduced, received); /* all that is received is added */
    }
    return cost;
}
