/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_VERBS_PAIR_H
#define MUSTER_VERBS_PAIR_H

#include "validate/battery/links/pair/pair_run.h"
#include "validate/battery/verbs/verb.h"

/* The RDMA rails of two nodes, driven by libibverbs itself. */

/* Returns NULL, or why this program cannot measure: it was built without libibverbs. */
const char *verbs_missing(void);

/* Measures each rail with the matching one of the partner: every verb that is wanted, one direction
 * after the other; then writes on all rails at once. The two ends exchange what they need over the
 * control connection of the pair run. Both ends call it. Returns 0, or -1 if the partner did not
 * connect or was lost. */
int verbs_pair_run(struct pair_run *pair_run, const struct verbs_settings *settings);

/* Adds a result of a verb between two rails, empty but for these fields, as results_add(). */
struct link_result *verbs_result_add(struct link_results *results, int from, int to,
                                     const struct rail_info *rail,
                                     const struct rail_info *peer_rail, enum verb verb,
                                     enum verb_scope scope);

/* Measures the ports of this node by themselves: in a round, each one writes to the one `round`
 * places behind it. In round 0 it writes to itself, and reports what memory of GPUs could be
 * registered there. With as many rounds as rails, each port writes to each other one. */
void verbs_local_run(struct program *program, const struct rails *rails, int round,
                     const struct path_plan *plan, const struct verbs_settings *settings,
                     struct link_results *results);

#endif
