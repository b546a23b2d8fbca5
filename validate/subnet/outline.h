/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SUBNET_OUTLINE_H
#define MUSTER_SUBNET_OUTLINE_H

#include <stdio.h>

#include "validate/subnet/subnet.h"
#include "validate/subnet/expected/topologyconf.h"

/* A subnet as Slurm's topology/tree wants it: every node under one leaf, every switch under at most
 * one. The switches of a rail's leaves are one leaf, all spines that join the same leaves one
 * switch. */

struct outline_switch {
    char name[64];
    struct hostlist members; /* nodes of a leaf, else names of switches */
    struct hostlist kept;    /* of these the nodes that only topology.conf has there */
    bool is_leaf;
    char switches[1024]; /* what it stands for: "sw1 (0x...), sw2 (0x...)" */
};

struct outline {
    struct outline_switch *items; /* leaves first, then what joins them, from below; last leaves
                                     that no cable shows */
    size_t count;
};

/* Nodes that are not in conf are left out, its names are kept for leaves that most of their nodes
 * are on; conf NULL: all nodes. A node of conf that no cable shows, as one that is off, is under
 * the leaf of most of those with which conf has it, else under conf's. Returns 0, or -1 when memory
 * is out. Release with outline_clear(). */
int subnet_outline(const struct subnet *subnet, const struct topology_conf *conf,
                   struct outline *outline);
void outline_clear(struct outline *outline);

/* Writes it as topology.conf, or as topology.yaml. Returns 0, or -1 when memory is out; the
 * stream's errors are the caller's. */
int outline_write(FILE *stream, const struct subnet *subnet, const struct outline *outline,
                  bool as_yaml);

#endif
