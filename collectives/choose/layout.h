/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAYOUT_H
#define MUSTER_LAYOUT_H

#include <stdbool.h>

/* Where the ranks of a communicator are: the node and the leaf switch of each. Pure functions. */

/* What a message between two ranks passes through. */
enum link_class {
    LINK_NODE,   /* memory */
    LINK_LEAF,   /* one switch */
    LINK_ACROSS, /* uplinks */
    LINK_CLASSES
};

const char *link_class_name(enum link_class class); /* "node", "leaf", "across" */
bool link_class_parse(const char *name, enum link_class *class);

struct layout {
    int ranks;
    int nodes;
    int *node_of_rank; /* [ranks], numbered from 0 in the order of their lowest ranks */
    int *leaf_of_rank; /* [ranks], likewise */
    int most_on_node;  /* ranks on the node that has most */
};

/* Makes a layout from the names of each rank's node and leaf: [ranks] texts, `stride` bytes apart.
 * Ranks with the same node name are on one node, which is on the leaf of its lowest rank. All nodes
 * with an empty leaf name share one leaf. Returns NULL if memory is out. */
struct layout *layout_make(int ranks, const char *nodes, const char *leaves, int stride);

/* NULL is fine. */
void layout_free(struct layout *layout);

/* Returns the class of the link between two ranks; LINK_NODE between a rank and itself. */
enum link_class layout_link(const struct layout *layout, int left, int right);

/* Returns the class of the farthest link between any two ranks. */
enum link_class layout_farthest(const struct layout *layout);

/* Sets ring [ranks] to the order in which a ring should visit the ranks: leaf by leaf, and in
 * each node by node, all in the order of lowest ranks. Then a round crosses each node's NIC and
 * each leaf's uplink outward exactly once, the least possible. */
void layout_ring(const struct layout *layout, int *ring);

/* Sets leaf to the name of a node's leaf by Slurm's topology plugin: address is SLURM_TOPOLOGY_ADDR
 * ("spine.leaf3.n17"), pattern SLURM_TOPOLOGY_ADDR_PATTERN ("switch.switch.node"); either may be
 * NULL. The name is that of the switch nearest to the node, qualified by the switches above it:
 * "spine.leaf3". "" if no switch is known. leaf is truncated to size bytes. */
void layout_leaf_name(const char *address, const char *pattern, char *leaf, int size);

#endif
