/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_APART_H
#define MUSTER_SCHEDULE_APART_H

#include <stddef.h>

/* Puts given pairs of nodes into rounds in which they do not disturb each other: the pairs of a
 * round have no node in common, and are either all within their blocks or all across, one at most
 * across the uplink of a block: where one node is not in the block that it is said to be in, pairs
 * within still do not meet. Each pair goes to the first round that has room (greedy colouring of
 * edges), so that there are fewer than 2 D rounds within and 2 D across, D being the most pairs
 * that one node or one block's uplink has.
 *
 * pairs: count times two nodes, 0 <= node < node_count, different. blocks: node_count numbers from
 * 0; NULL: not known, and then each pair has a round for itself, as nothing says what it shares
 * with others. rounds: room for count numbers, from 0. Returns how many rounds there
 * are, or -1 when memory is out. Pure. O(count x rounds). */
int schedule_apart(const int (*pairs)[2], size_t count, int node_count, const int *blocks,
                   int *rounds);

#endif
