/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/pursuit/hearing.h"

#include <math.h>
#include <stdlib.h>

#include "lib/constants/judge_constants.h"

int hearing_make(const struct cells *cells, const struct ranking *ranking, struct hearing *hearing)
{
    size_t space = cells->count + 1;

    *hearing = (struct hearing){.cells = cells, .ranking = ranking};
    hearing->indices = malloc(space * sizeof *hearing->indices);
    hearing->low = malloc(space * sizeof *hearing->low);
    hearing->well = malloc(space * sizeof *hearing->well);
    hearing->stamps = calloc(cells->nodes + 1, sizeof *hearing->stamps);
    return hearing->indices && hearing->low && hearing->well && hearing->stamps ? 0 : -1;
}

void hearing_clear(struct hearing *hearing)
{
    free(hearing->indices);
    free(hearing->low);
    free(hearing->well);
    free(hearing->stamps);
    *hearing = (struct hearing){0};
}

static const struct cell *cell_at(const struct hearing *hearing, size_t i)
{
    return &hearing->cells->cells[hearing->indices[i]];
}

/* ---------------------------------------------------------------- how many nodes show it */

/* Whether that node was not seen since the stamp was made new. */
static bool is_new(struct hearing *hearing, int node)
{
    if (hearing->stamps[node] == hearing->stamp)
        return false;
    hearing->stamps[node] = hearing->stamp;
    return true;
}

/* Different nodes among the low cells: of a node's part its partners, of a block's part those on
 * its own side or on the other. is_inside: only of those inside a block. */
static int count_nodes_in(struct hearing *hearing, const struct accused *part, bool is_other,
                          bool is_inside)
{
    int nodes = 0;

    hearing->stamp++;
    for (size_t i = 0; i < hearing->count; i++) {
        const struct cell *cell = cell_at(hearing, i);
        int ends[] = {cell->from, cell->to};

        if (is_inside && cell->region != CELL_INSIDE)
            continue;
        for (int k = 0; k < 2 && cell->is_low; k++) {
            bool is_own = candidates_is_node(part->kind)
                              ? ends[k] == part->node
                              : hearing->cells->blocks[ends[k]] == part->block;

            nodes += is_own != is_other && is_new(hearing, ends[k]);
        }
    }
    return nodes;
}

static int count_nodes(struct hearing *hearing, const struct accused *part, bool is_other)
{
    return count_nodes_in(hearing, part, is_other, false);
}

/* Whether it may be the leaf switch: three of its nodes are low, or two are as low as the rest of
 * it with nodes elsewhere. Two nodes that are low with each other may be either of them, and what
 * they are with others may be another's fault. */
static bool may_be_leaf(struct hearing *hearing, const struct accused *part)
{
    const struct cells *cells = hearing->cells;
    int nodes = 0;

    if (cells->block_size[part->block] < 2 || count_nodes(hearing, part, false) >= 3)
        return true;
    hearing->stamp++;
    for (size_t i = 0; i < hearing->count; i++) {
        const struct cell *cell = cell_at(hearing, i);
        int own = cells->blocks[cell->from] == part->block ? cell->from : cell->to;

        nodes += cell->is_low && cell->region != CELL_INSIDE &&
                 cell->y < part->level + (float)PART_LEVEL_SLACK && is_new(hearing, own);
    }
    return nodes >= 2;
}

/* Whether any sample of the block's nodes with another block than that is well. */
static bool is_well_elsewhere(const struct cells *cells, int block, int other)
{
    for (int k = cells->members_begin[block]; k < cells->members_begin[block + 1]; k++) {
        size_t end = (size_t)cells->members[k] * cells->rails;

        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + cells->rails]; i++)
            if (!cells->cells[i].is_low && cells->blocks[cells->cells[i].to] != other)
                return true;
    }
    return false;
}

/* One node that is low may be that node; of two nodes that are alone on their leaves, each with the
 * other only, it may be either. */
static bool shows_on_enough(struct hearing *hearing, const struct accused *part)
{
    const struct cells *cells = hearing->cells;
    const int *size = cells->block_size;
    int block = part->block, peer = part->peer_block;

    if (candidates_is_node(part->kind) || (size[block] == 1 && peer < 0))
        return count_nodes(hearing, part, true) >= 2;
    if (peer >= 0 && size[block] == 1 && size[peer] == 1)
        return is_well_elsewhere(cells, block, peer) && is_well_elsewhere(cells, peer, block);
    if (size[part->block] > 1 && count_nodes(hearing, part, false) < 2)
        return false;
    if (part->peer_block >= 0 && size[part->peer_block] > 1 && count_nodes(hearing, part, true) < 2)
        return false;
    return (part->kind != PART_LEAF && part->kind != PART_LEAF_ALL) || may_be_leaf(hearing, part);
}

/* ---------------------------------------------------------------- its figures */

static bool is_example(const struct accused *part, const struct cell *cell)
{
    for (int i = 0; i < part->example_count; i++) {
        const struct link_pair *pair = &part->examples[i];

        if ((pair->from == cell->from && pair->to == cell->to) ||
            (pair->from == cell->to && pair->to == cell->from))
            return true;
    }
    return false;
}

/* Pairs of low cells: of the lower half from all over the part first, then any. */
static void choose_examples(const struct hearing *hearing, struct accused *part, size_t low)
{
    part->example_count = 0;
    for (int any = 0; any < 2; any++) {
        size_t seen = 0;

        for (size_t i = 0; i < hearing->count && part->example_count < FINDING_EXAMPLES; i++) {
            const struct cell *cell = cell_at(hearing, i);

            if (!cell->is_low || (cell->y > part->level && !any))
                continue;
            if ((seen++ * FINDING_EXAMPLES >= (size_t)part->example_count * low || any) &&
                !is_example(part, cell))
                part->examples[part->example_count++] = (struct link_pair){cell->from, cell->to};
        }
    }
}

/* What was counted of a part's cells. */
struct counts {
    size_t low, alone, alone_low, shared; /* cells; alone: measured once more */
    double weights;                       /* low ones, repeated measurements counted */
    double bases;                         /* sum of the low ones' 100 %, Mb/s */
    bool has_nominal;                     /* nominal is a gate to all low ones */
    double gap; /* from the low ones' median up to that of those that speak against; 0: there are
                   none of these */
};

static struct counts count_cells(struct hearing *hearing, struct accused *part)
{
    const struct cells *cells = hearing->cells;
    struct counts counts = {.has_nominal = true};

    for (size_t i = 0; i < hearing->count; i++) {
        const struct cell *cell = cell_at(hearing, i);

        part->all[cell->region] += 1U + cell->again;
        counts.alone += cell->again > 0;
        if (!cell->is_low)
            continue;
        part->low[cell->region] += 1U + cell->again;
        counts.weights += 1U + cell->again;
        counts.alone_low += cell->again > 0;
        counts.shared += cell->load > 0;
        counts.bases += cells_base(cells, cell);
        counts.has_nominal = counts.has_nominal && cells->has_nominal[cell->rail] &&
                             cell->load == 0 && !cells->is_fabric[cell->rail];
        hearing->well[counts.low] = cell->expected;
        hearing->low[counts.low++] = cell->y;
    }
    return counts;
}

/* The levels of a part with low cells. */
static void fill_in(struct hearing *hearing, const struct counts *counts, struct accused *part)
{
    double base = counts->bases / (double)counts->low;
    float nominal_floor = (float)log(hearing->cells->limits->nominal_percent / 100);

    part->expected = cells_median(hearing->well, counts->low);
    part->level = cells_median(hearing->low, counts->low);
    choose_examples(hearing, part, counts->low);
    part->value_mbps = part->level < -20 ? 0 : base * exp(part->level);
    part->expected_mbps = base * exp(part->expected);
    part->is_by_nominal = counts->has_nominal && part->level < nominal_floor;
    part->is_shared = counts->shared == counts->low && hearing->cells->block_count > 2;
    part->is_steady = counts->alone_low == counts->alone;
    part->again = (int)counts->alone;
}

/* The share of low ones: only what ran well above the level speaks against the part. */
static void weigh_others(struct hearing *hearing, struct counts *counts, struct accused *part)
{
    size_t well = 0;
    double against = 0;

    for (size_t i = 0; i < hearing->count; i++) {
        const struct cell *cell = cell_at(hearing, i);

        if (cell->is_low || cell->y < part->level + (float)PART_LEVEL_SLACK)
            continue;
        against += 1U + cell->again;
        hearing->well[well++] = cell->y;
    }
    part->share = counts->weights / (counts->weights + against);
    if (part->share < PART_STEADY_SHARE && well > 0)
        counts->gap = cells_median(hearing->well, well) - part->level;
}

/* ---------------------------------------------------------------- whether there is a case */

/* Low ones more than elsewhere, as a share of all. */
static double excess_of(const struct hearing *hearing, const struct counts *counts,
                        const struct accused *part)
{
    const double *rate = hearing->ranking->rate;
    double inside = (double)part->all[CELL_INSIDE], across = (double)part->all[CELL_ACROSS];

    return counts->weights / (inside + across) -
           (rate[CELL_INSIDE] * inside + rate[CELL_ACROSS] * across) / (inside + across);
}

/* What is low at times, of a node: pairs that meet on a cable of the spine are so each time. What
 * is low across only says nothing, where enough inside could. */
static bool is_node_at_times(struct hearing *hearing, const struct accused *part)
{
    double inside = (double)part->all[CELL_INSIDE], low = (double)part->low[CELL_INSIDE];
    double expected = hearing->ranking->rate[CELL_INSIDE] + ranking_partial_excess;

    return inside < 2 * PART_INSIDE_LEAST ||
           (low >= expected * inside && count_nodes_in(hearing, part, true, true) >= 2);
}

/* What is low on some of its cells, of a block: only its uplinks are several cables, of which some
 * may be bad. */
static bool is_cable(struct hearing *hearing, const struct accused *part)
{
    return candidates_is_uplink(part->kind) &&
           count_nodes(hearing, part, false) >= PART_PARTNERS_LEAST;
}

static bool is_partial_case(struct hearing *hearing, const struct counts *counts,
                            const struct accused *part)
{
    bool is_node = candidates_is_node(part->kind);

    if (excess_of(hearing, counts, part) <
            (is_node ? ranking_partial_excess : ranking_cable_excess(hearing->ranking)) ||
        counts->low < PART_TIMES_LEAST || count_nodes(hearing, part, true) < PART_PARTNERS_LEAST)
        return false;
    return is_node ? is_node_at_times(hearing, part) : is_cable(hearing, part);
}

/* Whether what was low is well alone. Of a node's part any pair can tell; of a block's only those
 * that were as low as it is: of several cables the others are well anyway. What only pairs that
 * share uplinks show does not show alone; and of what is low at times one bad moment is no proof.
 */
static bool is_cleared(const struct hearing *hearing, const struct counts *counts,
                       struct accused *part)
{
    size_t cells = 0, asked = 0, low = 0; /* each time that it was asked counts */

    if (!part->is_partial)
        return !part->is_shared && counts->alone > 0 && counts->alone_low == 0;
    for (size_t i = 0; i < hearing->count; i++) {
        const struct cell *cell = cell_at(hearing, i);

        if (cell->again == 0 || (!candidates_is_node(part->kind) &&
                                 cell->first_y >= part->level + (float)PART_LEVEL_SLACK))
            continue;
        asked += cell->quiet > 0 ? cell->quiet : 1U;
        low += cell->quiet > 0 ? cell->quiet_low : cell->is_low;
        cells++;
    }
    part->again = (int)cells;
    return asked > 0 && (double)low <= PART_CLEARED_SHARE * (double)asked;
}

/* It is not a node's, nor a leaf switch's, when the pairs inside the block are well, where there
 * are enough. */
static bool is_well_inside(const struct accused *part)
{
    bool needs_inside = candidates_is_node(part->kind) || part->kind >= PART_LEAF;

    return needs_inside && part->all[CELL_INSIDE] >= PART_INSIDE_LEAST &&
           (double)part->low[CELL_INSIDE] < ranking_slow_share * (double)part->all[CELL_INSIDE];
}

enum outcome_of_hearing hearing_hold(struct hearing *hearing, struct accused *part)
{
    struct counts counts;

    hearing->count = candidates_gather(hearing->cells, part, hearing->indices);
    counts = count_cells(hearing, part);
    if (counts.low < 2)
        return HEARING_NO_CASE;
    fill_in(hearing, &counts, part);
    weigh_others(hearing, &counts, part);
    if (!shows_on_enough(hearing, part))
        return HEARING_NO_CASE;
    part->is_partial = counts.gap >= (float)PART_HEAP_GAP;
    if (part->is_partial ? !is_partial_case(hearing, &counts, part)
                         : part->share < ranking_slow_share || is_well_inside(part))
        return HEARING_NO_CASE;
    return is_cleared(hearing, &counts, part) ? HEARING_CLEARED : HEARING_GUILTY;
}
