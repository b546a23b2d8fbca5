/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_REFUSALS_H
#define MUSTER_POLICY_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/slurm/cluster.h"

/* Limits how many nodes may refuse jobs. Each node first writes the cause of its refusal to its
 * Extra and then counts the other nodes. So of any number that do this at once, no more than the
 * limit may refuse: the controller orders the writes, and each node sees all before its own. Pure.
 */

struct refusals {
    bool counts;       /* the node itself counts */
    size_t same_cause; /* other nodes that count and would refuse for the same cause */
    size_t drained;    /* other nodes that are drained by muster or for a failed prolog */
};

/* Returns whether the node counts: it gets jobs, or was drained for a refusal. A node that is out
 * of service for another reason may stay so for months, and its certificate expires meanwhile. */
bool refusals_counts_node(const struct cluster_node *node);

/* Returns whether the node counts, and would refuse jobs for that cause. */
bool refusals_has_same_cause(const struct cluster_node *node, const char *cause);

void refusals_count(const struct cluster *cluster, const char *node, const char *cause,
                    struct refusals *refusals);

/* Returns whether the node may refuse jobs. limit: GateBrake; cap: DrainCap as a number of nodes. A
 * node that does not count may not refuse: once resumed, it would refuse jobs, and the other nodes
 * would not have counted it. */
bool refusals_allow(const struct refusals *refusals, size_t limit, size_t cap);

#endif
