/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OPERATIONS_H
#define MUSTER_OPERATIONS_H

#include "validate/slurm/batch.h"
#include "validate/slurm/cluster.h"

/* What a run of certify changes in the cluster, and how it looks what became of it: a table, so
 * that a test can stand in for the controller and refuse whatever it likes. Each is the function of
 * cluster.h of that name. */
struct cluster_operations {
    int (*load_nodes)(struct cluster *cluster, struct error *err);
    batch_change_fn *drain, *resume /* its text is not used */, *set_comment, *set_extra;
    int (*reserve)(const char *name, const char *nodes, const char *user, int minutes,
                   struct error *err);
    int (*unreserve)(const char *name, struct error *err);
    int (*reservation)(const char *name, struct hostlist *nodes, struct error *err);
};

extern const struct cluster_operations operations_slurm; /* Slurm's controller */

#endif
