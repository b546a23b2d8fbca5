/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMPARISON_H
#define MUSTER_COMPARISON_H

#include "lib/base/error.h"
#include "lib/conf/conf.h"
#include "validate/compare/facts/duplicates.h"
#include "validate/compare/facts/hosts.h"
#include "validate/compare/facts/majority.h"
#include "validate/report/records.h"
#include "validate/slurm/cluster.h"

/* The facts among records, in groups, and what differs. For muster certify and muster compare. */
struct comparison {
    struct golden golden; /* without groups: none */
    struct fact *facts;
    size_t fact_count;
    struct fact_table table;
    struct groups groups;
    struct deviation *deviations;
    size_t count;
};

/* Reads the golden file of that path, "" is none. Returns 0, or -1 with err "PATH:LINE: ...". */
int comparison_golden(struct comparison *comparison, const char *path, struct error *err);

/* Compares the facts (host.config without a verdict) among the records since first whose node
 * is_wanted(); NULL: all. cluster: where the classes of by (enum conf_compare) come from; may be
 * NULL when by is 0. The comparison must be zeroed before, or hold a golden file. Its strings
 * belong to the records. Returns 0, or -1 with err when memory is out. Release with
 * comparison_clear() in either case. */
int comparison_make(struct comparison *comparison, const struct records *records, size_t first,
                    bool (*is_wanted)(const void *context, const char *node), const void *context,
                    const struct cluster *cluster, unsigned by, struct error *err);

/* Appends to incomplete the names whose muster check, among the records since first, has not told
 * all: muster's version is the last that it tells. What such a node lacks it may only not have
 * told. Returns 0, or -1 when memory is out. */
int comparison_incomplete(const struct records *records, size_t first, const struct hostlist *names,
                          struct hostlist *incomplete);

/* What only one node may have (net.addresses without a verdict) among the same records. *identities
 * is malloc'd, the caller frees it; its strings belong to the records. *nodes: how many nodes told
 * any. Returns 0, or -1 when memory is out. */
int identities_take(const struct records *records, size_t first,
                    bool (*is_wanted)(const void *context, const char *node), const void *context,
                    struct identity **identities, size_t *count, size_t *nodes);

void comparison_clear(struct comparison *comparison);

/* Writes what most nodes of each group are to the file, aside and renamed. Returns 0, or -1 with
 * err. */
int comparison_save(const struct comparison *comparison, const char *path, struct error *err);

#endif
