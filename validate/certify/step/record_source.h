/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RECORD_SOURCE_H
#define MUSTER_RECORD_SOURCE_H

#include "validate/certify/state/run.h"

/* Who prints records for a run: a node of itself, or rank 0 of an MPI program of all nodes. What is
 * taken of one is bounded, and possible: what it says of others, beyond the bounds or beside all
 * measure is left out, and the first of it told under the table. */
struct record_source {
    const char *name; /* of the node or of the program */
    /* Whether the record is one that the node may tell; NULL: any is. */
    bool (*is_own)(const struct record *record, const char *node);
    size_t records_most, bytes_most; /* bytes: of texts that the run has from no other record */
    size_t records, bytes;           /* taken */
};

/* The bounds of what is said of so many nodes. */
void record_source_bound(struct record_source *source, size_t nodes);

/* Those of the nodes, one each, which must outlive them. malloc'd; NULL when memory is out. */
struct record_source *record_sources_make(const struct hostlist *nodes,
                                          bool (*is_own)(const struct record *record,
                                                         const char *node));

/* Takes a line into the run's records. Left out, a record that says of a node of the run that it
 * failed or is not known makes it unknown in that stage. Returns as records_parse_wanted(). */
int record_source_take(struct certify *certify, struct record_source *source, enum stage stage,
                       const char *line);

#endif
