/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_REFUSALS_H
#define MUSTER_POLICY_REFUSALS_H

#include <stdbool.h>
#include <stddef.h>

#include "validate/slurm/cluster.h"

/* How many nodes may refuse jobs. Each node first writes what it would refuse for into its Extra
 * and then counts those of the others, so that of any number that ask at once no more than the
 * limit get leave: the controller puts their writings in an order, and each sees all before its
 * own. Pure. */

struct refusals {
    bool is_in;   /* the node itself counts */
    size_t alike; /* other nodes that count and would refuse for the same cause */
    size_t taken; /* other nodes that muster has drained, or a failed prolog */
};

/* Whether the node counts: it gets jobs to refuse, or was drained for a refusal. One that is out of
 * service for something else may stay so for months, and its certificate ends meanwhile. */
bool refusals_is_in(const struct cluster_node *node);

/* Whether it counts, and would refuse jobs for that cause. */
bool refusals_is_alike(const struct cluster_node *node, const char *cause);

void refusals_count(const struct cluster *cluster, const char *node, const char *cause,
                    struct refusals *refusals);

/* limit: GateBrake; cap: DrainCap as a number of nodes. A node that does not count gets no leave:
 * with it the node would refuse jobs as soon as it is resumed, and the others would not know. */
bool refusals_allow(const struct refusals *refusals, size_t limit, size_t cap);

#endif
