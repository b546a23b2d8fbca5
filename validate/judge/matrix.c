/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/judge/matrix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool matrix_is_measurement(const struct record *record)
{
    return strcmp(record->suite, "links") == 0 && strcmp(record->test, "links") == 0 &&
           record->metric && record->node && record->peer && record->part &&
           (strcmp(record->metric, "bandwidth") == 0 || strcmp(record->metric, "latency") == 0);
}

static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static int rail_index(struct matrix *matrix, const char *name)
{
    char **grown;

    for (size_t i = 0; i < matrix->rail_count; i++)
        if (strcmp(matrix->rails[i], name) == 0)
            return (int)i;
    grown = realloc(matrix->rails, (matrix->rail_count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    matrix->rails = grown;
    grown[matrix->rail_count] = strdup(name);
    return grown[matrix->rail_count] ? (int)matrix->rail_count++ : -1;
}

void matrix_clear(struct matrix *matrix)
{
    for (size_t i = 0; i < matrix->rail_count; i++)
        free(matrix->rails[i]);
    free(matrix->rails);
    free(matrix->cells);
    free(matrix->nominal_mbps);
    free(matrix->blocks);
    name_index_clear(&matrix->by_node);
    hostlist_clear(&matrix->nodes);
    *matrix = (struct matrix){0};
}

/* The speed of a rail that its node stated: the configuration's, else what the node told. */
static double nominal_of(const struct matrix_source *source, const char *node, const char *rail)
{
    double mbps = conf_nominal_mbps(source->conf, rail);

    for (size_t i = 0; mbps <= 0 && i < source->records->count; i++) {
        const struct record *record = &source->records->items[i];

        if (record->node && record->part && record->metric && record->unit &&
            strcmp(record->metric, "speed") == 0 && strcmp(record->unit, "Mb/s") == 0 &&
            strcmp(record->node, node) == 0 && strcmp(record->part, rail) == 0)
            mbps = record->value;
    }
    return mbps;
}

/* More than nominal is what a busy machine makes of the clock's readings, and would raise what is
 * asked of the peers. */
static double clamp(double mbps, double nominal_mbps)
{
    return nominal_mbps > 0 && mbps > nominal_mbps ? nominal_mbps : mbps;
}

int matrix_build(const struct matrix_source *source, size_t first, size_t again,
                 struct matrix *matrix)
{
    const struct hostlist *names = source->names;
    size_t n = names->count, r, cells;

    *matrix = (struct matrix){0};
    for (size_t i = 0; i < n; i++)
        if (hostlist_append(&matrix->nodes, names->names[i]) != 0)
            return -1;
    if (name_index_build((const char *const *)matrix->nodes.names, n, &matrix->by_node) != 0)
        return -1;
    for (size_t i = first; i < source->records->count; i++)
        if (matrix_is_measurement(&source->records->items[i]) &&
            rail_index(matrix, source->records->items[i].part) < 0)
            return -1;
    r = matrix->rail_count;
    if (r > 1)
        qsort(matrix->rails, r, sizeof *matrix->rails, by_name);
    cells = n * n * r;
    matrix->cells = calloc(cells + 1, sizeof *matrix->cells);
    matrix->nominal_mbps = calloc(n * r + 1, sizeof *matrix->nominal_mbps);
    matrix->blocks = calloc(n + 1, sizeof *matrix->blocks);
    if (!matrix->cells || !matrix->nominal_mbps || !matrix->blocks)
        return -1;
    for (size_t i = 0; i < cells; i++)
        matrix->cells[i] = (struct link_sample){.from = (int)(i / r / n),
                                                .to = (int)(i / r % n),
                                                .rail = (int)(i % r),
                                                .mbps = NAN,
                                                .latency_us = NAN};
    for (size_t i = 0; i < n; i++) {
        matrix->blocks[i] = source->leaves[i];
        for (size_t k = 0; k < r; k++)
            matrix->nominal_mbps[i * r + k] = nominal_of(source, names->names[i], matrix->rails[k]);
    }
    for (size_t i = first; i < source->records->count; i++) {
        const struct record *record = &source->records->items[i];
        long from = name_index_find(&matrix->by_node, record->node);
        long to = name_index_find(&matrix->by_node, record->peer);
        struct link_sample *cell;

        if (!matrix_is_measurement(record) || from < 0 || to < 0)
            continue;
        cell = &matrix->cells[((size_t)from * n + (size_t)to) * r +
                              (size_t)rail_index(matrix, record->part)];
        /* fmax() of NAN and a number is the number */
        if (strcmp(record->metric, "bandwidth") == 0)
            cell->mbps =
                fmax(cell->mbps, i < again ? record->value : fmax(record->value, record->high));
        else
            cell->latency_us = fmin(cell->latency_us, record->value);
    }
    for (size_t i = 0; i < cells; i++)
        matrix->cells[i].mbps = clamp(
            matrix->cells[i].mbps, matrix->nominal_mbps[(size_t)matrix->cells[i].from * r + i % r]);
    return 0;
}

struct links matrix_links(const struct matrix_source *source, const struct matrix *matrix,
                          struct link_sample **samples)
{
    size_t n = matrix->nodes.count, r = matrix->rail_count, count = 0;
    bool has_blocks = true;

    *samples = calloc(n * n * r + 1, sizeof **samples);
    for (size_t i = 0; *samples && i < n * n * r; i++)
        if (!isnan(matrix->cells[i].mbps) || !isnan(matrix->cells[i].latency_us))
            (*samples)[count++] = matrix->cells[i];
    for (size_t i = 0; i < n; i++)
        has_blocks = has_blocks && matrix->blocks[i] >= 0;
    return (struct links){.node_count = n,
                          .rail_count = r,
                          .nodes = (const char *const *)matrix->nodes.names,
                          .rails = (const char *const *)matrix->rails,
                          .blocks = has_blocks ? matrix->blocks : NULL,
                          .block_names = source->leaf_names,
                          .nominal_mbps = matrix->nominal_mbps,
                          .samples = *samples,
                          .sample_count = count};
}

double matrix_pair_mbps(const struct matrix *matrix, int node, int peer, int rail)
{
    size_t n = matrix->nodes.count, r = matrix->rail_count;
    double there = matrix->cells[((size_t)node * n + (size_t)peer) * r + (size_t)rail].mbps;
    double back = matrix->cells[((size_t)peer * n + (size_t)node) * r + (size_t)rail].mbps;

    return fmin(there, back);
}
