/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RUN_RECORDS_H
#define MUSTER_CERTIFY_RUN_RECORDS_H

#include <stdint.h>

#include "validate/certify/state/run.h"

/* The findings of a run, as records and on the progress line. */

/* Adds the record, with this run's name and the time, to the run's records and to the JSON file. */
void certify_record(struct certify *certify, struct record record);
/* Notes a verdict of the run itself about a node: in its outcome and, unless test is NULL, as a
 * record. Does nothing if node_run is NULL. */
void certify_verdict(struct certify *certify, struct node_run *node_run, enum stage stage,
                     enum verdict verdict, const char *test, const char *part, const char *message);
/* As certify_verdict(), with a fault code that is not the test's own. */
void certify_fault(struct certify *certify, struct node_run *node_run, enum stage stage,
                   enum verdict verdict, enum fault_code code, const char *test, const char *part,
                   const char *message);
/* Likewise for all nodes of the list that have no fault so far and are no suspects. */
void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, enum fault_code code, const char *test, const char *message);
/* Returns the fingerprint of each node run by its facts so far (history_fingerprints()); malloc'd.
 * NULL if memory is out. */
uint64_t *certify_fingerprints(const struct certify *certify);
/* Ends a stage's progress line with the number of nodes that were asked and that are good, and
 * publishes new faults. */
void certify_stage_end(struct certify *certify, size_t asked);

#endif
