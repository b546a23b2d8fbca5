/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_EXPLANATION_H
#define MUSTER_DIAGNOSE_EXPLANATION_H

#include "validate/diagnose/parts.h"

/* An explanation of all samples: a set of parts at fault, and its log probability, which is up to a
 * constant of the samples. Parts are put in and taken out; only the runs they touch are computed
 * anew. Of several faulty parts on a way the slowest rules. */

struct explanation {
    const struct observations *observations;
    struct part *parts;
    size_t count, size;
    double (*runs)[MODEL_LOADS]; /* [run] log likelihood, of quiet and of busy machines */
    double *hiccups;             /* [run] log likelihood of one, its share in it */
    double hiccup_share;         /* of the runs */
    float *slack;                /* [run] what another part may add to that at most */
    double totals[MODEL_RATES];  /* of all runs, by the share of busy ones */
    int rate;                    /* the likeliest of these */
    double prior;                /* of all parts */
    int *first;                  /* [run] first place in links, -1: no part */
    struct explanation_link {
        int part, next;
    } * links; /* the parts of a run */
    int link_count, link_size, link_free;
    unsigned *scratch; /* runs of a part */
    size_t scratch_size;
    /* of these, what is computed once: runs of a kind that have the same sides of the same parts */
    struct explanation_alike {
        unsigned long long key;
        unsigned run, count;
    } * alike;
    unsigned *alike_of; /* by place in scratch */
    unsigned *alike_slots;
    size_t alike_count, alike_size;
    bool *asked; /* [run] the samples that are to be explained are of it, if is_asked */
    bool is_asked;
};

/* Of no part. hiccup_share: of the runs have one. Returns 0, or -1 when memory is out; to be
 * cleared in either case. */
int explanation_make(const struct observations *observations, double hiccup_share,
                     struct explanation *explanation);
void explanation_clear(struct explanation *explanation);

/* The log odds of the explanation with the part against that without, or, below `least`, more than
 * these; depth, duty and prior of the part are set to their likeliest. NAN: memory is out. */
double explanation_weigh(struct explanation *explanation, struct part *part, double least);

/* From now on what is weighed is to explain the low samples of these runs: it gains nothing from
 * others, which the explanation has or leaves to chance, so that what is sound elsewhere is enough
 * to tell that it is not worth it. NULL: all again. */
void explanation_ask(struct explanation *explanation, const unsigned *runs, size_t count);

/* Puts in a part that was weighed; takes out the one at that place, which the last one
 * takes. Return 0, or -1 when memory is out. */
int explanation_put(struct explanation *explanation, const struct part *part);
int explanation_take(struct explanation *explanation, size_t place);

/* Whether what is low of a run is rather a hiccup's than anything else's. */
bool explanation_is_hiccup(const struct explanation *explanation, unsigned run);

double explanation_score(const struct explanation *explanation);

#endif
