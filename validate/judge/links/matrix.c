/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/links/matrix.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
    char **grown;

    if (rail_find(matrix, name) >= 0)
        return 0;
    grown = realloc(matrix->rails, (matrix->rail_count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    matrix->rails = grown;
    grown[matrix->rail_count] = strdup(name);
    return grown[matrix->rail_count] ? (matrix->rail_count++, 0) : -1;
}

void matrix_clear(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->rail_count; i++)
        free(matrix->rails[i]);
    free(matrix->rails);
    free(matrix->cells);
    free(matrix->together);
    free(matrix->nominal_mbps);
    free(matrix->blocks);
    name_index_clear(&matrix->by_node);
    hostlist_clear(&matrix->nodes);
    *matrix = (struct matrix){0};
}

/* The speeds of the rails that their nodes stated: the configuration's, else what the nodes told
 * first. */
static void find_nominals(const struct matrix_source *source, struct matrix *matrix)
{
    size_t rails = matrix->rail_count;

    for (size_t i = 0; i < matrix->nodes.count; i++)
        for (size_t k = 0; k < rails; k++)
            matrix->nominal_mbps[i * rails + k] = conf_nominal_mbps(source->conf, matrix->rails[k]);
    for (size_t i = 0; i < source->records->count; i++) {
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

/* Cells by a hash of pair and rail. */
struct table {
    struct link_sample **cells; /* the array that grows */
    size_t *count, size, slot_count;
    size_t *slots; /* place of the cell + 1 */
};

static size_t slot_of(const struct table *table, int from, int to, int rail)
{
    uint64_t key =
        ((uint64_t)from << 40 ^ (uint64_t)to << 16 ^ (uint64_t)rail) * UINT64_C(0x9e3779b97f4a7c15);
    size_t slot = (size_t)(key >> 20) % table->slot_count;

    for (; table->slots[slot] > 0; slot = (slot + 1) % table->slot_count) {
        const struct link_sample *cell = &(*table->cells)[table->slots[slot] - 1];

        if (cell->from == from && cell->to == to && cell->rail == rail)
            break;
    }
    return slot;
}

static int table_make(struct table *table, size_t most, struct link_sample **cells, size_t *count)
{
    *table = (struct table){.cells = cells, .count = count, .slot_count = 2 * most + 1};
    table->slots = calloc(table->slot_count, sizeof *table->slots);
    *cells = malloc((most + 1) * sizeof **cells);
    return table->slots && *cells ? 0 : -1;
}

static struct link_sample *cell_of(struct table *table, int from, int to, int rail)
{
    size_t slot = slot_of(table, from, to, rail);

    if (table->slots[slot] == 0) {
        (*table->cells)[*table->count] = (struct link_sample){
            .from = from, .to = to, .rail = rail, .mbps = NAN, .latency_us = NAN};
        table->slots[slot] = ++*table->count;
    }
    return &(*table->cells)[table->slots[slot] - 1];
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

/* The most that the path has shown while it was alone on the network. A sender that was not let run
 * sees several samples end at once, and the last of them look fast: the receiver's counter does not
 * mind, nor does its whole time. */
static double best_of(const struct record *record, const struct record *received)
{
    if (!received)
        return fmax(record->value, record->high);
    if (!isnan(received->high))
        return fmax(record->value, received->high);
    return fmax(record->value, fmin(record->high, received->value));
}

/* fmax() of NAN and a number is the number. The low end of the repeats is that of the record whose
 * value counts, or of the last one alone on the network. */
static void take_bandwidth(struct link_sample *cell, const struct record *record,
                           const struct record *received, bool is_again)
{
    double mbps = is_again ? best_of(record, received) : record->value;

    if (is_again || !(cell->mbps >= mbps))
        cell->low_mbps = isnan(record->low) ? 0 : record->low;
    if (is_again && cell->again == 0 && !isnan(cell->mbps))
        cell->first_mbps = cell->mbps;
    cell->mbps = fmax(cell->mbps, mbps);
    cell->again += is_again;
    if (record->shared > 1 && !is_again)
        cell->load = (int)record->shared;
}

static void take(const struct matrix *matrix, const struct records *records, size_t i,
                 bool is_again, struct table *cells, struct table *together)
{
    const struct record *record = &records->items[i];
    long from = name_index_find(&matrix->by_node, record->node);
    long to = name_index_find(&matrix->by_node, record->peer);
    int rail = rail_find(matrix, record->part);
    struct link_sample *cell;

    if (from < 0 || to < 0)
        return;
    cell = cell_of(is_metric(record, "bandwidth_together") ? together : cells, (int)from, (int)to,
                   rail);
    if (is_metric(record, "latency"))
        cell->latency_us = fmin(cell->latency_us, record->value);
    else if (is_metric(record, "bandwidth_received"))
        cell->received_mbps =
            fmax(cell->received_mbps, is_again ? fmax(record->value, record->high) : record->value);
    else
        take_bandwidth(cell, record,
                       is_again && is_metric(record, "bandwidth") ? received_of(records, i) : NULL,
                       is_again);
}

static int fill(const struct matrix_source *source, size_t first, size_t again,
                struct matrix *matrix)
{
    const struct records *records = source->records;
    struct table cells, together = {0};
    size_t most = 0, most_together = 0;
    int rv;

    for (size_t i = first; i < records->count; i++)
        if (matrix_is_measurement(&records->items[i]))
            (*(is_metric(&records->items[i], "bandwidth_together") ? &most_together : &most))++;
    rv = table_make(&cells, most, &matrix->cells, &matrix->cell_count);
    if (rv == 0)
        rv = table_make(&together, most_together, &matrix->together, &matrix->together_count);
    for (size_t i = first; i < records->count && rv == 0; i++)
        if (matrix_is_measurement(&records->items[i]))
            take(matrix, records, i, i >= again, &cells, &together);
    free(cells.slots);
    free(together.slots);
    for (size_t i = 0; i < matrix->cell_count; i++) {
        struct link_sample *cell = &matrix->cells[i];

        cell->mbps = clamp(
            cell->mbps,
            matrix->nominal_mbps[(size_t)cell->from * matrix->rail_count + (size_t)cell->rail]);
    }
    return rv;
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
    matrix->blocks = calloc(n + 1, sizeof *matrix->blocks);
    if (!matrix->nominal_mbps || !matrix->blocks)
        return -1;
    memcpy(matrix->blocks, source->leaves, n * sizeof *matrix->blocks);
    find_nominals(source, matrix);
    return fill(source, first, again, matrix);
}

struct links matrix_links(const struct matrix_source *source, const struct matrix *matrix)
{
    bool has_blocks = true;

    for (size_t i = 0; i < matrix->nodes.count; i++)
        has_blocks = has_blocks && matrix->blocks[i] >= 0;
    return (struct links){.node_count = matrix->nodes.count,
                          .rail_count = matrix->rail_count,
                          .nodes = (const char *const *)matrix->nodes.names,
                          .rails = (const char *const *)matrix->rails,
                          .blocks = has_blocks ? matrix->blocks : NULL,
                          .block_names = source->leaf_names,
                          .nominal_mbps = matrix->nominal_mbps,
                          .samples = matrix->cells,
                          .sample_count = matrix->cell_count,
                          .together = matrix->together,
                          .together_count = matrix->together_count};
}

double matrix_pair_mbps(const struct matrix *matrix, int node, int peer, int rail)
{
    double there = NAN, back = NAN;

    for (size_t i = 0; i < matrix->cell_count; i++) {
        const struct link_sample *cell = &matrix->cells[i];

        if (cell->rail != rail)
            continue;
        if (cell->from == node && cell->to == peer)
            there = cell->mbps;
        if (cell->from == peer && cell->to == node)
            back = cell->mbps;
    }
    return fmin(there, back);
}
