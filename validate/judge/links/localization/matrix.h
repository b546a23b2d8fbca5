/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_MATRIX_H
#define MUSTER_JUDGE_MATRIX_H

#include <stdbool.h>

#include "lib/conf/conf.h"
#include "lib/base/hostlist.h"
#include "validate/judge/index.h"
#include "validate/judge/links/links.h"
#include "validate/report/records.h"

/* A cell for each ordered pair of nodes and rail that anything was measured of. */
struct matrix_cells {
    struct link_sample *items;
    size_t count, size;
    unsigned *slots; /* place of the cell + 1, by a hash of pair and rail; 0: none */
    size_t slot_count;
};

/* What was measured, put in the judge's form. Time and memory O(records + nodes). */
struct matrix {
    struct hostlist nodes;
    struct name_index by_node;
    char **rails;
    size_t rail_count;
    struct matrix_cells cells, together; /* by metric: bandwidth and latency, bandwidth_together */
    struct link_sample *moments;         /* links.moments */
    size_t moment_count;
    int looks;            /* at suspects alone that are in it */
    double *nominal_mbps; /* nodes x rails */
    int *blocks;          /* nodes; numbers of the leaf switches that these are on, without gaps and
                             in the order of the source's; -1: not known */
    const char **block_names; /* of blocks; the source's. NULL: it has none */
};

/* Where the matrix comes from. All borrowed. */
struct matrix_source {
    const struct records *records;
    const struct conf *conf; /* the stated speeds */
    const struct hostlist *names;
    const int *leaves;             /* an index of leaf_names for each name, -1: not known */
    const char *const *leaf_names; /* of the leaf switches */
};

/* Whether the record is a bandwidth or latency of a pair and rail. */
bool matrix_is_measurement(const struct record *record);

/* What the bandwidth of that index, which was measured alone on the network, has shown at best,
 * without the time in which its ends were not let run; in Mb/s. */
double matrix_isolated_mbps(const struct records *records, size_t i);

/* Builds the matrix from the records since first. Of several records of a cell the best one counts,
 * as other work on the machines comes and goes and only ever takes away; of those since again,
 * which are measurements of suspects alone on the network, without the time in which the ends were
 * not let run. Where they were let run these replace what was measured before. Each of them is kept
 * besides, and each of several others that does not count: what is well at one time and slow at
 * another is not well. Returns 0, or -1 when
 * memory is out; to be cleared in either case. */
int matrix_build(const struct matrix_source *source, size_t first, size_t again,
                 struct matrix *matrix);

/* Adds the records since first, which are measurements of suspects alone. Returns 0, 1 when they
 * speak of a rail that the matrix does not have and nothing was added, or -1 when memory is out.
 * O(these records + nodes). */
int matrix_add(const struct matrix_source *source, size_t first, struct matrix *matrix);
void matrix_clear(struct matrix *matrix);

/* The judge's view, good as long as the matrix. */
struct links matrix_links(const struct matrix *matrix);

/* The least bandwidth that the matrix has between the two, both directions, on that rail, in Mb/s;
 * NAN when it was not measured. O(cells). */
double matrix_pair_mbps(const struct matrix *matrix, int node, int peer, int rail);

#endif
