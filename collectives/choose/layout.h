/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAYOUT_H
#define MUSTER_LAYOUT_H

#include <stdbool.h>

/* Where the ranks of a communicator are: on which node, and below which leaf switch. Pure. */

/* What a message between two ranks passes. */
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

/* From a name of the node and of the leaf for each rank: [ranks] texts of `stride` bytes each, one
 * after the other. Two nodes of a name on different leaves are one node, on the leaf of its lowest
 * rank. A leaf without a name is one of its own that all such nodes share. Returns NULL when
 * memory is out. */
struct layout *layout_make(int ranks, const char *nodes, const char *leaves, int stride);

/* NULL is fine. */
void layout_free(struct layout *layout);

/* The class of the link between two ranks; a rank and itself: LINK_NODE. */
enum link_class layout_link(const struct layout *layout, int left, int right);

/* The class of the farthest link between any two ranks. */
enum link_class layout_farthest(const struct layout *layout);

/* The order in which a ring should visit the ranks, [ranks]: those of a node one after the other,
 * the nodes of a leaf too, everything in the order of lowest ranks. Then each node's NIC and each
 * leaf's uplink is left exactly once in a round, which no order can do better. */
void layout_ring(const struct layout *layout, int *ring);

/* The leaf of a node in the terms of Slurm's topology plugin: address is SLURM_TOPOLOGY_ADDR
 * ("spine.leaf3.n17"), pattern SLURM_TOPOLOGY_ADDR_PATTERN ("switch.switch.node"); either may be
 * NULL. The switch nearest to the node with those above it, "spine.leaf3", since names of leaves
 * are unique in a fabric but cost nothing to qualify. "" where nothing is known of switches.
 * leaf is cut at size. */
void layout_leaf_name(const char *address, const char *pattern, char *leaf, int size);

#endif
