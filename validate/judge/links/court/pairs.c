/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/judge_constants.h"
#include "validate/judge/links/court/court.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct low_cell {
    int low_node, high_node;
    const struct cell *cell;
};

/* Sorts by one of the nodes, stable. begin: [nodes + 1], work space; sorted: room for count. */
static void sort_by(const struct low_cell *low, size_t count, size_t nodes, bool by_high,
                    size_t *begin, struct low_cell *sorted)
{
    memset(begin, 0, (nodes + 1) * sizeof *begin);
    for (size_t i = 0; i < count; i++)
        begin[(by_high ? low[i].high_node : low[i].low_node) + 1]++;
    for (size_t node = 0; node < nodes; node++)
        begin[node + 1] += begin[node];
    for (size_t i = 0; i < count; i++)
        sorted[begin[by_high ? low[i].high_node : low[i].low_node]++] = low[i];
}

/* The low cells that no part explains, by pair, rail and sender. malloc'd; NULL: memory is out. */
static struct low_cell *gather(const struct cells *cells, size_t *count)
{
    size_t most = 0, found = 0, *begin = malloc((cells->nodes + 1) * sizeof *begin);
    struct low_cell *low, *sorted;

    for (size_t i = 0; i < cells->count; i++)
        most += cells->cells[i].is_low && cells->cells[i].is_open;
    low = malloc((most + 1) * sizeof *low);
    sorted = malloc((most + 1) * sizeof *sorted);
    for (size_t rail = 0; rail < cells->rails && low; rail++)
        for (size_t node = 0; node < cells->nodes; node++) {
            size_t end = node * cells->rails + rail;

            for (size_t i = cells->out_begin[end]; i < cells->out_begin[end + 1]; i++) {
                const struct cell *cell = &cells->cells[i];
                bool is_forth = cell->from < cell->to;

                if (cell->is_low && cell->is_open)
                    low[found++] = (struct low_cell){is_forth ? cell->from : cell->to,
                                                     is_forth ? cell->to : cell->from, cell};
            }
        }
    if (low && sorted && begin) {
        sort_by(low, found, cells->nodes, true, begin, sorted);
        sort_by(sorted, found, cells->nodes, false, begin, low);
    } else {
        free(low);
        low = NULL;
    }
    free(begin);
    free(sorted);
    *count = found;
    return low;
}

/* Nobody says that the end is well: the pair cannot be told from it. */
static bool is_unproved(const struct court *court, const struct cell *cell, int receives)
{
    int node = receives ? cell->to : cell->from;

    return court->good[receives][(size_t)node * court->links->rail_count + (size_t)cell->rail] == 0;
}

static void describe(const struct court *court, struct finding *finding, const struct cell *cell,
                     bool is_both)
{
    double base = cells_base(&court->cells, cell);

    finding->node = cell->from;
    finding->peer = cell->to;
    finding->rail = cell->rail;
    finding->direction = is_both ? "both ways" : "sends";
    finding->value = cell->y < -20 ? 0 : base * exp(cell->y);
    finding->reference = base * exp(cell->expected);
    finding->limit = base * exp(cell->limit);
    finding->limit_source = "peers";
    findings_name_path(&court->findings, finding);
    snprintf(finding->message, sizeof finding->message,
             "%s carries %.0f of %.0f Mb/s%s; with other partners both ends do well", finding->part,
             finding->value, finding->reference,
             is_both                 ? ""
             : cell->from < cell->to ? " from the first to the second"
                                     : " from the second to the first");
}

static void doubt_end(struct court *court, const struct cell *cell, int receives)
{
    int node = receives ? cell->to : cell->from;
    size_t end = (size_t)node * court->links->rail_count + (size_t)cell->rail;
    bool is_nominal = court->cells.has_nominal[cell->rail] && !court->cells.is_fabric[cell->rail];
    double base = cells_base(&court->cells, cell);
    struct finding *finding;

    if (court->is_accused[end])
        return;
    court->is_accused[end] = true;
    finding = findings_add(&court->findings, FINDING_AMBIGUOUS, VERDICT_UNKNOWN);
    finding->node = node;
    finding->rail = cell->rail;
    finding->direction = "both ways";
    finding->value = cell->y < -20 ? 0 : base * exp(cell->y);
    finding->reference = is_nominal ? base : base * exp(cell->expected);
    finding->limit = base * exp(cell->first_limit);
    finding->limit_source = is_nominal ? "nominal" : "peers";
    snprintf(finding->part, sizeof finding->part, "%.90s", court->links->rails[cell->rail]);
    snprintf(finding->message, sizeof finding->message,
             "%s sends and receives %.0f of %.0f Mb/s (%s) at best: the node, or the path to its "
             "partners; certify it with more partners",
             finding->part, finding->value, finding->reference, finding->limit_source);
}

/* Cells that no part explains, those that were low the first time, and how many of these were
 * measured again. */
struct rates {
    double low[CELL_REGIONS], all[CELL_REGIONS], again;
    bool is_all_pairs; /* nearly each pair was measured: a slow one is worth looking for */
};

static struct rates find_rates(const struct cells *cells)
{
    struct rates rates = {.is_all_pairs =
                              2 * cells->count > cells->nodes * (cells->nodes - 1) * cells->rails};

    for (size_t i = 0; i < cells->count; i++) {
        const struct cell *cell = &cells->cells[i];

        if (!cell->is_open)
            continue;
        rates.all[cell->region]++;
        rates.low[cell->region] += cell->was_low;
        rates.again += cell->was_low && cell->again > 0;
    }
    return rates;
}

/* One more than was seen, so that none seen does not make it impossible. */
static double rate_of_others(const struct rates *rates, int region, size_t own)
{
    return (rates->low[region] - (double)own + 1) / (rates->all[region] - (double)own + 2);
}

/* One pair on one rail, one direction or both: low cells of it, and how sure it is. */
struct suspicion {
    const struct low_cell *cells;
    size_t count;
    const struct cell *worse; /* of the two directions */
    int again;                /* times that both were measured alone */
    double confidence;
    float chance; /* logarithm of how many pairs are as low as that on both directions */
};

/* How far below expectation the low cells of each region are, the lowest first. */
struct depths {
    float *values[CELL_REGIONS];
    size_t count[CELL_REGIONS];
};

static int by_value(const void *left, const void *right)
{
    const float *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static float depth_of(const struct cell *cell)
{
    return cell->y - cell->expected;
}

static int depths_make(const struct low_cell *low, size_t count, struct depths *depths)
{
    for (int region = 0; region < CELL_REGIONS; region++) {
        depths->values[region] = malloc((count + 1) * sizeof *depths->values[region]);
        if (!depths->values[region])
            return -1;
        for (size_t i = 0; i < count; i++)
            if (low[i].cell->region == region)
                depths->values[region][depths->count[region]++] = depth_of(low[i].cell);
        qsort(depths->values[region], depths->count[region], sizeof *depths->values[region],
              by_value);
    }
    return 0;
}

static void depths_clear(struct depths *depths)
{
    for (int region = 0; region < CELL_REGIONS; region++)
        free(depths->values[region]);
}

/* The share of the region's cells that are as low as that one. */
static double share_as_low(const struct depths *depths, const struct rates *rates,
                           const struct cell *cell)
{
    const float *values = depths->values[cell->region];
    size_t low = 0, high = depths->count[cell->region];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (values[middle] <= depth_of(cell))
            low = middle + 1;
        else
            high = middle;
    }
    return ((double)low + 1) / (rates->all[cell->region] + 2);
}

static struct suspicion suspect(const struct court *court, const struct rates *rates,
                                const struct low_cell *cells, size_t count)
{
    struct suspicion pair = {
        .cells = cells, .count = count, .worse = cells[0].cell, .again = cells[0].cell->again};
    double rate, chances;

    for (size_t i = 1; i < count; i++) {
        pair.worse = cells[i].cell->y < pair.worse->y ? cells[i].cell : pair.worse;
        pair.again = cells[i].cell->again < pair.again ? cells[i].cell->again : pair.again;
    }
    rate = rate_of_others(rates, pair.worse->region, count);
    /* alone on the network there is nobody to share an uplink with */
    if (pair.again > 0 && rates->all[CELL_INSIDE] > (double)count)
        rate = fmin(rate, rate_of_others(rates, CELL_INSIDE,
                                         pair.worse->region == CELL_INSIDE ? count : 0));
    chances = pair.again > 0 ? rates->again * pow(rate, pair.again)
                             : (double)court->cells.count / 2 * rate;
    pair.confidence = 1 - fmin(1, chances);
    return pair;
}

/* Whether a low pair says anything where as many are. */
static bool is_worth_a_word(const struct rates *rates, const struct suspicion *pair)
{
    double others_low = rates->low[pair->worse->region] - (double)pair->count;

    return pair->again > 0 || rates->is_all_pairs ||
           others_low <= PAIRS_NOISY * rates->all[pair->worse->region];
}

/* Whether the pair could be the fault of an end that nobody vouches for, and says so. */
static bool doubt_ends(struct court *court, const struct suspicion *pair)
{
    bool is_told = false;

    for (size_t i = 0; i < pair->count; i++)
        for (int receives = 0; receives < 2; receives++)
            if (is_unproved(court, pair->cells[i].cell, receives)) {
                doubt_end(court, pair->cells[i].cell, receives);
                is_told = true;
            }
    return is_told;
}

static void tell(struct court *court, const struct suspicion *pair)
{
    bool is_sure = pair->confidence >= court->limits.sure;
    struct finding *finding =
        findings_add(&court->findings, FINDING_PAIR, is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN);

    finding->confidence = pair->confidence;
    finding->share = 1;
    finding->again = pair->again;
    finding->sample_count = (int)pair->count;
    describe(court, finding, pair->worse, pair->count > 1);
}

static size_t unsure_most(const struct cells *cells, const struct rates *rates)
{
    size_t most = cells->nodes * cells->block_count / (2 * PAIRS_UNSURE_PART);

    return rates->is_all_pairs && most > PAIRS_UNSURE_LEAST ? most : PAIRS_UNSURE_LEAST;
}

/* Tells of those that are least likely by chance. values: work space. */
static void tell_unlikely(struct court *court, const struct rates *rates,
                          const struct suspicion *unsure, size_t count, float *values)
{
    size_t most = unsure_most(&court->cells, rates);
    float bound = INFINITY;

    for (size_t i = 0; i < count; i++)
        values[i] = unsure[i].chance;
    if (count > most)
        bound = cells_rank(values, count, most - 1);
    for (size_t i = 0; i < count && most > 0; i++)
        if (unsure[i].chance <= bound) {
            tell(court, &unsure[i]);
            most--;
        }
}

/* Tells of those that are sure, and of some that are not. */
static int tell_all(struct court *court, const struct rates *rates, const struct low_cell *low,
                    size_t count)
{
    struct depths depths = {{NULL}, {0}};
    struct suspicion *unsure = malloc((count + 1) * sizeof *unsure);
    size_t unsure_count = 0;
    int rv = unsure ? depths_make(low, count, &depths) : -1;

    for (size_t i = 0, next; i < count && rv == 0; i = next) {
        struct suspicion pair;

        for (next = i + 1;
             next < count && low[next].low_node == low[i].low_node &&
             low[next].high_node == low[i].high_node && low[next].cell->rail == low[i].cell->rail;
             next++)
            continue;
        pair = suspect(court, rates, &low[i], next - i);
        if (!is_worth_a_word(rates, &pair) || doubt_ends(court, &pair))
            continue;
        for (size_t k = i; k < next; k++)
            pair.chance += (float)log(share_as_low(&depths, rates, low[k].cell));
        if (pair.confidence >= court->limits.sure)
            tell(court, &pair);
        else
            unsure[unsure_count++] = pair;
    }
    if (rv == 0)
        tell_unlikely(court, rates, unsure, unsure_count, depths.values[0]);
    depths_clear(&depths);
    free(unsure);
    return rv;
}

/* With how many partners the end was measured, in the direction in which these are more. */
static int partners_of(const struct court *court, int node, int rail)
{
    const struct cells *cells = &court->cells;
    size_t end = (size_t)node * court->links->rail_count + (size_t)rail;
    size_t sends = cells->out_begin[end + 1] - cells->out_begin[end];
    size_t receives = cells->in_begin[end + 1] - cells->in_begin[end];

    return (int)(sends > receives ? sends : receives);
}

static bool is_sure_path(const struct finding *finding, int node, int rail)
{
    return finding->kind == FINDING_PAIR && finding->verdict == VERDICT_FAIL &&
           finding->rail == rail && (finding->node == node || finding->peer == node);
}

/* Makes one finding about the end of those about its paths. */
static void join_paths(struct court *court, int node, int rail, int count)
{
    struct findings *findings = &court->findings;
    struct finding *joined = NULL;
    size_t left = 0;

    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];

        if (!is_sure_path(finding, node, rail)) {
            findings->items[left++] = *finding;
        } else if (!joined) {
            joined = &findings->items[left++];
            *joined = *finding;
        } else {
            if (finding->value < joined->value) {
                joined->value = finding->value;
                joined->reference = finding->reference;
                joined->limit = finding->limit;
            }
            joined->confidence = fmax(joined->confidence, finding->confidence);
            joined->again = joined->again < finding->again ? joined->again : finding->again;
            joined->sample_count += finding->sample_count;
        }
    }
    findings->count = left;
    joined->kind = FINDING_RAIL;
    joined->node = node;
    joined->peer = -1;
    joined->direction = "both ways";
    joined->is_intermittent = true;
    joined->share = (double)count / partners_of(court, node, rail);
    snprintf(joined->part, sizeof joined->part, "%.90s", court->links->rails[rail]);
    snprintf(joined->message, sizeof joined->message,
             "%s runs at %.0f of %.0f Mb/s with %d of its %d partners, which do well with others: "
             "it comes and goes; check cable or switch port",
             joined->part, joined->value, joined->reference, count, partners_of(court, node, rail));
    court->is_accused[(size_t)node * court->links->rail_count + (size_t)rail] = true;
}

/* Paths that are at fault and have one end in common are one fault, of that end, when they are half
 * of its paths: cables of pairs that fail each by itself do not meet there. Returns whether there
 * was one. */
static bool join_worst_end(struct court *court)
{
    const struct findings *findings = &court->findings;
    int most = 1, node = -1, rail = -1;

    for (size_t i = 0; i < findings->count; i++) {
        int ends[] = {findings->items[i].node, findings->items[i].peer};

        for (int k = 0;
             k < 2 && is_sure_path(&findings->items[i], ends[k], findings->items[i].rail); k++) {
            int count = 0;

            for (size_t other = 0; other < findings->count; other++)
                count += is_sure_path(&findings->items[other], ends[k], findings->items[i].rail);
            if (count > most && 2 * count >= partners_of(court, ends[k], findings->items[i].rail)) {
                most = count;
                node = ends[k];
                rail = findings->items[i].rail;
            }
        }
    }
    if (node >= 0)
        join_paths(court, node, rail, most);
    return node >= 0;
}

int court_pairs(struct court *court)
{
    struct rates rates = find_rates(&court->cells);
    size_t count;
    struct low_cell *low = gather(&court->cells, &count);
    int rv;

    if (!low)
        return -1;
    rv = tell_all(court, &rates, low, count);
    while (rv == 0 && join_worst_end(court))
        continue;
    free(low);
    return rv;
}
