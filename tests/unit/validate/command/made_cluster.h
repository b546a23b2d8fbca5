/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_MADE_CLUSTER_H
#define MUSTER_TESTS_MADE_CLUSTER_H

/* Cluster "lab" of idle nodes n1 to n4 in one partition of that name, for commands that are linked
 * with --wrap=cluster_open,--wrap=cluster_load. */

#include "validate/slurm/cluster.h"
#include "validate/slurm/step.h"

enum { MADE_NODES = 4 };
extern const char *made_comment; /* of each node; not changed by the cluster: "" at first */
extern const char *made_extra;   /* likewise */
extern bool made_is_divided;     /* n4 is in partition "other" alone, and none is the default one */
extern bool made_is_down;        /* ... and that partition is down */

int __wrap_cluster_load(struct cluster *cluster, struct error *err);
/* A test that needs it has one of its own, of what srun prints: --wrap=step_run_on. */
int __wrap_step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                       char *const *program, const struct process *watching,
                       struct process_result *result, struct error *err);

#endif
