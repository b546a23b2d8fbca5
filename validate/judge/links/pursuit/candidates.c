/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/pursuit/candidates.h"

/* Tables of pairs of blocks are not kept for more than that many entries. */
static const size_t paths_most = 8000000;

size_t candidates_count(const struct cells *cells, enum part_kind kind)
{
    size_t n = cells->nodes, r = cells->rails, b = cells->block_count;
    bool has_blocks = b > 1, has_paths = has_blocks && b * b * (2 * r + 1) <= paths_most;

    switch (kind) {
    case PART_SENDS:
    case PART_RECEIVES:
    case PART_RAIL:
        return n * r;
    case PART_NODE:
        return r > 1 ? n : 0;
    case PART_PATH:
    case PART_PATHS:
        return has_paths ? b * b * r : 0;
    case PART_PATHS_ALL:
        return has_paths && r > 1 ? b * b : 0;
    case PART_UPLINK_OUT:
    case PART_UPLINK_IN:
    case PART_UPLINK:
    case PART_LEAF:
        return has_blocks ? b * r : 0;
    case PART_UPLINK_ALL:
    case PART_LEAF_ALL:
        return has_blocks && r > 1 ? b : 0;
    default:
        return 0;
    }
}

struct candidates candidates_make(const struct cells *cells, enum part_kind first_kind,
                                  enum part_kind last_kind)
{
    struct candidates candidates = {.cells = cells};

    for (int kind = 0; kind < PART_KINDS; kind++)
        candidates.begin[kind + 1] =
            candidates.begin[kind] + (kind >= (int)first_kind && kind <= (int)last_kind
                                          ? candidates_count(cells, (enum part_kind)kind)
                                          : 0);
    return candidates;
}

bool candidates_is_node(enum part_kind kind)
{
    return kind <= PART_NODE;
}

bool candidates_is_uplink(enum part_kind kind)
{
    return kind >= PART_UPLINK_OUT && kind <= PART_UPLINK_ALL;
}

enum part_kind candidates_kind(const struct candidates *candidates, size_t candidate)
{
    int kind = 0;

    while (candidate >= candidates->begin[kind + 1])
        kind++;
    return (enum part_kind)kind;
}

struct accused candidates_describe(const struct candidates *candidates, size_t candidate)
{
    struct accused accused = {.kind = candidates_kind(candidates, candidate),
                              .node = -1,
                              .rail = -1,
                              .block = -1,
                              .peer_block = -1};
    size_t index = candidate - candidates->begin[accused.kind], r = candidates->cells->rails;
    size_t blocks = candidates->cells->block_count;

    switch (accused.kind) {
    case PART_SENDS:
    case PART_RECEIVES:
    case PART_RAIL:
        accused.node = (int)(index / r);
        accused.rail = (int)(index % r);
        break;
    case PART_NODE:
        accused.node = (int)index;
        break;
    case PART_PATH:
    case PART_PATHS:
        accused.rail = (int)(index % r);
        index /= r;
        /* fall through */
    case PART_PATHS_ALL:
        accused.block = (int)(index / blocks);
        accused.peer_block = (int)(index % blocks);
        break;
    case PART_UPLINK_OUT:
    case PART_UPLINK_IN:
    case PART_UPLINK:
    case PART_LEAF:
        accused.block = (int)(index / r);
        accused.rail = (int)(index % r);
        break;
    default:
        accused.block = (int)index;
    }
    return accused;
}

static void add(const struct candidates *candidates, enum part_kind kind, size_t index,
                unsigned *numbers, int *count)
{
    if (candidates->begin[kind + 1] > candidates->begin[kind])
        numbers[(*count)++] = (unsigned)(candidates->begin[kind] + index);
}

int candidates_of(const struct candidates *candidates, const struct cell *cell, unsigned *numbers)
{
    const struct cells *cells = candidates->cells;
    size_t r = cells->rails, rail = (size_t)cell->rail, blocks = cells->block_count;
    size_t from = (size_t)cell->from, to = (size_t)cell->to;
    size_t a = (size_t)cells->blocks[from], b = (size_t)cells->blocks[to];
    size_t low = a < b ? a : b, high = a < b ? b : a;
    int count = 0;

    add(candidates, PART_SENDS, from * r + rail, numbers, &count);
    add(candidates, PART_RECEIVES, to * r + rail, numbers, &count);
    add(candidates, PART_RAIL, from * r + rail, numbers, &count);
    add(candidates, PART_RAIL, to * r + rail, numbers, &count);
    add(candidates, PART_NODE, from, numbers, &count);
    add(candidates, PART_NODE, to, numbers, &count);
    add(candidates, PART_LEAF, a * r + rail, numbers, &count);
    add(candidates, PART_LEAF_ALL, a, numbers, &count);
    if (a == b)
        return count;
    add(candidates, PART_LEAF, b * r + rail, numbers, &count);
    add(candidates, PART_LEAF_ALL, b, numbers, &count);
    add(candidates, PART_PATH, (a * blocks + b) * r + rail, numbers, &count);
    add(candidates, PART_PATHS, (low * blocks + high) * r + rail, numbers, &count);
    add(candidates, PART_PATHS_ALL, low * blocks + high, numbers, &count);
    add(candidates, PART_UPLINK_OUT, a * r + rail, numbers, &count);
    add(candidates, PART_UPLINK_IN, b * r + rail, numbers, &count);
    add(candidates, PART_UPLINK, a * r + rail, numbers, &count);
    add(candidates, PART_UPLINK, b * r + rail, numbers, &count);
    add(candidates, PART_UPLINK_ALL, a, numbers, &count);
    add(candidates, PART_UPLINK_ALL, b, numbers, &count);
    return count;
}

static bool has_cell(const struct cells *cells, const struct accused *part, const struct cell *cell)
{
    int a = cells->blocks[cell->from], b = cells->blocks[cell->to];

    if (!cell->is_open || (part->rail >= 0 && cell->rail != part->rail))
        return false;
    switch (part->kind) {
    case PART_SENDS:
        return cell->from == part->node;
    case PART_RECEIVES:
        return cell->to == part->node;
    case PART_RAIL:
    case PART_NODE:
        return cell->from == part->node || cell->to == part->node;
    case PART_PATH:
        return a == part->block && b == part->peer_block;
    case PART_PATHS:
    case PART_PATHS_ALL:
        return (a == part->block && b == part->peer_block) ||
               (b == part->block && a == part->peer_block);
    case PART_UPLINK_OUT:
        return a == part->block && b != part->block;
    case PART_UPLINK_IN:
        return b == part->block && a != part->block;
    case PART_UPLINK:
    case PART_UPLINK_ALL:
        return (a == part->block) != (b == part->block);
    default:
        return a == part->block || b == part->block;
    }
}

/* Whether what its own nodes send speaks of the part, or what they receive. */
static bool has_outgoing(const struct accused *part)
{
    return part->kind != PART_RECEIVES && part->kind != PART_UPLINK_IN;
}

static bool has_incoming(const struct accused *part)
{
    return part->kind != PART_SENDS && part->kind != PART_UPLINK_OUT && part->kind != PART_PATH;
}

/* Whether it is not the part's because of where it comes from. Inside a block its sender's turn has
 * it already. */
static bool is_elsewhere(const struct cells *cells, const struct accused *part, int from)
{
    int block = cells->blocks[from];

    if (candidates_is_node(part->kind))
        return false;
    return block == part->block || (part->peer_block >= 0 && block != part->peer_block);
}

size_t candidates_gather(const struct cells *cells, const struct accused *part, unsigned *indices)
{
    bool is_node = candidates_is_node(part->kind);
    int begin = is_node ? 0 : cells->members_begin[part->block];
    int stop = is_node ? 1 : cells->members_begin[part->block + 1];
    size_t rail = part->rail < 0 ? 0 : (size_t)part->rail, count = 0;
    size_t rails = part->rail < 0 ? cells->rails : 1;

    for (int k = begin; k < stop; k++) {
        size_t node = (size_t)(is_node ? part->node : cells->members[k]);
        size_t first = node * cells->rails + rail, last = first + rails;

        for (size_t i = cells->out_begin[first]; has_outgoing(part) && i < cells->out_begin[last];
             i++)
            if (has_cell(cells, part, &cells->cells[i]))
                indices[count++] = (unsigned)i;
        for (size_t i = cells->in_begin[first]; has_incoming(part) && i < cells->in_begin[last];
             i++) {
            const struct incoming *incoming = &cells->incoming[i];

            if (!is_elsewhere(cells, part, incoming->from) &&
                has_cell(cells, part, &cells->cells[incoming->cell]))
                indices[count++] = incoming->cell;
        }
    }
    return count;
}
