/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ISLANDS_H
#define MUSTER_ISLANDS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/conf/conf.h"

/* The islands of muster.conf, for clusters whose nodes do not all share one fabric, and the fabric
 * that the nodes of one step share. */

struct islands {
    const struct island *own; /* the node's island, in conf; NULL: none */
    bool is_crossing;         /* the step's nodes are not all in one island: TCP connects them */
    enum fabric_class shared; /* the class of the step's island; Ethernet if the step crosses
                                 islands; FABRIC_NONE, no restriction: the step is in no island */
    char list[2048];          /* the step's islands in the order of their lines, without nodes in no
                                 island: "ib=InfiniBand:n[1-2];..."; "" if none, or if too long */
    char fact[256];           /* "all of the step's nodes are in island ib, InfiniBand" */
};

/* Sets islands for a task on node in a step on step_nodes (Slurm's notation; NULL: not known). If
 * the step's nodes are not known, they count as within the node's own island, and fact says so.
 * Pure. Takes a few ns per name. */
void islands_of_step(const struct conf *conf, const char *node, const char *step_nodes,
                     struct islands *islands);

#endif
