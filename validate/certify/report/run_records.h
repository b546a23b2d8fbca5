/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RUN_RECORDS_H
#define MUSTER_CERTIFY_RUN_RECORDS_H

#include <stdint.h>

#include "validate/certify/state/run.h"

/* What a run finds, as records and on the line of progress. */

/* Takes a record: keeps it and writes it to the JSON lines. */
void certify_record(struct certify *certify, struct record record);
/* A verdict of our own about a node: record and outcome. value, limit: NAN, unit NULL where there
 * is none. */
void certify_verdict(struct certify *certify, struct node_run *node_run, enum stage stage,
                     enum verdict verdict, const char *test, const char *part, const char *message);
/* The same with a fault code, where it is not that of the test. */
void certify_fault(struct certify *certify, struct node_run *node_run, enum stage stage,
                   enum verdict verdict, enum fault_code code, const char *test, const char *part,
                   const char *message);
/* Notes that verdict for all nodes of the list that have no fault so far. */
void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, const char *test, const char *message);
/* The same with a fault code, where it is not that of the test. */
void certify_all_fault(struct certify *certify, const struct hostlist *names, enum stage stage,
                       enum verdict verdict, enum fault_code code, const char *test,
                       const char *message);
/* The fingerprint of each node by its facts so far (history_fingerprints()); malloc'd. NULL: no
 * memory. */
uint64_t *certify_fingerprints(const struct certify *certify);
/* Ends a stage's line of progress: how many of the nodes are good. */
void certify_stage_end(struct certify *certify, size_t asked);

#endif
