/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_LINKS_H
#define MUSTER_JUDGE_LINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/record.h"
#include "lib/constants/judge_constants.h"
#include "validate/judge/history_figure.h"

/* From the measured links of a set of nodes to the parts at fault. Pure: numbers in, findings out;
 * time and memory O(samples), whether they are of all pairs or of a few rounds.
 *
 * Model: a pair runs at the speed of its bottleneck,
 *     log bandwidth(i, j) = mu + min(a_i, b_j, c_block(i),block(j)) + noise
 * with a the sender's rail, b the receiver's and c the path between their blocks. (Sums instead of
 * the minimum, as a two-way fit by median polish has them, accuse the partners of slow nodes: two
 * rails at a quarter do not run at a sixteenth together.)
 *
 * Fit: mu is the median of pairs of unsuspicious ends, which are those whose better figures reach
 * the median of their peers'; paths that n pairs shared are held against the other blocks' paths
 * that n pairs shared. A sample is low when it is below one of three gates: nominal, peers (a share
 * of the median, never nearer than four times its MAD, which has a floor of 1 %), history. What
 * others take for the least on such hardware is a hint besides.
 *
 * Attribution: greedily the part whose low samples are the hardest to explain by the rate of low
 * samples elsewhere (log-likelihood ratio of two binomials), of: a node's rail in one direction or
 * both, all rails of a node, a path between blocks, the uplink of a block, a leaf switch. What it
 * explains leaves the game, and the rest is explained by the next part. What remains is pairs.
 *
 * Confidence: 1 - candidates * exp(-L), L the log-likelihood ratio against the rate of low samples
 * that no finding explains (Chernoff's bound of the binomial tail), candidates the number of parts
 * of that kind. A pair, which is one sample among many, has another one: 1 - m * q^k for one that
 * was low each of the k times that it was measured alone, q the rate of low samples that no finding
 * explains, m how many such samples were measured again. Under `sure` a finding is UNKNOWN, not
 * FAIL. doc/attribution.md says how far that holds. */

struct link_sample {
    int from, to; /* indices of nodes: from sends, to receives */
    int rail;
    double mbps;         /* 10^6 bit/s; 0: no connection could be made; NAN: not measured */
    float latency_us;    /* least half round trip; NAN: not measured */
    float low_mbps;      /* the low end of the repeats that mbps is the median of; 0: not known */
    float received_mbps; /* what the receiver says of the same transfer; 0: it was not asked */
    int load;            /* pairs that shared an uplink with it, itself counted; 0: not known */
    float first_mbps;    /* mbps before it was measured once more; 0: it was not */
    float first_stalled; /* the share of its time then in which its ends were not let run; 1: not
                            known */
    int again;           /* looks in which it was measured once more, alone on the network */
    int look;            /* the last one of these, from 1 */
    float stalled; /* the greatest share of its time then in which its ends were not let run; 1: not
                      known */
};

/* What others take for the least on such hardware. */
struct reference_figure {
    double mbps;        /* 0: nobody says anything */
    const char *source; /* "reference.conf:12, ..." */
};

struct links {
    size_t node_count, rail_count;
    const char *const *nodes; /* node_count names */
    const char *const *rails; /* rail_count names */
    const int *blocks;        /* node_count indices of block_names, none of which is left out, or
                                 NULL: topology not known */
    const char *const *block_names;
    const double *nominal_mbps; /* node_count x rail_count, row = node; <= 0 or NAN: not known */
    const struct link_sample *samples; /* several of one cell: the last one counts */
    size_t sample_count;
    const struct link_sample *together; /* the same of all rails of a pair at once, or NULL */
    size_t together_count;
    /* Measurements by themselves, or NULL; a cell may have several. again 1: alone on the network,
     * while the ends were let run, in that look; 0: among others, beside the one that is in
     * samples, with first_stalled */
    const struct link_sample *moments;
    size_t moment_count;
    const struct history_figure *history; /* in Mb/s, of what links_figure() tells; node_count x
                                             rail_count, or NULL */
    const struct reference_figure *references; /* node_count x rail_count, or NULL */
};

struct links_limits {
    double nominal_percent, peers_percent; /* fail below that share */
    double latency_peers_ratio;            /* warn above that multiple */
    double sure;                           /* confidence that a FAIL takes; 0: 0.99 */
};

enum finding_kind {
    FINDING_NODE,   /* all rails of a node: node */
    FINDING_RAIL,   /* node's rail: node, rail */
    FINDING_HOST,   /* node's rails are well alone and slow together: node, rail or -1 */
    FINDING_PAIR,   /* path of a pair: node, peer, rail or -1 */
    FINDING_LEAF,   /* all paths of a leaf switch's nodes: block, rail or -1 */
    FINDING_UPLINK, /* path between two blocks, or one block's uplinks: block, peer_block or -1 */
    FINDING_FABRIC, /* slow on most nodes alike: rail */
    FINDING_LIAR,   /* node's figures contradict those of its partners: node */
    FINDING_MISPLACED, /* node's links are those of another block than topology.conf says: node,
                          block, peer_block (where it seems to be) */
    FINDING_AMBIGUOUS, /* node and rail, or the path to its partners (of one path: to peer): cannot
                          be told */
    FINDING_MISSING,   /* nothing was measured of node's rail, or of one direction of it */
};

enum { FINDING_EXAMPLES = 4 };

struct link_pair {
    int from, to;
};

struct finding {
    enum finding_kind kind;
    enum verdict verdict; /* FAIL, WARN (latency, history, reference), UNKNOWN */
    int node, peer, rail; /* indices, -1: does not apply */
    int block, peer_block;
    const char *metric;       /* "bandwidth", "latency", "bandwidth_together" */
    const char *direction;    /* "sends", "receives", "both ways", "forth", "back" */
    double value, limit;      /* Mb/s or us */
    double reference;         /* what 100 % is: nominal or the peers' median */
    const char *limit_source; /* "nominal", "peers", "history", "reference" */
    double confidence;        /* 0 to 1; NAN: does not apply */
    double share;             /* of the samples of the part that are low, 0 to 1 */
    int again;                /* of these were measured once more, alone on the network */
    int sample_count;         /* samples that speak of the part */
    struct link_pair examples[FINDING_EXAMPLES]; /* LEAF, UPLINK: pairs that show it */
    int example_count;
    double latency_us, latency_peers_us; /* RAIL that fails by its bandwidth: its latency and the
                                            peers' median, where that is high as well; else 0 */
    bool is_intermittent;                /* some of its samples are low, others well */
    bool is_question;  /* UNKNOWN only because it was not asked often enough to be cleared */
    char part[160];    /* "eth1", "path n1-n3 eth1", "uplink leaf1-leaf2", "all eth1" */
    char message[320]; /* "eth1 sends 49 of 200 Mb/s (nominal), peers 196" */
};

/* Judges. *findings is malloc'd, worst first; the caller frees. Returns the number of findings, or
 * -1 when memory is out. */
int links_judge(const struct links *links, const struct links_limits *limits,
                struct finding **findings);

/* The best figure that the node's rail showed, both directions' worse one, in Mb/s; NAN when
 * nothing was measured. links_figures: of all, node_count x rail_count. */
double links_figure(const struct links *links, int node, int rail);
void links_figures(const struct links *links, double *figures);

/* Whether the samples show which block a node is on: links.blocks are several, and pairs across are
 * slower than those inside. Else nothing can be said of where the nodes are. false also when memory
 * is out. */
bool links_show_blocks(const struct links *links, const struct links_limits *limits);

/* The pairs that should be measured once more, alone on the network, before anyone is accused: a
 * suspect node with two partners that have no finding of their own, of its own block and as far
 * from the first partner as may be, and for each block of suspects a control pair of others; a
 * suspect pair itself, and when it was low alone its ends with somebody else; pairs across a
 * suspect uplink or inside a suspect leaf; with a host that is slow with all rails at once the two
 * slowest such pairs of others. Each pair once, no more than `most`. pairs: room for `most`.
 * Returns their number. */
size_t links_suspect_pairs(const struct links *links, const struct finding *findings,
                           size_t finding_count, struct link_pair *pairs, size_t most);

#endif
