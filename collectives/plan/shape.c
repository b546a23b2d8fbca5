/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/plan/plan.h"
#include "lib/base/parse_name.h"

static const struct {
    const char *name;
    bool reduces;
} kinds[COLLECTIVE_KINDS] = {
    [COLLECTIVE_ALLREDUCE] = {"allreduce", true},
    [COLLECTIVE_REDUCE_SCATTER] = {"reduce-scatter", true},
    [COLLECTIVE_ALL_GATHER] = {"all-gather", false},
    [COLLECTIVE_BROADCAST] = {"broadcast", false},
    [COLLECTIVE_REDUCE] = {"reduce", true},
    [COLLECTIVE_ALL_TO_ALL] = {"all-to-all", false},
};

const char *collective_kind_name(enum collective_kind kind)
{
    return kinds[kind].name;
}

PARSE_NAME(collective_kind_parse, enum collective_kind, collective_kind_name, COLLECTIVE_KINDS)

bool collective_kind_reduces(enum collective_kind kind)
{
    return kinds[kind].reduces;
}

bool collective_kind_has_blocks(enum collective_kind kind)
{
    return kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_ALL_TO_ALL;
}

double collective_kind_factor(enum collective_kind kind, int ranks)
{
    double share = (double)(ranks - 1) / ranks;

    switch (kind) {
    case COLLECTIVE_ALLREDUCE:
        return 2 * share;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_ALL_TO_ALL:
        return share;
    default:
        return 1;
    }
}

static size_t sum_before(const size_t *counts, int rank)
{
    size_t sum = 0;

    for (int r = 0; r < rank; r++)
        sum += counts[r];
    return sum;
}

struct plan_block plan_shape_block(const struct plan_shape *shape, int rank)
{
    struct plan_block block = {(size_t)rank * shape->count, shape->count};

    if (shape->counts) {
        block.count = shape->counts[rank];
        if (!shape->offsets)
            block.offset = sum_before(shape->counts, rank);
    }
    if (shape->offsets)
        block.offset = shape->offsets[rank];
    return block;
}

size_t plan_shape_greatest_block(const struct plan_shape *shape)
{
    size_t greatest = 0;

    for (int r = 0; r < shape->ranks; r++) {
        size_t count = plan_shape_block(shape, r).count;

        greatest = count > greatest ? count : greatest;
    }
    return greatest;
}

struct plan_block plan_block_piece(struct plan_block block, size_t each, size_t k)
{
    size_t begin = k * each, left = begin < block.count ? block.count - begin : 0;

    return (struct plan_block){block.offset + begin, left < each ? left : each};
}

struct plan_block plan_shape_send_block(const struct plan_shape *shape, int rank)
{
    if (!shape->send_counts)
        return plan_shape_block(shape, rank);
    return (struct plan_block){shape->send_offsets[rank], shape->send_counts[rank]};
}

struct plan_block plan_part(size_t count, int parts, int index)
{
    size_t each = count / (size_t)parts, more = count % (size_t)parts, i = (size_t)index;

    return (struct plan_block){i * each + (i < more ? i : more), each + (i < more)};
}

static int wrapped(int position, int ranks)
{
    position %= ranks;
    return position < 0 ? position + ranks : position;
}

int plan_ring_rank(const struct plan_shape *shape, int position)
{
    position = wrapped(position, shape->ranks);
    return shape->topology && shape->topology->ring ? shape->topology->ring[position] : position;
}

int plan_ring_position(const struct plan_shape *shape, int rank)
{
    int position = 0;

    if (!shape->topology || !shape->topology->ring)
        return rank;
    while (shape->topology->ring[position] != rank)
        position++;
    return position;
}

unsigned plan_segments(const struct plan_shape *shape, size_t count)
{
    if (count == 0)
        return 0;
    return shape->segment == 0 ? 1 : (unsigned)((count + shape->segment - 1) / shape->segment);
}

struct plan_block plan_segment(const struct plan_shape *shape, size_t count, unsigned index)
{
    return plan_part(count, (int)plan_segments(shape, count), (int)index);
}

size_t plan_segment_most(const struct plan_shape *shape, size_t count)
{
    return shape->segment > 0 && shape->segment < count ? shape->segment : count;
}

void plan_send_segments(struct plan *plan, const struct plan_shape *shape, int peer,
                        struct plan_address from, size_t count)
{
    for (unsigned k = 0; k < plan_segments(shape, count); k++) {
        struct plan_block part = plan_segment(shape, count, k);

        plan_send(plan, peer, plan_at(from, part.offset), part.count);
    }
}

void plan_receive_segments(struct plan *plan, const struct plan_shape *shape, int peer,
                           struct plan_address to, size_t count)
{
    for (unsigned k = 0; k < plan_segments(shape, count); k++) {
        struct plan_block part = plan_segment(shape, count, k);

        plan_receive(plan, peer, plan_at(to, part.offset), part.count);
    }
}

void plan_pass_on(struct plan *plan, const struct plan_shape *shape, int next,
                  struct plan_address out, size_t out_count, int before, struct plan_address in,
                  size_t in_count)
{
    unsigned outs = plan_segments(shape, out_count), ins = plan_segments(shape, in_count);

    for (unsigned k = 0; k < outs || k < ins; k++) {
        struct plan_block part;

        if (k < outs) {
            part = plan_segment(shape, out_count, k);
            plan_share(plan, next, plan_at(out, part.offset), part.count);
        }
        if (k < ins) {
            part = plan_segment(shape, in_count, k);
            plan_receive(plan, before, plan_at(in, part.offset), part.count);
        }
    }
}
