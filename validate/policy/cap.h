/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_CAP_H
#define MUSTER_POLICY_CAP_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/constants/policy_constants.h"
#include "validate/slurm/cluster.h"

/* A share of the nodes, as a number of them: so many faults at once often have one cause, and a
 * cluster that restarts must not start a wave of tests. Pure. */

/* How many nodes a share is of: all that there are. Those that a cloud has not made are none: with
 * them the share would be more than all others. */
size_t cap_base(const struct cluster *cluster);

/* Whether the node is one of these. */
bool cap_is_there(const struct cluster_node *node);

/* percent of these, rounded up, no less than `least`. */
size_t cap_nodes(const struct cluster *cluster, double percent, size_t least);

/* Whether muster has taken the node from service: it is drained or down by a reason of muster's. */
bool cap_is_taken(const struct cluster_node *node);

/* Whether it counts against DrainCap: muster has taken it, or its prolog has failed, as it does
 * where the gate refuses a job; Slurm's reason is the same for both. */
bool cap_counts(const struct cluster_node *node);

/* How many of the cluster's nodes do, whichever run or tool took them. */
size_t cap_taken(const struct cluster *cluster);

/* Whether one was drained before the other, by the time of its reason and then by its name. Who
 * drains, at once with others that it does not see, counts once more when the second is over, and
 * takes back what is too much in this order: it is the same for all of them. */
bool cap_is_before(const struct cluster_node *node, const struct cluster_node *other);

/* How many count that were drained before the node. */
size_t cap_taken_before(const struct cluster *cluster, const struct cluster_node *node);

#endif
