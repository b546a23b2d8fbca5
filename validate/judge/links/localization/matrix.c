/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/links/localization/matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

static bool is_metric(const struct record *record, const char *metric)
{
    return record->metric && strcmp(record->metric, metric) == 0;
}

bool matrix_is_measurement(const struct record *record)
{
    return strcmp(record->suite, "links") == 0 && strcmp(record->test, "links") == 0 &&
           record->node && record->peer && record->part &&
           (is_metric(record, "bandwidth") || is_metric(record, "latency") ||
            is_metric(record, "bandwidth_together") || is_metric(record, "bandwidth_received"));
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int rail_find(const struct matrix *matrix, const char *name)
{
    for (size_t i = 0; i < matrix->rail_count; i++)
        if (strcmp(matrix->rails[i], name) == 0)
            return (int)i;
    return -1;
}

static int rail_add(struct matrix *matrix, const char *name)
{
    if (rail_find(matrix, name) >= 0)
        return 0;
    if (!GROW(matrix->rails, matrix->rail_count))
        return -1;
    matrix->rails[matrix->rail_count] = strdup(name);
    return matrix->rails[matrix->rail_count] ? (matrix->rail_count++, 0) : -1;
}

void matrix_clear(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->rail_count; i++)
        free(matrix->rails[i]);
    free(matrix->rails);
    free(matrix->cells.items);
    free(matrix->cells.slots);
    free(matrix->together.items);
    free(matrix->together.slots);
    free(matrix->moments);
    free(matrix->nominal_mbps);
    free(matrix->blocks);
    free(matrix->block_names);
    name_index_clear(&matrix->by_node);
    hostlist_clear(&matrix->nodes);
    *matrix = (struct matrix){0};
}

/* The speeds of the rails that their nodes stated: the configuration's, else what the nodes told
 * first. */
static void find_nominals(const struct matrix_source *source, size_t first, struct matrix *matrix)
{
    size_t rails = matrix->rail_count;

    for (size_t i = first; i < source->records->count; i++) {
        const struct record *record = &source->records->items[i];
        long node;
        int rail;

        if (!record->node || !record->part || !is_metric(record, "speed") || !record->unit ||
            strcmp(record->unit, "Mb/s") != 0)
            continue;
        node = name_index_find(&matrix->by_node, record->node);
        rail = rail_find(matrix, record->part);
        if (node >= 0 && rail >= 0 &&
            !(matrix->nominal_mbps[(size_t)node * rails + (size_t)rail] > 0))
            matrix->nominal_mbps[(size_t)node * rails + (size_t)rail] = record->value;
    }
}

/* More than nominal is what a busy machine makes of the clock's readings, and would raise what is
 * asked of the peers. */
static double clamp(double mbps, double nominal_mbps)
{
    return nominal_mbps > 0 && mbps > nominal_mbps ? nominal_mbps : mbps;
}

static size_t slot_of(const struct matrix_cells *cells, int from, int to, int rail)
{
    uint64_t key =
        ((uint64_t)from << 40 ^ (uint64_t)to << 16 ^ (uint64_t)rail) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot =
        (size_t)((key ^ key >> 32) * UINT64_C(0xbf58476d1ce4e5b9) >> 24) & (cells->slot_count - 1);

    for (; cells->slots[slot] > 0; slot = (slot + 1) & (cells->slot_count - 1)) {
        const struct link_sample *cell = &cells->items[cells->slots[slot] - 1];

        if (cell->from == from && cell->to == to && cell->rail == rail)
            break;
    }
    return slot;
}

/* Makes room for as many cells again. */
static int cells_grow(struct matrix_cells *cells)
{
    size_t size = cells->size ? 2 * cells->size : 1024;
    struct link_sample *items = realloc(cells->items, size * sizeof *items);
    unsigned *slots = calloc(2 * size, sizeof *slots);

    if (items)
        cells->items = items;
    if (!items || !slots) {
        free(slots);
        return -1;
    }
    free(cells->slots);
    cells->slots = slots;
    cells->size = size;
    cells->slot_count = 2 * size;
    for (size_t i = 0; i < cells->count; i++)
        slots[slot_of(cells, items[i].from, items[i].to, items[i].rail)] = (unsigned)i + 1;
    return 0;
}

/* NULL: memory is out. */
static struct link_sample *cell_of(struct matrix_cells *cells, int from, int to, int rail)
{
    size_t slot;

    if (cells->count == cells->size && cells_grow(cells) != 0)
        return NULL;
    slot = slot_of(cells, from, to, rail);
    if (cells->slots[slot] == 0) {
        cells->items[cells->count] = (struct link_sample){
            .from = from, .to = to, .rail = rail, .mbps = NAN, .latency_us = NAN};
        cells->slots[slot] = (unsigned)++cells->count;
    }
    return &cells->items[cells->slots[slot] - 1];
}

/* What the receiver says of the transfer: the record beside it. NULL: it says nothing. */
static const struct record *received_of(const struct records *records, size_t i)
{
    const struct record *record = &records->items[i];

    for (size_t k = i > 0 ? i - 1 : 0; k <= i + 1 && k < records->count; k++) {
        const struct record *other = &records->items[k];

        if (matrix_is_measurement(other) && is_metric(other, "bandwidth_received") &&
            strcmp(other->node, record->node) == 0 && strcmp(other->peer, record->peer) == 0 &&
            strcmp(other->part, record->part) == 0)
            return other;
    }
    return NULL;
}

/* What the path has shown while it was alone on the network, without the time in which its ends
 * were not let run. That is no more than the receiver's counter saw in the best part: a sender that
 * was not let run sees several samples end at once, and the last of them look fast. */
static double best_of(const struct record *record, const struct record *received)
{
    double most = record->high;

    if (received)
        most = isnan(received->high) ? fmin(record->high, received->value) : received->high;
    if (record->stalled < 1)
        most = fmin(most, record->value / (1 - record->stalled));
    return fmax(record->value, most);
}

double matrix_isolated_mbps(const struct records *records, size_t i)
{
    return best_of(&records->items[i], received_of(records, i));
}

/* fmax() of NAN and a number is the number. The low end of the repeats is that of the record whose
 * value counts, or of the last one alone on the network. Returns what the record says. */
static double take_bandwidth(struct link_sample *cell, const struct record *record,
                             const struct record *received, double nominal_mbps, int look)
{
    bool is_again = look > 0;
    double mbps = clamp(is_again ? best_of(record, received) : record->value, nominal_mbps);
    float stalled = isnan(record->stalled) ? 1 : (float)record->stalled;

    if (is_again || !(cell->mbps >= mbps))
        cell->low_mbps = isnan(record->low) ? 0 : (float)record->low;
    if (is_again && record->stalled > LINKS_QUIET)
        cell->low_mbps =
            (float)mbps; /* the low samples are of moments in which nobody was let run */
    if (is_again)
        cell->stalled = fmaxf(cell->stalled, stalled);
    else if (!(cell->mbps >= mbps))
        cell->first_stalled = stalled;
    if (is_again && cell->again == 0 && !isnan(cell->mbps)) {
        cell->first_mbps = (float)cell->mbps;
        if (record->stalled < LINKS_QUIET)
            cell->mbps = NAN; /* alone and let run it can do what it can */
    }
    cell->mbps = fmax(cell->mbps, mbps);
    cell->again += cell->look != look;
    cell->look = look;
    if (record->shared > 0 && !is_again)
        cell->load = (int)record->shared;
    return mbps;
}

/* Keeps what a measurement said by itself. stalled: the share of its time in which the ends were
 * not let run. */
static int keep(struct matrix *matrix, const struct link_sample *cell, double mbps, float stalled,
                bool is_again)
{
    if (!GROW(matrix->moments, matrix->moment_count))
        return -1;
    matrix->moments[matrix->moment_count++] = (struct link_sample){.from = cell->from,
                                                                   .to = cell->to,
                                                                   .rail = cell->rail,
                                                                   .mbps = mbps,
                                                                   .latency_us = NAN,
                                                                   .first_stalled = stalled,
                                                                   .again = is_again,
                                                                   .look = cell->look};
    return 0;
}

static int take_bandwidth_and_keep(struct matrix *matrix, struct link_sample *cell,
                                   const struct records *records, size_t i, int look)
{
    bool is_again = look > 0;
    const struct record *record = &records->items[i];
    double nominal =
        matrix->nominal_mbps[(size_t)cell->from * matrix->rail_count + (size_t)cell->rail];
    double before = cell->mbps, mbps;
    float stalled = cell->first_stalled;

    mbps = take_bandwidth(cell, record, is_again ? received_of(records, i) : NULL, nominal, look);
    if (is_again && record->stalled < LINKS_QUIET)
        return keep(matrix, cell, mbps, (float)record->stalled, true);
    if (is_again || isnan(before) || isnan(mbps))
        return 0;
    if (mbps < before || isnan(record->stalled))
        stalled = isnan(record->stalled) ? 1 : (float)record->stalled;
    return keep(matrix, cell, fmin(before, mbps), stalled, false);
}

static int take(struct matrix *matrix, const struct records *records, size_t i, int look)
{
    const struct record *record = &records->items[i];
    long from = name_index_find(&matrix->by_node, record->node);
    long to = name_index_find(&matrix->by_node, record->peer);
    int rail = rail_find(matrix, record->part);
    bool is_together = is_metric(record, "bandwidth_together");
    struct link_sample *cell;

    if (from < 0 || to < 0)
        return 0;
    cell = cell_of(is_together ? &matrix->together : &matrix->cells, (int)from, (int)to, rail);
    if (!cell)
        return -1;
    if (is_metric(record, "latency"))
        cell->latency_us = (float)fmin(cell->latency_us, fmin(record->value, record->low));
    else if (is_metric(record, "bandwidth_received"))
        cell->received_mbps = (float)fmax(
            cell->received_mbps, look > 0 ? fmax(record->value, record->high) : record->value);
    else if (is_together)
        take_bandwidth(cell, record, NULL, NAN, look);
    else
        return take_bandwidth_and_keep(matrix, cell, records, i, look);
    return 0;
}

static int fill(const struct matrix_source *source, size_t first, size_t again,
                struct matrix *matrix)
{
    const struct records *records = source->records;
    int rv = 0;

    for (size_t i = first; i < records->count && rv == 0; i++)
        if (matrix_is_measurement(&records->items[i]))
            rv = take(matrix, records, i, i >= again ? matrix->looks : 0);
    return rv;
}

int matrix_add(const struct matrix_source *source, size_t first, struct matrix *matrix)
{
    const struct records *records = source->records;

    for (size_t i = first; i < records->count; i++)
        if (matrix_is_measurement(&records->items[i]) &&
            rail_find(matrix, records->items[i].part) < 0)
            return 1;
    find_nominals(source, first, matrix);
    matrix->looks++;
    return fill(source, first, first, matrix);
}

/* The nodes at hand are on some of the cluster's leaf switches: those that none is on are no blocks
 * that the others could be held against. */
static int number_blocks(const struct matrix_source *source, struct matrix *matrix)
{
    size_t n = matrix->nodes.count, leaves = 0;
    int *numbers, count = 0;

    for (size_t i = 0; i < n; i++)
        if (source->leaves[i] >= 0 && (size_t)source->leaves[i] >= leaves)
            leaves = (size_t)source->leaves[i] + 1;
    numbers = calloc(leaves + 1, sizeof *numbers);
    matrix->blocks = malloc((n + 1) * sizeof *matrix->blocks);
    if (source->leaf_names)
        matrix->block_names = calloc(leaves + 1, sizeof *matrix->block_names);
    if (!numbers || !matrix->blocks || (source->leaf_names && !matrix->block_names)) {
        free(numbers);
        return -1;
    }
    for (size_t i = 0; i < n; i++)
        if (source->leaves[i] >= 0)
            numbers[source->leaves[i]] = 1;
    for (size_t leaf = 0; leaf < leaves; leaf++)
        if (numbers[leaf] > 0) {
            if (matrix->block_names)
                matrix->block_names[count] = source->leaf_names[leaf];
            numbers[leaf] = count++;
        }
    for (size_t i = 0; i < n; i++)
        matrix->blocks[i] = source->leaves[i] < 0 ? -1 : numbers[source->leaves[i]];
    free(numbers);
    return 0;
}

int matrix_build(const struct matrix_source *source, size_t first, size_t again,
                 struct matrix *matrix)
{
    const struct hostlist *names = source->names;
    size_t n = names->count;

    *matrix = (struct matrix){0};
    for (size_t i = 0; i < n; i++)
        if (hostlist_append(&matrix->nodes, names->names[i]) != 0)
            return -1;
    if (name_index_build((const char *const *)matrix->nodes.names, n, &matrix->by_node) != 0)
        return -1;
    for (size_t i = first; i < source->records->count; i++)
        if (matrix_is_measurement(&source->records->items[i]) &&
            rail_add(matrix, source->records->items[i].part) != 0)
            return -1;
    if (matrix->rail_count > 1)
        qsort(matrix->rails, matrix->rail_count, sizeof *matrix->rails, by_name);
    matrix->nominal_mbps = calloc(n * matrix->rail_count + 1, sizeof *matrix->nominal_mbps);
    if (!matrix->nominal_mbps || number_blocks(source, matrix) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < matrix->rail_count; k++)
            matrix->nominal_mbps[i * matrix->rail_count + k] =
                conf_nominal_mbps(source->conf, matrix->rails[k]);
    find_nominals(source, 0, matrix);
    matrix->looks = again < source->records->count;
    return fill(source, first, again, matrix);
}

struct links matrix_links(const struct matrix *matrix)
{
    bool has_blocks = true;

    for (size_t i = 0; i < matrix->nodes.count; i++)
        has_blocks = has_blocks && matrix->blocks[i] >= 0;
    return (struct links){.node_count = matrix->nodes.count,
                          .rail_count = matrix->rail_count,
                          .nodes = (const char *const *)matrix->nodes.names,
                          .rails = (const char *const *)matrix->rails,
                          .blocks = has_blocks ? matrix->blocks : NULL,
                          .block_names = matrix->block_names,
                          .nominal_mbps = matrix->nominal_mbps,
                          .samples = matrix->cells.items,
                          .sample_count = matrix->cells.count,
                          .together = matrix->together.items,
                          .together_count = matrix->together.count,
                          .moments = matrix->moments,
                          .moment_count = matrix->moment_count};
}

double matrix_pair_mbps(const struct matrix *matrix, int node, int peer, int rail)
{
    double there = NAN, back = NAN;

    for (size_t i = 0; i < matrix->cells.count; i++) {
        const struct link_sample *cell = &matrix->cells.items[i];

        if (cell->rail != rail)
            continue;
        if (cell->from == node && cell->to == peer)
            there = cell->mbps;
        if (cell->from == peer && cell->to == node)
            back = cell->mbps;
    }
    return fmin(there, back);
}
