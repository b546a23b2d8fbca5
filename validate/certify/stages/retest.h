/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_RETEST_H
#define MUSTER_CERTIFY_RETEST_H

#include "validate/certify/state/run.h"

/* Returns whether the record says that a process of its node died, hung or is silent, which makes
 * the node a suspect. */
bool certify_is_death(const struct record *record);
/* Makes suspects of the good nodes that were asked and have such a record since first. */
void certify_suspect(struct certify *certify, size_t first);
/* Runs a stage's program on names, which are two nodes; *first is the index of its first record.
 * Returns 0 if it completed, 1 if it did not, -1 if it could not be run. */
typedef int certify_pair_fn(struct certify *certify, const struct hostlist *names, size_t *first,
                            const void *context);
/* Whether the program can run on the node. */
typedef bool certify_takes_fn(const void *context, const struct node_run *node_run);
/* Retests the suspects, each alone with a good node that takes() accepts. A suspect that dies or
 * hangs again, or whose slurmd no longer answers, fails; the others are unknown. asked: nodes of
 * the stage; if many of these are suspects, none is retested. takes: NULL accepts all. */
void certify_retest(struct certify *certify, enum stage stage, size_t asked, certify_pair_fn *run,
                    certify_takes_fn *takes, const void *context);

#endif
