/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_EXPLANATION_H
#define MUSTER_DIAGNOSE_EXPLANATION_H

#include "validate/diagnose/likelihood.h"

/* An explanation of all samples: a set of parts at fault, with its log probability up to a constant
 * that depends on the samples only. When a part is put in or taken out, only the pairs that it
 * touches are computed anew. Where a sample passes several faulty parts, the slowest one sets its
 * rate. */

struct explanation {
    const struct observations *observations;
    struct part *parts;
    size_t count, size;
    double (*values)[MODEL_RATES]; /* [pair] log likelihood for each share of busy runs */
    double totals[MODEL_RATES];    /* sums of values over all pairs */
    int rate;                      /* index of the likeliest share */
    double prior;                  /* log, sum over the parts */
    unsigned *scratch;             /* [pairs] indices of the pairs of a part */
    unsigned short *touched;       /* [pairs] how many parts touch each */
};

/* Makes an explanation without parts. Returns 0, or -1 if memory is out. Call explanation_clear()
 * in both cases. */
int explanation_make(const struct observations *observations, struct explanation *explanation);
void explanation_clear(struct explanation *explanation);

/* Returns the pair with that index and the parts that touch it, PARTS_MOST at most. */
struct explained_pair explanation_pair(const struct explanation *explanation, unsigned pair);

/* Returns the log odds of the explanation with the part against the one without. With depths =
 * MODEL_DEPTHS also sets depth, duty and prior of the part to the likeliest. With depths =
 * MODEL_GROUPS returns an upper bound. In both cases a result that does not exceed least may be
 * only an upper bound, and the part is then not set. */
double explanation_weigh(struct explanation *explanation, struct part *part, int depths,
                         double least);

/* Adds a part that was weighed. Returns false if the explanation is full. */
bool explanation_add(struct explanation *explanation, const struct part *part);
/* Removes the part at that index. The last part moves there. */
void explanation_remove(struct explanation *explanation, size_t index);

/* Returns the log probability, up to the constant. */
double explanation_score(const struct explanation *explanation);

#endif
