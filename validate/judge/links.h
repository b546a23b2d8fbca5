/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_LINKS_H
#define MUSTER_JUDGE_LINKS_H

#include <stddef.h>

#include "lib/base/record.h"

/* From the measured links of a set of nodes to the parts at fault. Pure: numbers in, findings out.
 *
 * A node's rail is as good as the best it showed with any partner, in each direction: that takes
 * the partners' faults and the path out of the figure. It is held against nominal and against the
 * median of its peers' figures. What a pair then lacks against the worse of its two ends belongs to
 * the path: to the uplink between two blocks (leaf switches) when nearly all pairs across it lack
 * it, else to the pair. Where the data cannot tell a node from the path the finding says so and
 * accuses neither. */

struct link_sample {
    int from, to; /* indices of nodes: from sends, to receives */
    int rail;
    double mbps;       /* 10^6 bit/s; 0: no connection could be made; NAN: not measured */
    double latency_us; /* half round trip; NAN: not measured */
};

struct links {
    size_t node_count, rail_count;
    const char *const *nodes; /* node_count names */
    const char *const *rails; /* rail_count names */
    const int *blocks;        /* node_count indices of block_names, or NULL: topology not known */
    const char *const *block_names;
    const double *nominal_mbps; /* node_count x rail_count, row = node; <= 0 or NAN: not known */
    const struct link_sample *samples; /* several of one cell: the last one counts */
    size_t sample_count;
};

struct links_limits {
    double nominal_percent, peers_percent; /* fail below that share */
    double latency_peers_ratio;            /* warn above that multiple */
};

enum finding_kind {
    FINDING_RAIL,      /* node's rail: node, rail */
    FINDING_PAIR,      /* path of a pair: node, peer, rail */
    FINDING_UPLINK,    /* path between two blocks: block, peer_block */
    FINDING_FABRIC,    /* a rail is slow on most nodes alike: rail */
    FINDING_AMBIGUOUS, /* node and rail, or the path to its partners: cannot be told */
    FINDING_MISSING,   /* nothing was measured of node's rail */
};

struct finding {
    enum finding_kind kind;
    enum verdict verdict; /* FAIL, WARN (latency), UNKNOWN (MISSING, AMBIGUOUS) */
    int node, peer, rail; /* indices, -1: does not apply */
    int block, peer_block;
    const char *metric;       /* "bandwidth", "latency" */
    const char *direction;    /* "sends", "receives", "both ways" */
    double value, limit;      /* Mb/s or us */
    double reference;         /* what 100 % is: nominal or the peers' median */
    const char *limit_source; /* "nominal", "peers" */
    char part[96];            /* "eth1", "path n1-n3 eth1", "uplink leaf1-leaf2", "all eth1" */
    char message[200];        /* "eth1 sends 49 of 200 Mb/s (nominal), peers 196" */
};

/* Judges. *findings is malloc'd, worst first; the caller frees. Returns the number of findings, or
 * -1 when memory is out. */
int links_judge(const struct links *links, const struct links_limits *limits,
                struct finding **findings);

/* The best figure that the node's rail showed, both directions' worse one, in Mb/s; NAN when
 * nothing was measured. */
double links_figure(const struct links *links, int node, int rail);

struct link_pair {
    int from, to;
};

/* The pairs that should be measured once more, alone on the network, before anyone is accused: a
 * suspect rail's node with two partners that have no finding of their own, as far from the first
 * partner as may be; a suspect pair itself; two pairs across a suspect uplink. Each pair once, no
 * more than `most`. pairs: room for `most`. Returns their number. */
size_t links_suspect_pairs(const struct links *links, const struct finding *findings,
                           size_t finding_count, struct link_pair *pairs, size_t most);

#endif
