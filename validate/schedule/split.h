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
    const int *host_ranks; /* [host] ranks that it may have at work at once */
};

/* partners: [node] its partner in the round, below 0: it rests. sub_rounds: [node] filled with the
 * number from 0 of its pair's sub-round, the same for both; -1 for those that rest. The first
 * sub-rounds are as full as can be, in the order of nodes; a pair that no limit has room for is one
 * by itself. Returns how many sub-rounds there are, or -1 when memory is out. Pure, the same on
 * every process. O(nodes x sub-rounds). */
int schedule_split(const struct split_limits *limits, const int *partners, int node_count,
                   int *sub_rounds);

#endif
