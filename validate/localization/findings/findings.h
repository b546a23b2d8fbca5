/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LOCALIZATION_FINDINGS_H
#define MUSTER_LOCALIZATION_FINDINGS_H

#include "lib/base/history_figure.h"
#include "lib/base/record.h"
#include "validate/diagnose/diagnose.h"
#include "validate/localization/inconsistent.h"
#include "validate/localization/links.h"
#include "validate/localization/misplaced.h"

/* Findings: what a diagnosis says of nodes and their links, in words. */

/* The minimum that others expect of such hardware. */
struct reference_figure {
    double mbps;        /* 0: there is none */
    const char *source; /* "reference.conf:12, ..." */
};

enum finding_kind {
    FINDING_NODE,   /* all rails of a node: node */
    FINDING_RAIL,   /* node's rail: node, rail */
    FINDING_HOST,   /* node's rails are good alone and slow together: node */
    FINDING_PAIR,   /* path of a pair: node, peer, rail or -1 */
    FINDING_LEAF,   /* all paths of a leaf switch's nodes: leaf, rail or -1 */
    FINDING_UPLINK, /* path between two leaves, or one leaf's uplinks: leaf, peer_leaf or -1 */
    FINDING_FABRIC, /* slow on most nodes alike: rail or -1 */
    FINDING_INCONSISTENT, /* node's figures contradict those of its partners: node */
    FINDING_MISPLACED,    /* node's links are those of another leaf than topology.conf says: node,
                             leaf, peer_leaf (where it seems to be) */
    FINDING_AMBIGUOUS,    /* node and rail, or something else: cannot be told */
    FINDING_MISSING,      /* nothing was measured of node's rail, or of one direction of it */
};

struct finding {
    enum finding_kind kind;
    enum verdict verdict; /* FAIL, WARN (latency, history, reference), UNKNOWN */
    int node, peer, rail; /* indices, -1: does not apply */
    int leaf, peer_leaf;
    const char *metric; /* "bandwidth", "latency" */
    int ways; /* of a node's part, or from node to peer and back: DIAGNOSE_SENDS, ...; 0: none */
    double value, limit;                 /* Mb/s or us */
    double reference;                    /* what 100 % is: nominal or the peers' median */
    const char *limit_source;            /* "nominal", "peers", "history", "reference" */
    double confidence;                   /* 0 to 1; NAN: does not apply */
    double latency_us, latency_peers_us; /* RAIL that fails by its bandwidth: its latency and the
                                            peers' median, where that is high as well; else 0 */
    bool is_intermittent;                /* some of its samples are low, others good */
    int lost_bytes, path_mtu_bytes;      /* see link_sample: why it is dead; else 0 */
    char part[160];    /* "eth1", "path n1-n3 eth1", "uplink leaf1-leaf2", "all eth1" */
    char message[320]; /* "eth1 sends 49 of 200 Mb/s (nominal), peers 196" */
};

/* Indexed by ways: "sends", "receives", "sends and receives". */
extern const char *const finding_verbs[DIAGNOSE_BOTH + 1];

struct findings {
    struct finding *items; /* worst first */
    size_t count;
};

struct localization;

/* What findings are made of: what was measured so far, and what is diagnosed of it. */
struct evidence {
    const struct links *links;
    const struct conf *conf;
    struct diagnose_network network;
    int *leaves; /* of the network, with misplaced nodes on the leaf that they are on */
    struct diagnosis diagnosis;
    struct inconsistent_node *inconsistent;
    struct misplaced *misplaced;
    long inconsistent_count, misplaced_count;
    /* parts between nodes that lose packets: samples may be low because of it */
    struct part *lossy;
    size_t lossy_count;
    const struct localization *localization;
};

/* Makes the findings. findings->items is malloc'd; the caller frees it. Returns 0, or -1 if memory
 * is out. */
int findings_make(const struct evidence *evidence, struct findings *findings);

#endif
