/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/links/court.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where more than that share of pairs is low for reasons of their own a low pair says nothing,
 * unless it was low alone on the network as well. */
static const double noisy = 0.1;

enum { UNSURE_MOST = 32 }; /* pairs that are not sure, the slowest ones: to be measured again */

struct low_cell {
    int low_node, high_node;
    const struct cell *cell;
};

static int by_pair(const void *left, const void *right)
{
    const struct low_cell *a = left, *b = right;

    if (a->low_node != b->low_node)
        return a->low_node - b->low_node;
    if (a->high_node != b->high_node)
        return a->high_node - b->high_node;
    if (a->cell->rail != b->cell->rail)
        return a->cell->rail - b->cell->rail;
    return a->cell->from - b->cell->from;
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
    const struct links *links = court->links;
    double base = cells_base(&court->cells, cell);

    finding->node = cell->from;
    finding->peer = cell->to;
    finding->rail = cell->rail;
    finding->direction = is_both ? "both ways" : "sends";
    finding->value = cell->y < -20 ? 0 : base * exp(cell->y);
    finding->reference = base * exp(cell->expected);
    finding->limit = base * exp(cell->limit);
    finding->limit_source = "peers";
    snprintf(finding->part, sizeof finding->part, "path %.32s-%.32s %.20s",
             links->nodes[cell->from < cell->to ? cell->from : cell->to],
             links->nodes[cell->from < cell->to ? cell->to : cell->from], links->rails[cell->rail]);
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

/* One pair on one rail, one direction or both. */
static void judge_pair(struct court *court, const struct rates *rates, const struct low_cell *cells,
                       size_t count)
{
    const struct cell *worse = cells[0].cell;
    bool is_told = false, is_sure;
    int again = cells[0].cell->again;
    struct finding *finding;
    double others_low, rate, confidence;

    for (size_t i = 0; i < count; i++) {
        const struct cell *cell = cells[i].cell;

        worse = cell->y < worse->y ? cell : worse;
        again = cell->again < again ? cell->again : again;
    }
    others_low = rates->low[worse->region] - (double)count;
    rate = rate_of_others(rates, worse->region, count);
    /* alone on the network there is nobody to share an uplink with */
    if (again > 0 && rates->all[CELL_INSIDE] > (double)count)
        rate = fmin(rate,
                    rate_of_others(rates, CELL_INSIDE, worse->region == CELL_INSIDE ? count : 0));
    if (again == 0 && others_low > noisy * rates->all[worse->region] && !rates->is_all_pairs)
        return;
    for (size_t i = 0; i < count; i++)
        for (int receives = 0; receives < 2; receives++)
            if (is_unproved(court, cells[i].cell, receives)) {
                doubt_end(court, cells[i].cell, receives);
                is_told = true;
            }
    if (is_told)
        return;
    confidence =
        again > 0 ? rates->again * pow(rate, again) : (double)court->cells.count / 2 * rate;
    confidence = 1 - fmin(1, confidence);
    is_sure = confidence >= court->limits.sure;
    finding =
        findings_add(&court->findings, FINDING_PAIR, is_sure ? VERDICT_FAIL : VERDICT_UNKNOWN);
    finding->confidence = confidence;
    finding->share = 1;
    finding->again = again;
    finding->sample_count = (int)count;
    describe(court, finding, worse, count > 1);
}

/* Of the pairs that are not sure and were not measured again only the slowest ones stay. */
static int slowest_first(const void *left, const void *right)
{
    const struct finding *a = *(const struct finding *const *)left;
    const struct finding *b = *(const struct finding *const *)right;
    double x = a->value / a->reference, y = b->value / b->reference;

    return (x > y) - (x < y);
}

static int drop_unsure(struct court *court, size_t first)
{
    struct findings *findings = &court->findings;
    const struct finding **unsure = malloc((findings->count - first + 1) * sizeof *unsure);
    size_t count = 0, left = first;
    double bound = INFINITY;

    if (!unsure)
        return -1;
    for (size_t i = first; i < findings->count; i++)
        if (findings->items[i].kind == FINDING_PAIR &&
            findings->items[i].verdict == VERDICT_UNKNOWN)
            unsure[count++] = &findings->items[i];
    if (count > UNSURE_MOST) {
        qsort(unsure, count, sizeof *unsure, slowest_first);
        bound = unsure[UNSURE_MOST]->value / unsure[UNSURE_MOST]->reference;
    }
    for (size_t i = first; i < findings->count; i++) {
        const struct finding *finding = &findings->items[i];

        if (finding->kind != FINDING_PAIR || finding->verdict != VERDICT_UNKNOWN ||
            finding->value / finding->reference < bound)
            findings->items[left++] = *finding;
    }
    findings->count = left;
    free(unsure);
    return 0;
}

int court_pairs(struct court *court)
{
    size_t count = 0, first = court->findings.count;
    struct rates rates = find_rates(&court->cells);
    struct low_cell *low;

    for (size_t i = 0; i < court->cells.count; i++)
        count += court->cells.cells[i].is_low && court->cells.cells[i].is_open;
    low = malloc((count + 1) * sizeof *low);
    if (!low)
        return -1;
    count = 0;
    for (size_t i = 0; i < court->cells.count; i++) {
        const struct cell *cell = &court->cells.cells[i];

        if (cell->is_low && cell->is_open)
            low[count++] = (struct low_cell){cell->from < cell->to ? cell->from : cell->to,
                                             cell->from < cell->to ? cell->to : cell->from, cell};
    }
    if (count > 0)
        qsort(low, count, sizeof *low, by_pair);
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1;
             next < count && low[next].low_node == low[i].low_node &&
             low[next].high_node == low[i].high_node && low[next].cell->rail == low[i].cell->rail;
             next++)
            continue;
        judge_pair(court, &rates, &low[i], next - i);
    }
    free(low);
    return drop_unsure(court, first);
}
