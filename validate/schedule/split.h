/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_SPLIT_H
#define MUSTER_SCHEDULE_SPLIT_H

#include <stdbool.h>

#include "lib/constants/schedule_constants.h"

/* Splits the pairs of a round into sub-rounds, of which each keeps these limits. 0: no limit. */
struct split_limits {
    int pairs;               /* at once in all */
    int leaf_pairs;          /* at once within a block (leaf switch) */
    const int *uplink_pairs; /* [block] at once across its uplinks; NULL: no limits */
    const int *blocks;       /* [node] number from 0, below 0: not known; NULL: none known */
    const int *hosts;      /* [node] number from 0 below node_count of the machine that it runs on;
                              NULL: each on its own */
    const int *host_ranks; /* [host] ranks that may run on it at once */
};

/* partners: [node] its partner in the round, below 0: it rests. sub_rounds: [node] set to the
 * number, from 0, of the sub-round of its pair, the same for both; -1 for nodes that rest. The
 * first sub-rounds are as full as can be, in the order of nodes. A pair that exceeds a limit by
 * itself has a sub-round of its own. Returns the number of sub-rounds, or -1 if memory is out.
 * Pure, the same on every process. O(nodes x sub-rounds). */
int schedule_split(const struct split_limits *limits, const int *partners, int node_count,
                   int *sub_rounds);

#endif
