/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_PARTS_H
#define MUSTER_DIAGNOSE_PARTS_H

#include "validate/diagnose/observations.h"

/* The parts of a network that may be at fault, and which samples pass them. */

enum part_type {
    DIAGNOSE_RAIL,   /* node, rail */
    DIAGNOSE_NODE,   /* node: all of its rails */
    DIAGNOSE_HOST,   /* node: its rails together */
    DIAGNOSE_PATH,   /* node, peer, rail or -1: all */
    DIAGNOSE_LEAF,   /* leaf, rail or -1 */
    DIAGNOSE_UPLINK, /* leaf, rail or -1; peer: the leaf at the other end, or -1: all */
    DIAGNOSE_FABRIC, /* rail or -1 */
};

enum { DIAGNOSE_SENDS = 1, DIAGNOSE_RECEIVES = 2, DIAGNOSE_BOTH = 3 };

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

/* Whether a sample of a run that has to do with the part passes it. */
bool part_passes(const struct observations *observations, const struct part *part,
                 const struct run *run, const struct observation *sample);

/* The runs some of whose samples may pass it. *runs is grown, and the caller's. Returns how many,
 * or -1 when memory is out. */
long part_runs(const struct observations *observations, const struct part *part, unsigned **runs,
               size_t *size);

/* Whether they are the same but for ways and state. */
bool part_is_same(const struct part *a, const struct part *b);

double part_log_prior(const struct diagnose_network *network, const struct part *part);
bool part_is_large(const struct part *part); /* shared by many nodes */

/* Parts that low samples pass, with what these would gain at most. */
struct candidate {
    struct part part;
    double bound; /* log odds that it cannot exceed */
    unsigned low_runs;
};

/* among: the runs to look at, or NULL: all. *candidates is malloc'd, the best bound first. Returns
 * how many, or -1 when memory is out. */
long part_candidates(const struct observations *observations, const unsigned *among, size_t count,
                     struct candidate **candidates);

#endif
