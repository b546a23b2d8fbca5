/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_EXPLANATION_H
#define MUSTER_DIAGNOSE_EXPLANATION_H

#include "validate/diagnose/likelihood.h"

/* An explanation of all samples: a set of parts at fault, and its log probability, which is up to a
 * constant of the samples. Parts are put in and taken out; only the pairs they touch are computed
 * anew. Of several faulty parts on a way the slowest rules. */

struct explanation {
    const struct observations *observations;
    struct part *parts;
    size_t count, size;
    double (*values)[MODEL_RATES]; /* [pair] log likelihood by the share of busy runs */
    double totals[MODEL_RATES];    /* of all pairs */
    int rate;                      /* the likeliest of these */
    double prior;                  /* of all parts */
    unsigned *scratch;             /* [pairs] of a part */
    unsigned short *touched;       /* [pairs] how many parts touch each */
};

/* Of no part. Returns 0, or -1 when memory is out; to be
 * cleared in either case. */
int explanation_make(const struct observations *observations, struct explanation *explanation);
void explanation_clear(struct explanation *explanation);

/* The parts that touch a pair. */
struct parts explanation_parts(const struct explanation *explanation, unsigned pair);

/* The log odds of the explanation with the part against that without, by MODEL_DEPTHS; depth, duty
 * and prior of the part are set to their likeliest. By MODEL_GROUPS what these cannot exceed. What
 * does not exceed least may be a bound of either. */
double explanation_weigh(struct explanation *explanation, struct part *part, int depths,
                         double least);

/* Puts in a part that was weighed, unless there are too many; takes out the one at that place,
 * which the last one takes. */
bool explanation_put(struct explanation *explanation, const struct part *part);
void explanation_take(struct explanation *explanation, size_t place);

double explanation_score(const struct explanation *explanation);

#endif
