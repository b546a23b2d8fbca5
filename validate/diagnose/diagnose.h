/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_H
#define MUSTER_DIAGNOSE_H

#include "validate/diagnose/parts.h"

/* From samples of a network to the parts at fault, with probabilities, and to the pairs that should
 * be measured next. Pure.
 *
 * Search: greedily the part that raises the probability of the explanation most; then of each part
 * in it what explains the same samples without it (Flock, arXiv 2305.03348, section 5.2), which
 * takes its place where that is likelier. A part's probability is that of the explanations with
 * it among all that were looked at. O(samples) but for explanations of few low ones. */

enum { DIAGNOSE_RIVALS = 4, DIAGNOSE_RIVAL_PARTS = 4, DIAGNOSE_PAIRS_OF_ITEM = 2 };

/* Another explanation of what a part explains. */
struct rival {
    struct part parts[DIAGNOSE_RIVAL_PARTS];
    int count;                 /* 0: nothing is at fault */
    double score, probability; /* log of what it is up to a constant; what it is */
};

struct suspicion {
    struct part part;
    double probability;
    unsigned low, all;                    /* samples that pass it: low ones, all */
    struct rival rivals[DIAGNOSE_RIVALS]; /* the likeliest first */
    int rival_count;
};

struct diagnosis {
    struct suspicion *items;    /* the likeliest first */
    size_t count, all;          /* above MODEL_ASKED, and with those that are not told */
    struct node_pair *screened; /* by diagnose_screen(): what else to measure alone */
    size_t screened_count;
    unsigned *measured; /* [nodes] samples of each that had their uplinks to themselves */
};

/* before: the diagnosis of the same network before some more was measured, all 0: there is none.
 * Only parts of nodes and leaves of which something was measured since, or looked at then, are
 * looked for, and the fabric where that is most nodes.
 * Returns 0, or -1 when memory is out; to be cleared in either case. */
int diagnose(const struct diagnose_network *network, const struct diagnose_sample *samples,
             size_t count, const struct diagnosis *before, struct diagnosis *diagnosis);
void diagnosis_clear(struct diagnosis *diagnosis);

/* What is suspected of the part, whatever its ways and state; NULL: nothing. */
struct suspicion *diagnosis_find(const struct diagnosis *diagnosis, const struct part *part);

/* Samples that shared uplinks are low for each other's sake as often as not. They only tell which
 * parts to measure alone: those whose samples, but for those that a part at fault explains, rank
 * lower among their like than chance has it. Sets the diagnosis's screened, the most telling pair
 * first. Returns 0, or -1 when memory is out. O(samples). */
int diagnose_screen(const struct diagnose_network *network, const struct diagnose_sample *samples,
                    size_t count, struct diagnosis *diagnosis);

/* That the part is at fault, or another one of its node; whether that is sure enough to fail. */
double suspicion_probability(const struct suspicion *item);
bool suspicion_is_sure(const struct suspicion *item);

/* The pairs whose samples, alone on the network, tell the suspicions' explanations apart best, by
 * the Jensen-Shannon divergence of what these predict; at most `most`, the most telling first,
 * then at most `screen_most` of the screen, and one more of nodes that nobody suspects: pairs has
 * room for most + 1. The first
 * time (before is NULL) a suspicion that is sure is confirmed by pairs as well, and one that is not
 * in doubt is asked for if it was measured once, as a path among many nodes. Of what the pairs
 * since the diagnosis before have told nothing no more is asked, nor of nodes that are lost.
 * Returns how many. */
size_t diagnose_next(const struct diagnose_network *network, const struct diagnosis *diagnosis,
                     const struct diagnosis *before, struct node_pair *pairs, size_t most,
                     size_t screen_most);

#endif
