/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_PARTS_H
#define MUSTER_DIAGNOSE_PARTS_H

#include "validate/diagnose/observations.h"

/* The parts of a network that may be at fault, and which samples pass them. */

enum part_type {
    /* of a node */
    DIAGNOSE_RAIL, /* node, rail */
    DIAGNOSE_NODE, /* node: all of its rails */
    DIAGNOSE_HOST, /* node: what its rails share */
    /* between nodes */
    DIAGNOSE_PATH,   /* node, peer, rail or -1: all */
    DIAGNOSE_LEAF,   /* leaf, rail or -1 */
    DIAGNOSE_UPLINK, /* leaf, rail or -1; peer: the leaf at the other end, or -1: all */
    DIAGNOSE_FABRIC, /* rail or -1 */
};

enum { DIAGNOSE_SENDS = 1, DIAGNOSE_RECEIVES = 2, DIAGNOSE_BOTH = 3 };

struct part {
    enum part_type type;
    int index; /* node, or leaf; -1: the fabric */
    int peer;  /* -1: none */
    int rail;  /* -1: all */
    int ways;  /* of the node or leaf: sends, receives */
    /* the state of the fault */
    int depth, duty;
    /* log prior of the part and of its state, plus the log width of the maximum of the
     * likelihood */
    double prior;
};

/* Whether traffic from one node to another on a rail passes the part, or a sample of a pair
 * does. */
bool part_carries(const struct diagnose_network *network, const struct part *part, int from, int to,
                  int rail);
static inline bool part_passes(const struct diagnose_network *network, const struct part *part,
                               const struct pair *pair, const struct observation *sample)
{
    return part_carries(network, part, sample->is_up ? pair->low : pair->high,
                        sample->is_up ? pair->high : pair->low, sample->rail);
}

static inline bool part_is_of_node(const struct part *part)
{
    return part->type <= DIAGNOSE_HOST;
}
static inline bool part_is_large(const struct part *part) /* shared by many nodes */
{
    return part->type >= DIAGNOSE_LEAF;
}

/* Whether a sample between the two nodes could pass the part. */
static inline bool part_touches(const struct diagnose_network *network, const struct part *part,
                                int a, int b)
{
    return (part_is_large(part) || part->index == a || part->index == b) &&
           (part_carries(network, part, a, b, part->rail) ||
            part_carries(network, part, b, a, part->rail));
}

/* Whether the part is a host and the sample is of one rail by itself. The depth of a host is that
 * of all rails at once: one rail by itself is slowed less, or not at all. */
static inline bool part_is_attenuated(const struct part *part, const struct observation *sample)
{
    return part->type == DIAGNOSE_HOST && !sample->is_together;
}

/* Sets flags[node] of the nodes whose samples may pass the part. If many nodes share the part, sets
 * at most `most`. */
void part_mark(const struct diagnose_network *network, const struct part *part, size_t most,
               bool *flags);

/* Sets pairs to the indices of pairs with samples that may pass the part. pairs: room for all.
 * Returns the number of pairs. */
unsigned part_pairs(const struct observations *observations, const struct part *part,
                    unsigned *pairs);

/* Whether two parts of diagnoses, whose paths begin at the lower node, are the same, whatever their
 * ways and state. */
bool part_is_same(const struct part *a, const struct part *b);

enum model_sharing part_sharing(const struct part *part);
/* Returns the share of the time that the part is at fault or, of uplinks, the share of the streams
 * that are on slow cables. */
float part_duty(const struct part *part);

double part_log_prior(const struct diagnose_network *network, const struct part *part);

/* A part that low samples pass. */
struct candidate {
    struct part part;
    double value; /* log odds, or a bound: as if each low sample had its own best depth */
    long stamp;   /* size of the explanation when it was weighed; -1: not yet */
    int depths;   /* then used: MODEL_GROUPS, value is a bound, or MODEL_DEPTHS */
};

/* Lists the parts that low samples pass, unless their odds cannot exceed MODEL_ASKED. among:
 * [count] indices of the pairs to consider, or NULL: all. *candidates is malloc'd; the caller frees
 * it in any case. Returns the number of candidates, or -1 if memory is out. */
long part_candidates(const struct observations *observations, const unsigned *among, size_t count,
                     struct candidate **candidates);

#endif
