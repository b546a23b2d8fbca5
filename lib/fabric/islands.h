/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ISLANDS_H
#define MUSTER_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/conf/conf.h"

/* Clusters whose nodes do not all share one fabric: the islands of muster.conf, and what the nodes
 * of one step have in common. */

struct islands {
    const struct island *own; /* of the node, in conf; NULL: none, or there are no islands */
    bool is_crossing;         /* the step's nodes are not all in one island: plain TCP it is */
    enum fabric_class shared; /* the best class that all of the step's nodes share; FABRIC_NONE:
                                 whatever the node has (no islands, or none with the step's) */
    char list[2048];          /* those of the step, by their lines: "ib=InfiniBand:n[1-2];..." ; ""
                                 without islands. Nodes in no island are left out. Longer: "" */
    char fact[256];           /* "all 4 nodes are in island ib, InfiniBand" */
};

/* What the step's nodes (Slurm's notation; NULL: not known) have in common for a task on node.
 * A step whose nodes are not known counts as one within the node's own island, and fact says so.
 * Pure. Costs a few ns a name. */
void islands_meet(const struct conf *conf, const char *node, const char *step_nodes,
                  struct islands *islands);

#endif
