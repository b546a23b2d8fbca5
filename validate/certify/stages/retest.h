/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RETEST_H
#define MUSTER_CERTIFY_RETEST_H

#include "validate/certify/state/run.h"

/* What a program says of its own processes, died, hung, silent, makes suspects */
bool certify_is_death(const struct record *record);
/* Those that were asked and about which there is such a record since first. */
void certify_suspect(struct certify *certify, size_t first);
/* Runs a stage's program on the nodes, which are two; *first is the index of its first record.
 * Returns 0 when it ran to its end, 1 when it did not, -1 when it could not be run. */
typedef int certify_pair_fn(struct certify *certify, const struct hostlist *names, size_t *first,
                            const void *context);
/* Whether the program can run on the node. */
typedef bool certify_takes_fn(const void *context, const struct node_run *node_run);
/* Measures the suspects again, each alone with a node that is good and that takes() accepts: one
 * that dies or hangs again, or whose slurmd no longer answers, fails; of the others it is unknown.
 * asked: nodes of the stage; where many of these are suspects none is measured again. takes: NULL:
 * it accepts all. */
void certify_retest(struct certify *certify, enum stage stage, size_t asked, certify_pair_fn *run,
                    certify_takes_fn *takes, const void *context);

#endif
