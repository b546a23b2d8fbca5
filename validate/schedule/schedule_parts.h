/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_PARTS_H
#define MUSTER_SCHEDULE_PARTS_H

#include "validate/schedule/schedule.h"

/* The contents of a schedule, for schedule_make.c, which makes it, and schedule.c, which reads
 * it. */

enum round_kind {
    ROUND_PLAIN,  /* round `first` of the tournament of all */
    ROUND_INSIDE, /* round `first` of the tournament of each block */
    ROUND_ACROSS, /* round `first` of the tournament of blocks, rotation `second`, slice `third` */
    ROUND_HALVES, /* rotation `first` of the halves */
};

struct round {
    enum round_kind kind;
    int first, second, third;
};

struct schedule {
    int node_count, block_count;
    /* [position] node: block after block, inside a block in the order that seed gives */
    int *order;
    int *position; /* [node] its index in order; -1: it always rests */
    int *block;    /* [node] dense number of its block; all 0 when not known */
    int *members;  /* [position] node, in order of blocks and nodes */
    int *begins;   /* [block_count + 1] first position of each block */
    int slice;     /* pairs at once between two blocks */
    uint64_t seed;
    struct round *rounds;
    int round_count;
};

static inline int least(int a, int b)
{
    return a < b ? a : b;
}

static inline int most(int a, int b)
{
    return a > b ? a : b;
}

static inline int block_size(const struct schedule *schedule, int block)
{
    return schedule->begins[block + 1] - schedule->begins[block];
}

#endif
