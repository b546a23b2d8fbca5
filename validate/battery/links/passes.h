/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PASSES_H
#define MUSTER_PASSES_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

/* What muster-links measures, in which order, and the blocks of nodes that its options name. Pure.
 */

enum pass_kind {
    PASS_PAIRS,     /* disjoint pairs, rail after rail, direction after direction */
    PASS_TOGETHER,  /* disjoint pairs, all rails of a pair at once */
    PASS_UPLINKS,   /* all nodes of two blocks with each other, all rails at once */
    PASS_BISECTION, /* one half of the nodes with the other, all rails at once */
    PASS_VERBS, /* as PASS_PAIRS, by libibverbs itself: verb after verb, then all rails at once */
    PASS_LOCAL, /* each node's RDMA ports by themselves, by libibverbs */
    PASS_KINDS,
};

struct passes {
    enum pass_kind kinds[PASS_KINDS];
    size_t count; /* 0: not given */
};

/* Parses "pairs,together", each at most once. Returns 0, or -1 with err "expected ..., found
 * ...". */
int passes_parse(const char *text, struct passes *passes, struct error *err);

const char *pass_name(enum pass_kind kind);   /* "pairs" */
const char *pass_metric(enum pass_kind kind); /* "bandwidth", "bandwidth_together", ... */
bool pass_is_for_all(enum pass_kind kind);    /* all of its pairs at once: uplinks, bisection */

/* Leaf switches and their nodes. */
struct blocks {
    char **names;
    int *uplink_pairs; /* pairs at once across the uplinks of each, at most; 0: no limit */
    size_t count;
    struct hostlist nodes; /* of all of them */
    int *numbers;          /* of each of the nodes: the index of its block */
    struct name_index by_name;
};

/* Parses "leaf1=n[1-2];leaf2=n[3-4]:2", which limits leaf2 to two pairs at once across its uplinks.
 * A block or a node that comes twice is an error. Returns 0, or -1 with err and no blocks. Release
 * with blocks_clear(). */
int blocks_parse(const char *text, struct blocks *blocks, struct error *err);
void blocks_clear(struct blocks *blocks);

/* Returns the index of the block of that node, or -1 if it is in none. O(1). */
int blocks_of(const struct blocks *blocks, const char *node);

#endif
