/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/pursuit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A part is slow when that share of its cells is low, or half of them and there are not two heaps
 * of them. */
static const double steady_share = 0.8, slow_share = 0.5;

/* Two heaps: the median of the low cells is that far below the median of the others (log 0.74). */
static const float heap_gap = 0.3F;
/* figures of one cause are as near as that: 15 % */
static const float level_slack = 0.1625F;

/* Pairs that a slow path carries may share it, two at least without being told: below half of what
 * the path has is another reason (log 0.47). */
static const float path_slack = -0.75F;

/* An intermittent part: that many low cells, with that many partners, and that much more than
 * elsewhere. */
enum { PARTIAL_CELLS = 3, PARTIAL_PARTNERS = 3, ENOUGH_INSIDE = 4 };
static const double partial_excess = 0.1, cable_excess = 0.03;

/* Tables of pairs of blocks are not kept for more than that many entries. */
static const size_t paths_most = 8000000;

/* Pairs that meet on a cable of the spine are low together, forth and back: as evidence of a bad
 * cable they count as one. */
static const double collision_size = 4;

/* The rate of low cells elsewhere is never believed to be outside of this. */
static const double rate_floor = 0.01, rate_ceiling = 0.5;

struct tally {
    float all[CELL_REGIONS], low[CELL_REGIONS];
};

struct game {
    struct cells *cells;
    struct pursuit *pursuit;
    size_t begin[PART_KINDS + 1]; /* first candidate of each kind */
    struct tally *tallies;
    struct entry {
        float score;
        unsigned candidate;
    } * heap;
    size_t heap_count;
    double rate[CELL_REGIONS];
    float *low, *well; /* work space of as many as cells */
    unsigned *its_cells;
    int *stamp; /* [nodes] */
    int stamp_now;
};

enum { CANDIDATES_OF_CELL = 24 };

static size_t kind_size(const struct cells *cells, enum part_kind kind)
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

static void add_candidate(const struct game *game, enum part_kind kind, size_t index,
                          unsigned *candidates, int *count)
{
    if (game->begin[kind + 1] > game->begin[kind])
        candidates[(*count)++] = (unsigned)(game->begin[kind] + index);
}

/* The candidates that the cell speaks of. */
static int candidates_of(const struct game *game, const struct cell *cell, unsigned *candidates)
{
    const struct cells *cells = game->cells;
    size_t r = cells->rails, rail = (size_t)cell->rail, blocks = cells->block_count;
    size_t from = (size_t)cell->from, to = (size_t)cell->to;
    size_t a = (size_t)cells->blocks[from], b = (size_t)cells->blocks[to];
    size_t low = a < b ? a : b, high = a < b ? b : a;
    int count = 0;

    add_candidate(game, PART_SENDS, from * r + rail, candidates, &count);
    add_candidate(game, PART_RECEIVES, to * r + rail, candidates, &count);
    add_candidate(game, PART_RAIL, from * r + rail, candidates, &count);
    add_candidate(game, PART_RAIL, to * r + rail, candidates, &count);
    add_candidate(game, PART_NODE, from, candidates, &count);
    add_candidate(game, PART_NODE, to, candidates, &count);
    add_candidate(game, PART_LEAF, a * r + rail, candidates, &count);
    add_candidate(game, PART_LEAF_ALL, a, candidates, &count);
    if (a == b)
        return count;
    add_candidate(game, PART_LEAF, b * r + rail, candidates, &count);
    add_candidate(game, PART_LEAF_ALL, b, candidates, &count);
    add_candidate(game, PART_PATH, (a * blocks + b) * r + rail, candidates, &count);
    add_candidate(game, PART_PATHS, (low * blocks + high) * r + rail, candidates, &count);
    add_candidate(game, PART_PATHS_ALL, low * blocks + high, candidates, &count);
    add_candidate(game, PART_UPLINK_OUT, a * r + rail, candidates, &count);
    add_candidate(game, PART_UPLINK_IN, b * r + rail, candidates, &count);
    add_candidate(game, PART_UPLINK, a * r + rail, candidates, &count);
    add_candidate(game, PART_UPLINK, b * r + rail, candidates, &count);
    add_candidate(game, PART_UPLINK_ALL, a, candidates, &count);
    add_candidate(game, PART_UPLINK_ALL, b, candidates, &count);
    return count;
}

/* Adds the cell, or takes it out. */
static void tally_cell(struct game *game, const struct cell *cell, float sign)
{
    unsigned candidates[CANDIDATES_OF_CELL];
    int count = candidates_of(game, cell, candidates);
    float weight = sign * (float)(1 + cell->again);

    for (int i = 0; i < count; i++) {
        struct tally *tally = &game->tallies[candidates[i]];

        tally->all[cell->region] += weight;
        if (cell->is_low)
            tally->low[cell->region] += weight;
    }
}

/* Log-likelihood ratio of a rate of its own against that of the others; 0 when it is not higher. */
static double likelihood(double low, double all, double rate)
{
    double share = all > 0 ? low / all : 0;

    if (share <= rate)
        return 0;
    return low * log(share / rate) + (share < 1 ? (all - low) * log((1 - share) / (1 - rate)) : 0);
}

static double score_of(const struct game *game, size_t candidate)
{
    const struct tally *tally = &game->tallies[candidate];
    double score = 0;

    for (int region = 0; region < CELL_REGIONS; region++)
        score += likelihood(tally->low[region], tally->all[region], game->rate[region]);
    return score;
}

/* Higher score first, then the kind that comes first. */
static bool is_before(struct entry a, struct entry b)
{
    if (fabsf(a.score - b.score) > 1e-4F * fmaxf(a.score, b.score))
        return a.score > b.score;
    return a.candidate < b.candidate;
}

static void sift_down(struct game *game, size_t place)
{
    struct entry *heap = game->heap, entry = heap[place];

    for (;;) {
        size_t child = 2 * place + 1;

        if (child >= game->heap_count)
            break;
        if (child + 1 < game->heap_count && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], entry))
            break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = entry;
}

static enum part_kind kind_of(const struct game *game, size_t candidate)
{
    int kind = 0;

    while (candidate >= game->begin[kind + 1])
        kind++;
    return (enum part_kind)kind;
}

static bool is_of_node(enum part_kind kind)
{
    return kind <= PART_NODE;
}

/* Whether too few of its cells are low for any case, so that it need not be looked at closely: of
 * a node that is slow at times a tenth, of a cable of an uplink less, of paths and leaves half,
 * where what is barely not low is no evidence against. */
static bool is_hopeless(const struct game *game, size_t candidate)
{
    const struct tally *tally = &game->tallies[candidate];
    enum part_kind kind = kind_of(game, candidate);
    double low = tally->low[0] + tally->low[1], all = tally->all[0] + tally->all[1];

    if (is_of_node(kind))
        return low < partial_excess * all;
    if (kind >= PART_UPLINK_OUT && kind <= PART_UPLINK_ALL)
        return low < cable_excess * all;
    return low < 0.6 * slow_share * all;
}

/* The best candidate that is left. A score only ever falls, so that one which is still what it was
 * when it comes to the top is the best. False: none. */
static bool next_candidate(struct game *game, unsigned *candidate)
{
    while (game->heap_count > 0) {
        struct entry top = game->heap[0];
        float score = (float)score_of(game, top.candidate);

        if (score >= top.score * 0.9999F) {
            game->heap[0] = game->heap[--game->heap_count];
            sift_down(game, 0);
            if (is_hopeless(game, top.candidate))
                continue;
            *candidate = top.candidate;
            return true;
        }
        game->heap[0].score = score;
        if (score <= 0)
            game->heap[0] = game->heap[--game->heap_count];
        sift_down(game, 0);
    }
    return false;
}

static struct accused describe(const struct game *game, size_t candidate)
{
    struct accused accused = {
        .kind = kind_of(game, candidate), .node = -1, .rail = -1, .block = -1, .peer_block = -1};
    size_t index = candidate - game->begin[accused.kind], r = game->cells->rails;
    size_t blocks = game->cells->block_count;

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

/* Gathers the open cells of a part. Those inside a block would come twice, once from each end. */
static size_t gather(struct game *game, const struct accused *part)
{
    const struct cells *cells = game->cells;
    bool is_node = is_of_node(part->kind);
    int begin = is_node ? 0 : cells->members_begin[part->block];
    int stop = is_node ? 1 : cells->members_begin[part->block + 1];
    size_t count = 0;

    for (int k = begin; k < stop; k++) {
        size_t node = (size_t)(is_node ? part->node : cells->members[k]), end = node * cells->rails;

        for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + cells->rails]; i++)
            if (has_cell(cells, part, &cells->cells[i]))
                game->its_cells[count++] = (unsigned)i;
        for (size_t i = cells->in_begin[end]; i < cells->in_begin[end + cells->rails]; i++) {
            const struct cell *cell = &cells->cells[cells->in_cells[i]];

            if (has_cell(cells, part, cell) &&
                (is_node || cells->blocks[cell->from] != part->block))
                game->its_cells[count++] = cells->in_cells[i];
        }
    }
    return count;
}

/* Different nodes among the low cells: of a node's part its partners, of a block's part those on
 * its own side or on the other. is_inside: only of those inside a block. */
static int count_nodes_in(struct game *game, const struct accused *part, size_t count,
                          bool is_other, bool is_inside)
{
    const struct cells *cells = game->cells;
    int nodes = 0;

    game->stamp_now++;
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells->cells[game->its_cells[i]];
        int ends[] = {cell->from, cell->to};

        if (is_inside && cell->region != CELL_INSIDE)
            continue;
        for (int k = 0; k < 2 && cell->is_low; k++) {
            bool is_own = is_of_node(part->kind) ? ends[k] == part->node
                                                 : cells->blocks[ends[k]] == part->block;

            if (is_own == is_other || game->stamp[ends[k]] == game->stamp_now)
                continue;
            game->stamp[ends[k]] = game->stamp_now;
            nodes++;
        }
    }
    return nodes;
}

static int count_nodes(struct game *game, const struct accused *part, size_t count, bool is_other)
{
    return count_nodes_in(game, part, count, is_other, false);
}

/* Whether it may be the leaf switch: three of its nodes are low, or two are as low as the rest of
 * it with nodes elsewhere. Two nodes that are low with each other may be either of them, and what
 * they are with others may be another's fault. */
static bool may_be_leaf(struct game *game, const struct accused *part, size_t count)
{
    const struct cells *cells = game->cells;
    int nodes = 0;

    if (cells->block_size[part->block] < 2 || count_nodes(game, part, count, false) >= 3)
        return true;
    game->stamp_now++;
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells->cells[game->its_cells[i]];
        int own = cells->blocks[cell->from] == part->block ? cell->from : cell->to;

        if (cell->is_low && cell->region != CELL_INSIDE && cell->y < part->level + level_slack &&
            game->stamp[own] != game->stamp_now) {
            game->stamp[own] = game->stamp_now;
            nodes++;
        }
    }
    return nodes >= 2;
}

enum weighing { GUILTY, CLEARED, NO_CASE };

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
static void choose_examples(const struct game *game, struct accused *part, size_t count, size_t low)
{
    part->example_count = 0;
    for (int any = 0; any < 2; any++) {
        size_t seen = 0;

        for (size_t i = 0; i < count && part->example_count < FINDING_EXAMPLES; i++) {
            const struct cell *cell = &game->cells->cells[game->its_cells[i]];

            if (!cell->is_low || (cell->y > part->level && !any))
                continue;
            if ((seen++ * FINDING_EXAMPLES >= (size_t)part->example_count * low || any) &&
                !is_example(part, cell))
                part->examples[part->example_count++] = (struct link_pair){cell->from, cell->to};
        }
    }
}

/* Fills in the figures of a part from its cells. */
static enum weighing weigh(struct game *game, struct accused *part, size_t count)
{
    const struct cells *cells = game->cells;
    size_t low = 0, well = 0, alone = 0, alone_low = 0, shared = 0;
    double weights = 0, against = 0, base_sum = 0, excess;
    float nominal_floor = (float)log(cells->limits->nominal_percent / 100);
    bool has_nominal = true, can_be_cleared;

    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells->cells[game->its_cells[i]];

        part->all[cell->region] += 1U + cell->again;
        alone += cell->again > 0;
        if (!cell->is_low)
            continue;
        part->low[cell->region] += 1U + cell->again;
        weights += 1U + cell->again;
        alone_low += cell->again > 0;
        shared += cell->load > 0;
        base_sum += cells_base(cells, cell);
        has_nominal = has_nominal && cells->has_nominal[cell->rail] && cell->load == 0 &&
                      !cells->is_fabric[cell->rail];
        game->well[low] = cell->expected;
        game->low[low++] = cell->y;
    }
    if (low < 2)
        return NO_CASE;
    part->expected = cells_median(game->well, low);
    part->level = cells_median(game->low, low);
    choose_examples(game, part, count, low);
    part->value_mbps = base_sum / (double)low * exp(part->level);
    if (part->level < -20)
        part->value_mbps = 0;
    part->expected_mbps = base_sum / (double)low * exp(part->expected);
    part->is_by_nominal = has_nominal && part->level < nominal_floor;
    part->is_shared = shared == low && cells->block_count > 2;
    /* only what ran well above the level speaks against the part */
    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = &cells->cells[game->its_cells[i]];

        if (cell->is_low || cell->y < part->level + level_slack)
            continue;
        against += 1U + cell->again;
        game->well[well++] = cell->y;
    }
    part->share = weights / (weights + against);
    part->is_steady = alone_low == alone;
    part->again = (int)alone;
    if (is_of_node(part->kind)
            ? count_nodes(game, part, count, true) < 2
            : (cells->block_size[part->block] > 1 && count_nodes(game, part, count, false) < 2) ||
                  (part->peer_block >= 0 && cells->block_size[part->peer_block] > 1 &&
                   count_nodes(game, part, count, true) < 2))
        return NO_CASE;
    if ((part->kind == PART_LEAF || part->kind == PART_LEAF_ALL) && !may_be_leaf(game, part, count))
        return NO_CASE;
    can_be_cleared = !part->is_shared;
    if (part->share < steady_share) {
        bool has_heaps = well > 0 && cells_median(game->well, well) - part->level >= heap_gap;

        part->is_partial = has_heaps;
        if (!has_heaps && part->share < slow_share)
            return NO_CASE;
    }
    /* nor is it a node's when its pairs inside the block are well, where there are enough */
    if (!part->is_partial && is_of_node(part->kind) && part->all[CELL_INSIDE] >= ENOUGH_INSIDE &&
        (double)part->low[CELL_INSIDE] < slow_share * (double)part->all[CELL_INSIDE])
        return NO_CASE;
    if (part->is_partial) {
        excess = weights / (double)(part->all[0] + part->all[1]) -
                 (game->rate[0] * (double)part->all[0] + game->rate[1] * (double)part->all[1]) /
                     (double)(part->all[0] + part->all[1]);
        if (excess < (is_of_node(part->kind) ? partial_excess : cable_excess) ||
            low < PARTIAL_CELLS || count_nodes(game, part, count, true) < PARTIAL_PARTNERS)
            return NO_CASE;
        /* pairs that meet on a cable of the spine do so each time: of a node what is low across
         * only says nothing, where enough inside could */
        if (is_of_node(part->kind) && part->all[CELL_INSIDE] >= 2 * ENOUGH_INSIDE &&
            ((double)part->low[CELL_INSIDE] <
                 (game->rate[CELL_INSIDE] + partial_excess) * (double)part->all[CELL_INSIDE] ||
             count_nodes_in(game, part, count, true, true) < 2))
            return NO_CASE;
        /* of a block only its uplinks are several cables, of which some may be bad */
        if (!is_of_node(part->kind) &&
            (part->kind < PART_UPLINK_OUT || part->kind > PART_UPLINK_ALL ||
             count_nodes(game, part, count, false) < PARTIAL_PARTNERS))
            return NO_CASE;
        can_be_cleared = true;
    }
    return can_be_cleared && alone > 0 && alone_low == 0 ? CLEARED : GUILTY;
}

/* Closes what the part explains. What is slower than a slow path has another reason as well. */
static void explain(struct game *game, const struct accused *part, size_t count, bool is_all)
{
    struct cells *cells = game->cells;

    for (size_t i = 0; i < count; i++) {
        struct cell *cell = &cells->cells[game->its_cells[i]];

        if (!cell->is_low)
            continue;
        if (is_all || cell->load > 0 || cell->y >= part->level + path_slack) {
            tally_cell(game, cell, -1);
            cell->is_open = false;
        } else {
            cell->expected = fminf(cell->expected, part->level);
            cell->limit = cell->expected + path_slack;
        }
    }
}

static int accuse(struct game *game, const struct accused *part)
{
    struct pursuit *pursuit = game->pursuit;

    if (pursuit->count == pursuit->size) {
        size_t size = 2 * pursuit->size + 16;
        struct accused *grown = realloc(pursuit->accused, size * sizeof *grown);

        if (!grown)
            return -1;
        pursuit->accused = grown;
        pursuit->size = size;
    }
    pursuit->accused[pursuit->count++] = *part;
    return 0;
}

/* The median node's share of low cells, which a few bad parts do not raise. */
static void guess_rates(struct game *game)
{
    const struct cells *cells = game->cells;

    for (int region = 0; region < CELL_REGIONS; region++) {
        size_t count = 0;

        for (size_t node = 0; node < cells->nodes; node++) {
            float low = 0, all = 0;

            for (size_t rail = 0; rail < cells->rails; rail++) {
                const struct tally *tally =
                    &game->tallies[game->begin[PART_RAIL] + node * cells->rails + rail];

                low += tally->low[region];
                all += tally->all[region];
            }
            if (all > 0)
                game->low[count++] = low / all;
        }
        game->rate[region] = count > 0 ? cells_median(game->low, count) : 0;
        game->rate[region] = fmin(fmax(game->rate[region], rate_floor), rate_ceiling);
    }
}

static int set_up(struct game *game, enum part_kind last_kind)
{
    struct cells *cells = game->cells;
    size_t candidates, space = cells->count + cells->nodes + 1;

    for (int kind = 0; kind < PART_KINDS; kind++)
        game->begin[kind + 1] =
            game->begin[kind] +
            (kind <= (int)last_kind ? kind_size(cells, (enum part_kind)kind) : 0);
    candidates = game->begin[PART_KINDS];
    game->tallies = calloc(candidates + 1, sizeof *game->tallies);
    game->heap = malloc((candidates + 1) * sizeof *game->heap);
    game->low = malloc(space * sizeof *game->low);
    game->well = malloc(space * sizeof *game->well);
    game->its_cells = malloc(space * sizeof *game->its_cells);
    game->stamp = calloc(cells->nodes + 1, sizeof *game->stamp);
    if (!game->tallies || !game->heap || !game->low || !game->well || !game->its_cells ||
        !game->stamp)
        return -1;
    for (size_t i = 0; i < cells->count; i++)
        if (cells->cells[i].is_open)
            tally_cell(game, &cells->cells[i], 1);
    guess_rates(game);
    for (size_t i = 0; i < candidates; i++) {
        const struct tally *tally = &game->tallies[i];

        if (tally->low[0] + tally->low[1] >= 2 && !is_hopeless(game, i))
            game->heap[game->heap_count++] = (struct entry){(float)score_of(game, i), (unsigned)i};
    }
    for (size_t i = game->heap_count / 2; i-- > 0;)
        sift_down(game, i);
    return 0;
}

/* Of the rate of low cells that are left one more than was seen is taken, so that none seen does
 * not make it impossible. */
static double confidence_of(const struct pursuit *pursuit, const struct accused *part)
{
    double ratio = 0;

    for (int region = 0; region < CELL_REGIONS; region++)
        ratio +=
            likelihood((double)part->low[region], (double)part->all[region],
                       ((double)pursuit->low[region] + 1) / ((double)pursuit->all[region] + 2));
    if (part->is_partial && !is_of_node(part->kind))
        ratio /= collision_size;
    return 1 - fmin(1, part->candidates * exp(-ratio));
}

/* The rates that are left, and what each accusation is worth at them. */
static void settle(struct game *game)
{
    struct pursuit *pursuit = game->pursuit;

    for (size_t i = 0; i < game->cells->count; i++) {
        const struct cell *cell = &game->cells->cells[i];

        if (!cell->is_open)
            continue;
        pursuit->all[cell->region] += 1U + cell->again;
        pursuit->low[cell->region] += cell->is_low ? 1U + cell->again : 0;
    }
    for (size_t i = 0; i < pursuit->count; i++) {
        pursuit->accused[i].confidence = confidence_of(pursuit, &pursuit->accused[i]);
    }
}

int pursuit_hold(struct cells *cells, enum part_kind last_kind, struct pursuit *pursuit)
{
    struct game game = {.cells = cells, .pursuit = pursuit};
    unsigned candidate;
    int rv;

    *pursuit = (struct pursuit){0};
    rv = set_up(&game, last_kind);
    while (rv == 0 && next_candidate(&game, &candidate)) {
        struct accused part = describe(&game, candidate);
        size_t count = gather(&game, &part);
        enum weighing weighing = weigh(&game, &part, count);

        part.candidates = (double)kind_size(cells, part.kind);
        if (weighing == NO_CASE)
            continue;
        explain(&game, &part, count,
                is_of_node(part.kind) || part.is_partial || weighing == CLEARED);
        if (weighing == GUILTY)
            rv = accuse(&game, &part);
    }
    if (rv == 0)
        settle(&game);
    free(game.tallies);
    free(game.heap);
    free(game.low);
    free(game.well);
    free(game.its_cells);
    free(game.stamp);
    return rv;
}

void pursuit_clear(struct pursuit *pursuit)
{
    free(pursuit->accused);
    *pursuit = (struct pursuit){0};
}
