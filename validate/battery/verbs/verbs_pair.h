/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_PAIR_H
#define MUSTER_VERBS_PAIR_H

#include "validate/battery/links/pair/pair_run.h"
#include "validate/battery/verbs/verb.h"

/* The RDMA rails of two nodes, driven by libibverbs itself. */

/* NULL, or why this program cannot: it was built without libibverbs. */
const char *verbs_missing(void);

/* Each rail with the like one of the partner: every verb that is wanted, one direction after the
 * other; then writes on all rails at once. What the two must know of each other goes over the
 * pair run's line. Both ends call it. Returns 0, or -1 when the partner did not come, or went. */
int verbs_pair_run(struct pair_run *pair_run, const struct verbs_settings *settings);

/* This node's ports by themselves, each in a round to the one so many behind it: in round 0 writes
 * to itself, and what memory of GPUs could be registered there; with as many rounds as rails,
 * writes to each other one. */
void verbs_local_run(struct program *program, const struct rails *rails, int round,
                     const struct path_plan *plan, const struct verbs_settings *settings,
                     struct link_results *results);

#endif
