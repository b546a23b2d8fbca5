/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JUDGE_COURT_H
#define MUSTER_JUDGE_COURT_H

#include "validate/judge/links/cells/cells.h"
#include "validate/judge/links/court/findings.h"
#include "validate/judge/links/pursuit/pursuit.h"

/* The parts of links_judge(), which share this. Each adds its findings. Those that return an int
 * return 0, or -1 when memory is out. */
struct court {
    const struct links *links;
    struct links_limits limits;   /* with the defaults filled in */
    struct link_sample *believed; /* the samples without what liars say, or NULL: all of them */
    const struct link_sample *samples;
    struct findings findings;
    struct cells cells;
    bool *is_accused; /* [node x rail] somebody said something of it */
    int *good[2];     /* [node x rail] sends, receives: samples that are well */
};

/* Contradictions between what two ends say of one transfer: the node of most of them is a liar, its
 * figures are replaced by its partners'. */
int court_believe(struct court *court);

/* Makes a finding of what a pursuit accused, unless it is not worth one. */
void court_take(struct court *court, const struct accused *accused);

/* Of few nodes, the rails and paths that were low at some of the times that they were measured
 * alone while their ends were let run, and well at others. */
int court_moments(struct court *court);

/* The pairs of nodes that the pursuit left. */
int court_pairs(struct court *court);

/* Rails that are well alone and slow when all rails of the pair run. */
int court_together(struct court *court);

/* Rails that are slower than they used to be or than others are, slow to answer, not vouched for by
 * anybody, not measured. */
void court_history(struct court *court);
int court_latency(struct court *court);
void court_unproved(struct court *court, const struct pursuit *pursuit);

#endif
