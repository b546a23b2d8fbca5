/* SPDX-License-Identifier: Apache-2.0 */
/* Reduce-scatter by halving, all-gather by doubling, in lg p exchanges each: with the partners of
 * Rabenseifner (R. Rabenseifner: Optimization of collective reduction operations, ICCS 2004), at
 * distances p/2, p/4, ..., or with those of Swing (D. De Sensi et al.: Swing: short-cutting rings
 * for higher bandwidth allreduce, NSDI 2024), at distances 1, 1, 3, 5, 11, ... to both sides, so
 * that on a torus the large messages go to neighbors.
 *
 * Ranks beyond a power of two first send their data to a neighbor, and get the result at the end.
 */
#include "collectives/algorithms/algorithm.h"

#include <stdlib.h>

typedef int partner_function(int place, int step, int places);

static int partner_of_rabenseifner(int place, int step, int places)
{
    return place ^ places >> (step + 1);
}

/* Even places to the right, odd ones to the left, by (1 - (-2)^(step + 1)) / 3. */
static int partner_of_swing(int place, int step, int places)
{
    int distance = 1;

    for (int s = 0; s < step; s++)
        distance = 1 - 2 * distance;
    return ((place % 2 ? place - distance : place + distance) % places + places) % places;
}

int halving_places(int ranks)
{
    int power = 1;

    while (2 * power <= ranks)
        power *= 2;
    return power;
}

/* Sets `bit` in the labels of the place and of all places that it reaches from `step` on. */
static void mark(partner_function *partner, int *labels, int place, int step, int places, int bit)
{
    if (1 << step == places) {
        labels[place] |= bit;
        return;
    }
    mark(partner, labels, place, step + 1, places, bit);
    mark(partner, labels, partner(place, step, places), step + 1, places, bit);
}

/* Sets labels: the index of each place's part of the data. After a step a place keeps the parts of
 * the places that it can still reach, which must be contiguous. So the highest bit of a label is
 * that of the place's group in the first step, and so on. */
static void number_parts(partner_function *partner, int *labels, int places)
{
    for (int step = 0; 1 << step < places; step++) {
        int bit = places >> (step + 1);

        for (int place = 0; place < places; place++) {
            int other = partner(place, step, places);

            /* of the two groups the one seen first keeps a 0 */
            if (place < other && !(labels[place] & bit) && !(labels[other] & bit))
                mark(partner, labels, other, step + 1, places, bit);
        }
    }
}

/* The block of the parts first to first + count - 1, out of `places` parts. */
static struct plan_block cover(const struct plan_shape *shape, int places, int first, int count)
{
    struct plan_block begin = plan_part(shape->count, places, first);
    struct plan_block end = plan_part(shape->count, places, first + count - 1);

    return (struct plan_block){begin.offset, end.offset + end.count - begin.offset};
}

void exchange_and_reduce(const struct plan_shape *shape, struct plan *plan, int partner,
                         struct plan_address own, struct plan_block away, struct plan_block kept,
                         struct plan_address by, struct plan_address to)
{
    unsigned outs = plan_segments(shape, away.count), ins = plan_segments(shape, kept.count);

    for (unsigned k = 0; k < outs || k < ins; k++) {
        struct plan_block part;

        if (k < outs) {
            part = plan_segment(shape, away.count, k);
            plan_send(plan, partner, plan_at(own, away.offset + part.offset), part.count);
        }
        if (k < ins) {
            part = plan_segment(shape, kept.count, k);
            plan_receive(plan, partner, plan_at(by, part.offset), part.count);
            plan_reduce(plan, plan_at(own, kept.offset + part.offset), plan_at(by, part.offset),
                        plan_at(to, part.offset), part.count);
        }
    }
}

static void halve_and_double(const struct plan_shape *shape, struct plan *plan,
                             partner_function *partner, const int *labels, int place, int places,
                             int more, struct plan_address own)
{
    int first = 0, steps = 0;
    struct plan_address by = plan_scratch(plan, (shape->count + 1) / 2 + (size_t)places);
    struct plan_block block;

    for (int count = places / 2; count > 0; count /= 2, steps++) {
        int other = partner(place, steps, places);
        int kept = first + (labels[place] & count), away = first + (labels[other] & count);

        other = other < more ? 2 * other + 1 : other + more;
        block = cover(shape, places, kept, count);
        exchange_and_reduce(shape, plan, other, own, cover(shape, places, away, count), block, by,
                            plan_out(block.offset));
        own = plan_out(0);
        first = kept;
    }
    for (int count = 1; count < places; count *= 2) {
        int other = partner(place, --steps, places);
        struct plan_block mine = cover(shape, places, first, count);
        struct plan_block theirs = cover(shape, places, first ^ count, count);

        other = other < more ? 2 * other + 1 : other + more;
        plan_pass_on(plan, shape, other, plan_out(mine.offset), mine.count, other,
                     plan_out(theirs.offset), theirs.count);
        first &= ~count;
    }
}

static void allreduce(const struct plan_shape *shape, struct plan *plan, partner_function *partner)
{
    int places = halving_places(shape->ranks), more = shape->ranks - places, rank = shape->rank;
    struct plan_address own = plan_in(0);
    int *labels;

    if (shape->ranks == 1) {
        plan_copy(plan, plan_in(0), plan_out(0), shape->count);
        return;
    }
    if (rank < 2 * more && rank % 2 == 0) {
        plan_send(plan, rank + 1, own, shape->count);
        plan_receive_plain(plan, rank + 1, plan_out(0), shape->count);
        return;
    }
    if (rank < 2 * more) {
        struct plan_address theirs = plan_scratch(plan, shape->count);

        plan_receive(plan, rank - 1, theirs, shape->count);
        plan_reduce(plan, own, theirs, plan_out(0), shape->count);
        own = plan_out(0);
    }
    labels = plan_ints(plan, (size_t)places);
    if (!labels)
        return;
    number_parts(partner, labels, places);
    halve_and_double(shape, plan, partner, labels, rank < 2 * more ? rank / 2 : rank - more, places,
                     more, own);
    if (rank < 2 * more)
        plan_send_plain(plan, rank - 1, plan_out(0), shape->count);
}

/* Parts are passed on together with others and so coded again, which changes int8 numbers: a block
 * would get another scale. */
bool halving_applies(const struct plan_shape *shape)
{
    return shape->wire != WIRE_INT8;
}

void rabenseifner_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    allreduce(shape, plan, partner_of_rabenseifner);
}

void swing_allreduce(const struct plan_shape *shape, struct plan *plan)
{
    allreduce(shape, plan, partner_of_swing);
}

struct algorithm_cost halving_allreduce_cost(const struct plan_shape *shape)
{
    int places = halving_places(shape->ranks), rounds = algorithm_rounds(places);
    double bytes = algorithm_bytes(shape);
    double share = bytes * (places - 1) / places;
    bool is_uneven = places != shape->ranks;

    return (struct algorithm_cost){2 * rounds + 2 * is_uneven, 2 * share + is_uneven * bytes,
                                   share + is_uneven * bytes};
}
