/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_H
#define MUSTER_DIAGNOSE_H

#include "validate/diagnose/parts.h"

/* Diagnoses a network: from samples to the parts at fault, with probabilities, and to the pairs to
 * measure next. Pure.
 *
 * Search (Flock, arXiv 2305.03348, section 5.2): greedily add the part that raises the probability
 * of the explanation most. Then, for each part in it, look for rivals: other parts that explain the
 * same samples. A likelier rival takes the place of the part. The probability of a part is that of
 * the explanations with it, among all explanations that were looked at. O(samples), besides the
 * search for what explains the low samples, which are few. */

enum { DIAGNOSE_RIVALS = 4, DIAGNOSE_RIVAL_PARTS = 4, DIAGNOSE_PAIRS_OF_ITEM = 2 };

/* Another explanation of the samples that a part explains. */
struct rival {
    struct part parts[DIAGNOSE_RIVAL_PARTS];
    int count;                 /* 0: nothing is at fault */
    double score, probability; /* log probability, up to a constant; probability */
};

struct suspicion {
    struct part part;
    double probability;
    unsigned low, all;                    /* samples that pass the part: low ones, all */
    struct rival rivals[DIAGNOSE_RIVALS]; /* the likeliest first */
    int rival_count;
};

struct diagnosis {
    struct suspicion *items;    /* the likeliest first */
    size_t count, all;          /* those above MODEL_ASKED; all, with the less likely ones */
    struct node_pair *screened; /* by diagnose_screen(): other pairs to measure alone */
    size_t screened_count;
    unsigned *measured; /* [nodes] number of samples of each node that did not share an uplink */
};

/* before: the diagnosis of the same network from fewer samples, or all zeros if there is none. The
 * candidates are parts of nodes with new samples, of the leaves of these nodes, of nodes and leaves
 * in the diagnosis before and, if most nodes have new samples, of the fabric.
 * Returns 0, or -1 if memory is out. Call diagnosis_clear() in both cases. */
int diagnose(const struct diagnose_network *network, const struct diagnose_sample *samples,
             size_t count, const struct diagnosis *before, struct diagnosis *diagnosis);
void diagnosis_clear(struct diagnosis *diagnosis);

/* Returns the suspicion of the part, whatever its ways and state, or NULL if there is none. */
struct suspicion *diagnosis_find(const struct diagnosis *diagnosis, const struct part *part);

/* Screens the samples that shared uplinks. Such samples are low because of each other as often as
 * not, so they only show which parts to measure alone: those whose samples rank lower in their
 * class than chance explains, and uplinks that have not carried what one pair needs. Samples that a
 * part at fault explains do not count. Sets diagnosis->screened, the pairs of the most suspicious
 * part first. Returns 0, or -1 if memory is out. O(samples). */
int diagnose_screen(const struct diagnose_network *network, const struct diagnose_sample *samples,
                    size_t count, struct diagnosis *diagnosis);

/* Returns the probability that the part, or another part of the same node, is at fault. */
double suspicion_probability(const struct suspicion *item);
/* Returns whether that probability is high enough to fail the part: MODEL_SURE. */
bool suspicion_is_sure(const struct suspicion *item);

/* Sets pairs to what to measure next, alone on the network. Returns the number of pairs. In this
 * order:
 * - For each suspicion, the likeliest first, DIAGNOSE_PAIRS_OF_ITEM pairs whose samples tell its
 *   explanations apart best, by the Jensen-Shannon divergence of the predictions. The first time
 *   (before is NULL) every suspicion gets pairs. Later a suspicion in doubt does, unless the last
 *   samples hardly changed its log odds, and a part of a node once when it has become sure.
 * - At most screen_most pairs of diagnosis->screened. These and the pairs above are at most `most`.
 * - If there are any pairs, one control pair that no suspected part touches.
 * Pairs with a lost node are left out. pairs: room for most + 1. */
size_t diagnose_next(const struct diagnose_network *network, const struct diagnosis *diagnosis,
                     const struct diagnosis *before, struct node_pair *pairs, size_t most,
                     size_t screen_most);

#endif
