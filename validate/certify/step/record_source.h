/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORD_SOURCE_H
#define MUSTER_RECORD_SOURCE_H

#include "validate/certify/state/run.h"

/* A source of records: a node that reports about itself, or rank 0 of an MPI program that reports
 * about all nodes. What is taken from a source is limited: records about other nodes, beyond its
 * bounds or with impossible values are left out, and the first of them is printed under the table.
 */
struct record_source {
    const char *name; /* of the node or of the program */
    /* Whether the node may report this record; NULL: any. */
    bool (*is_own)(const struct record *record, const char *node);
    size_t records_most, bytes_most; /* bytes: of texts that are new to the run */
    size_t records, bytes;           /* taken */
};

/* Sets the bounds of a source that reports about so many nodes. */
void record_source_bound(struct record_source *source, size_t nodes);

/* Returns a source for each of the nodes, which must outlive them; malloc'd. NULL if memory is out.
 */
struct record_source *record_sources_make(const struct hostlist *nodes,
                                          bool (*is_own)(const struct record *record,
                                                         const char *node));

/* Adds the record in line to the run's records. If it is left out and says that a node of the run
 * failed or is unknown, the node becomes unknown in that stage. Returns as records_parse_wanted().
 */
int record_source_add(struct certify *certify, struct record_source *source, enum stage stage,
                      const char *line);

#endif
