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
/* By ways: "sends", "receives", "sends and receives". */
extern const char *const part_verbs[DIAGNOSE_BOTH + 1];

struct part {
    enum part_type type;
    int place; /* node, or leaf; -1: the fabric */
    int peer;  /* -1: none */
    int rail;  /* -1: all */
    int ways;  /* of the place's */
    /* its state */
    int depth, duty;
    /* log of its prior, of the state's too, and of how wide its maximum is */
    double prior;
};

/* Whether what a node sends to another on a rail passes the part; a sample of a pair. */
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

/* Whether a sample of two nodes could pass it. */
static inline bool part_touches(const struct diagnose_network *network, const struct part *part,
                                int a, int b)
{
    return (part_is_large(part) || part->place == a || part->place == b) &&
           (part_carries(network, part, a, b, part->rail) ||
            part_carries(network, part, b, a, part->rail));
}

/* Whether the sample is of one rail by itself that passes a host, which has its depth for all rails
 * at once: one rail feels less of it, or nothing. */
static inline bool part_is_attenuated(const struct part *part, const struct observation *sample)
{
    return part->type == DIAGNOSE_HOST && !sample->is_together;
}

/* Sets the flags, one a node, of those whose samples may pass it, at most so many of those that
 * share it. */
void part_mark(const struct diagnose_network *network, const struct part *part, size_t most,
               bool *flags);

/* The pairs some of whose samples may pass it. pairs: room for all. Returns how many. */
unsigned part_pairs(const struct observations *observations, const struct part *part,
                    unsigned *pairs);

/* Whether a low sample of the pair passes it. */
bool part_is_low(const struct observations *observations, const struct part *part,
                 const struct pair *pair);

/* Whether they are the same but for ways and state. */
bool part_is_same(const struct part *a, const struct part *b);

enum model_sharing part_sharing(const struct part *part);
/* The share of the time, or of the streams, that it is there. */
float part_duty(const struct part *part);

double part_log_prior(const struct diagnose_network *network, const struct part *part);

/* Parts that low samples pass, with what these would gain at most. */
struct candidate {
    struct part part;
    double value; /* log odds, or what they cannot exceed: if each low sample were of its depth */
    long stamp;   /* of when it was weighed; -1: not yet */
    int depths;   /* by which it was then: a bound, or its odds */
};

/* among: the pairs to look at, or NULL: all. *candidates is malloc'd. Returns how many, or -1 when
 * memory is out. */
long part_candidates(const struct observations *observations, const unsigned *among, size_t count,
                     struct candidate **candidates);

#endif
