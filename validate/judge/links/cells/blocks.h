/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_BLOCKS_H
#define MUSTER_JUDGE_BLOCKS_H

#include "validate/judge/links/cells/cells.h"

/* Blocks of nodes as the measurements show them. */

/* Finds blocks where none are stated: groups of two nodes and more that reach each other at full
 * speed on a rail and not the nodes of other groups. cells: fitted without blocks. A node that
 * reaches nobody at full speed is put into the largest group. blocks: room for a number of each
 * node. Returns how many there are; 0 or 1: none found. -1: memory is out. O(cells). */
int blocks_find(const struct cells *cells, int *blocks);

struct misplaced {
    int node, block; /* by its links it is in that block, not in the one that is stated */
    double share;    /* of its samples with that block that are as good as inside a block */
    int sample_count;
    bool is_certain; /* with its stated block they are not */
};

/* Holds the stated blocks against the measurements, where pairs across are measurably slower than
 * pairs inside. misplaced: room for all nodes. *is_known: whether that could be done. Returns how
 * many nodes are in another block. -1: memory is out. O(cells). */
int blocks_check(const struct cells *cells, struct misplaced *misplaced, bool *is_known);

#endif
