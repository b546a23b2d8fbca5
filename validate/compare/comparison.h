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

/* Compares the facts in records, by groups. For muster certify and muster compare. */
struct comparison {
    struct golden golden; /* without groups: no golden file */
    struct fact *facts;
    size_t fact_count;
    struct fact_table table;
    struct groups groups;
    struct deviation *deviations;
    size_t count;
};

/* Reads the golden file at path; "": none. Returns 0, or -1 with err "PATH:LINE: ...". */
int comparison_golden(struct comparison *comparison, const char *path, struct error *err);

/* Compares the facts (host.config without a verdict) in the records from `first` on, of the nodes
 * for which is_wanted() holds; NULL: all. cluster: the source of the classes that `by` (enum
 * conf_compare) selects; may be NULL if `by` is 0. comparison must be zeroed before, or have a
 * golden file. Its strings belong to the records. Returns 0, or -1 with err if memory is out.
 * Release with comparison_clear() in either case. */
int comparison_make(struct comparison *comparison, const struct records *records, size_t first,
                    bool (*is_wanted)(const void *context, const char *node), const void *context,
                    const struct cluster *cluster, unsigned by, struct error *err);

/* Appends to incomplete the names of nodes whose muster check, in the records from `first` on, is
 * incomplete: its last fact, muster's version, is missing. A fact that such a node lacks may only
 * be unreported. Returns 0, or -1 if memory is out. */
int comparison_incomplete(const struct records *records, size_t first, const struct hostlist *names,
                          struct hostlist *incomplete);

/* Reads the values that only one node may have (net.addresses without a verdict) from the same
 * records. *identities is malloc'd, the caller frees it; its strings belong to the records. *nodes:
 * the number of nodes that have any. Returns 0, or -1 if memory is out. */
int identities_take(const struct records *records, size_t first,
                    bool (*is_wanted)(const void *context, const char *node), const void *context,
                    struct identity **identities, size_t *count, size_t *nodes);

void comparison_clear(struct comparison *comparison);

/* Writes the facts of the majority of each group to the file, by a temporary file that is renamed.
 * Returns 0, or -1 with err. */
int comparison_save(const struct comparison *comparison, const char *path, struct error *err);

#endif
