/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_FIXTURE_H
#define MUSTER_LOCALIZATION_FIXTURE_H

#include "tests/unit/tap.h"
#include "validate/localization/localization.h"

/* Shared by tests of localization: names of nodes, rails and leaf switches, and the records of
 * measurements. */
static const char *const rails[] = {"eth1", "eth2"};
static char *names[] = {(char *)"n1", (char *)"n2", (char *)"n3", (char *)"n4", (char *)"n5",
                        (char *)"n6", (char *)"n7", (char *)"n8", (char *)"n9"};
static struct records records;
static struct localization localization;

static inline void put_record(const struct record *record)
{
    if (records_add(&records, record) != 0)
        tap_skip_all("no memory");
}

/* Removes and returns the last record, so that a changed one can be put. */
static inline struct record remove_last(void)
{
    struct record record = *RECORD_AT(&records, records.count - 1);

    records.count--;
    return record;
}

static inline void clear_all(void)
{
    localization_clear(&localization);
    records_clear(&records);
    records = (struct records){0};
}

/* Makes a localization of nodes on these leaf switches. measure() measures suspects again. */
static inline void localization_make(const struct conf *conf, const struct hostlist *nodes,
                                     const int *leaves,
                                     bool (*measure)(void *, const struct hostlist *, const char *,
                                                     enum retest_passes, size_t *))
{
    static const char *const leaf_names[] = {"leaf1", "leaf2", "leaf3", "leaf4"};

    localization = (struct localization){.source = {.records = &records,
                                                    .conf = conf,
                                                    .names = nodes,
                                                    .leaves = leaves,
                                                    .leaf_names = leaf_names},
                                         .tries = 4,
                                         .measure = measure};
}

#endif
