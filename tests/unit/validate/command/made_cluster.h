/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_MADE_CLUSTER_H
#define MUSTER_TESTS_MADE_CLUSTER_H

/* A cluster "lab" with idle nodes n1 to n4 in one partition of that name, for commands that are
 * linked with --wrap=cluster_open,--wrap=cluster_load. */

#include "validate/slurm/cluster.h"
#include "validate/slurm/step/step.h"

enum { MADE_NODES = 4 };
extern const char *made_comment; /* of each node; "" at first; the cluster does not change it */
extern const char *made_extra;   /* Extra of each node, likewise */
extern bool made_is_divided;     /* n4 is in its own partition, other; none is the default */
extern bool made_is_down;        /* partition "other" is down */
extern bool made_hides_cloud;    /* partition "lab" has a node n0, which Slurm does not list */

int __wrap_cluster_load(struct cluster *cluster, struct error *err);
/* A test that needs srun's output defines it and is linked with --wrap=step_run_on. */
int __wrap_step_run_on(const struct hostlist *nodes, const char *partition, int wait_s,
                       char *const *program, const struct process *watching,
                       struct process_result *result, struct error *err);

#endif
