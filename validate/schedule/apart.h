/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_APART_H
#define MUSTER_SCHEDULE_APART_H

#include <stddef.h>

/* Puts given pairs of nodes into rounds in which they do not disturb each other. The pairs of a
 * round have no node in common. They are either all within their blocks, or all across, with one
 * pair at most across the uplink of a block. So pairs within do not meet even if one node is in
 * another block than it is said to be. Each pair goes to the first round that has room (greedy
 * coloring of edges), so that there are fewer than 2 D rounds within and 2 D across, D being the
 * most pairs that one node or one block's uplink has.
 *
 * pairs: [count] two nodes, 0 <= node < node_count, different. blocks: [node_count] numbers from 0,
 * or NULL if not known; then each pair has a round for itself, as nothing shows what it shares with
 * others. rounds: room for count numbers, from 0. Returns the number of rounds, or -1 if memory is
 * out. Pure. O(count x rounds). */
int schedule_apart(const int (*pairs)[2], size_t count, int node_count, const int *blocks,
                   int *rounds);

#endif
