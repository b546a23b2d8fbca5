/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_CAP_H
#define MUSTER_POLICY_CAP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/constants/policy_constants.h"
#include "validate/slurm/cluster.h"

/* Limits as a share of the nodes: many faults at once often have one cause, and a cluster that
 * restarts must not start a wave of tests. Pure. */

/* Returns the number of nodes that percentages refer to: all but cloud nodes that do not exist now.
 * With these, a share could exceed the number of existing nodes. */
size_t cap_base(const struct cluster *cluster);

/* Returns whether the node counts in cap_base(). */
bool cap_node_exists(const struct cluster_node *node);

/* Returns percent of cap_base(), rounded up, no less than `least`. */
size_t cap_nodes(const struct cluster *cluster, double percent, size_t least);

/* Returns whether muster took the node out of service: it is drained or down for a reason of
 * muster. */
bool cap_is_drained_by_muster(const struct cluster_node *node);

/* Returns whether the node counts against DrainCap: muster took it out of service, or its prolog
 * failed. A refusal of the gate fails the prolog too, and Slurm's reason is the same. */
bool cap_counts_node(const struct cluster_node *node);

/* Returns how many of the cluster's nodes count against DrainCap, whichever run or tool took them.
 */
size_t cap_count(const struct cluster *cluster);

/* Returns whether node was drained before other, by the time of its reason, then by name. Tools
 * that drain at the same time do not see each other. Each counts again after that second, and
 * undoes the drains that exceed the cap in this order. */
bool cap_is_drained_before(const struct cluster_node *node, const struct cluster_node *other);

/* Returns how many nodes that count were drained before the node. */
size_t cap_count_before(const struct cluster *cluster, const struct cluster_node *node);

#endif
