/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_PURSUIT_H
#define MUSTER_JUDGE_PURSUIT_H

#include "validate/judge/links/cells/cells.h"

/* Which parts explain the low cells: greedily the part that the rate of low cells elsewhere
 * explains least (links.h). */

/* Of parts that explain the same the first in this order is named. */
enum part_kind {
    PART_SENDS, /* node, rail */
    PART_RECEIVES,
    PART_RAIL,
    PART_NODE,       /* node, all rails */
    PART_PATH,       /* block to peer_block, rail, one direction */
    PART_PATHS,      /* both directions */
    PART_PATHS_ALL,  /* on all rails */
    PART_UPLINK_OUT, /* block, rail */
    PART_UPLINK_IN,
    PART_UPLINK,
    PART_UPLINK_ALL,
    PART_LEAF, /* block, rail */
    PART_LEAF_ALL,
    PART_KINDS,
};

struct accused {
    enum part_kind kind;
    int node, rail, block, peer_block;           /* -1: does not apply */
    float level, expected;                       /* medians of its low cells, as their y */
    double value_mbps, expected_mbps;            /* the same in Mb/s */
    size_t low[CELL_REGIONS], all[CELL_REGIONS]; /* of its cells, repeated measurements counted */
    double share;                                /* low ones among those that could tell */
    bool is_partial;                             /* some cells low, others well */
    bool is_steady;     /* no measurement alone was well; true where there was none */
    bool is_by_nominal; /* its level is below the nominal gate */
    bool is_shared;     /* only pairs that shared uplinks show it */
    struct link_pair examples[FINDING_EXAMPLES]; /* some of its low cells */
    int example_count;
    int again;         /* its cells that were measured once more, alone */
    double candidates; /* parts of that kind there are */
    double confidence;
};

struct pursuit {
    struct accused *accused;
    size_t count;
    size_t low[CELL_REGIONS], all[CELL_REGIONS]; /* cells that no part explains */
};

/* Finds the parts, of the kinds from first_kind to last_kind; cells that one explains are
 * closed (is_open false) or, below a slow path, held against that path's level. Returns 0, or -1
 * when memory is out. To be cleared in either case. */
int pursuit_hold(struct cells *cells, enum part_kind first_kind, enum part_kind last_kind,
                 struct pursuit *pursuit);
void pursuit_clear(struct pursuit *pursuit);

#endif
