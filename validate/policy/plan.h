/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_PLAN_H
#define MUSTER_POLICY_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/slurm/cluster.h"

/* What a run may do with a node, from its state in Slurm. Nothing is
 * read but the clock. */

enum plan_role {
    ROLE_TEST,   /* free: test it */
    ROLE_RETEST, /* drained by muster: lift the drain, test it, release or drain it again */
    ROLE_FAULTY, /* Slurm took it out of service for a fault: report it, change nothing */
    ROLE_SKIP,   /* not available: change nothing, its verdict is unknown */
};

struct plan {
    enum plan_role role;
    bool needs_gate_refusal; /* ROLE_RETEST of a drain by Slurm: released only if the node's own
                                note names muster's gate as the cause */
    char part[32];           /* ROLE_FAULTY: "slurmd", "gres", ... */
    char message[256];       /* ROLE_FAULTY, ROLE_SKIP: why, one line */
};

/* Plans what to do with a node, from its state in Slurm. is_dry_run: nothing may be changed, so a
 * drain cannot be lifted. is_named: an administrator named the node (-w), so a node that Slurm
 * drained for a failed prolog may be tested: muster's own gate fails the prolog too, and only the
 * node knows whether it did. */
void plan_node(const struct cluster_node *node, bool is_dry_run, bool is_named, struct plan *plan);

/* Whether a run tests nodes of that role. */
bool role_is_testable(enum plan_role role);

/* Returns the partition to allocate in: wanted if given, else, of those that are up and accept
 * jobs, the one that has most of the named nodes (of several the default one, else the first). NULL
 * if there is none. */
const struct cluster_partition *plan_partition(const struct cluster *cluster, const char *wanted,
                                               const char *const *names, size_t count);

/* A run uses one partition. Reports a partition for each of the names, each node once, the
 * partition with most nodes first. partition: NULL for nodes in no partition that is up. nodes: in
 * the order of names, valid only during the call. Returns 0, or -1 if memory is out. */
typedef void plan_partition_fn(const struct cluster_partition *partition,
                               const struct hostlist *nodes, void *context);
int plan_report_partitions(const struct cluster *cluster, const struct hostlist *names,
                           plan_partition_fn *report, void *context);

#endif
