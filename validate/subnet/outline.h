/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_OUTLINE_H
#define MUSTER_SUBNET_OUTLINE_H

#include <stdio.h>

#include "validate/subnet/expected/topologyconf.h"
#include "validate/subnet/subnet.h"

/* A subnet as a tree for Slurm's topology/tree: every node is under one leaf, every switch under at
 * most one switch. The leaf switches of all rails of a group of nodes become one leaf, and all
 * spines that join the same leaves become one switch. */

struct outline_switch {
    char name[64];
    struct hostlist members; /* nodes of a leaf, else names of switches */
    struct hostlist kept;    /* the members that are here only by topology.conf */
    bool is_leaf;
    char switches[1024]; /* the switches that it stands for: "sw1 (0x...), sw2 (0x...)" */
};

struct outline {
    struct outline_switch *items; /* leaves first, then the switches above, level by level; last
                                     leaves without a cable */
    size_t count;
};

/* Makes the outline. Nodes that are not in conf are left out; conf NULL: those with a name that
 * Slurm does not allow. A leaf has the name of the conf leaf that has most of its nodes. A node of
 * conf without a cable, as one that is off, goes under the leaf that has most nodes of its conf
 * leaf, else under the conf leaf itself. Returns 0, or -1 if memory is out. Release with
 * outline_clear(). */
int subnet_outline(const struct subnet *subnet, const struct topology_conf *conf,
                   struct outline *outline);
void outline_clear(struct outline *outline);

/* Writes the outline as topology.conf, or as topology.yaml. Returns 0, or -1 if memory is out. The
 * caller checks the stream for errors. */
int outline_write(FILE *stream, const struct subnet *subnet, const struct outline *outline,
                  bool as_yaml);

#endif
