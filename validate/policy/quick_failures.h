/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_QUICK_FAILURES_H
#define MUSTER_QUICK_FAILURES_H

#include "validate/slurm/job/ended.h"

/* Finds black-hole nodes: every job fails there at once, the node is soon free again and gets the
 * next job. Pure. */

/* node: points into the jobs; text: what was seen, "4 of 5 jobs of 3 users ...". */
typedef void quick_failures_fn(const char *node, const char *text, void *context);

/* Calls on_node for each node where SUSPECTS_QUICK_JOBS or more jobs of two or more users failed
 * soon, if by chance fewer than one node in SUSPECTS_QUICK_ODDS would show that (Poisson). The rate
 * expected of a user's jobs is that user's own on other nodes, (failed + 1) / (ended + 2): programs
 * that fail anywhere count against no node. Returns the number of nodes, or -1 if memory is out. */
int quick_failures_find(const struct ended_job *jobs, size_t count, quick_failures_fn *on_node,
                        void *context);

#endif
