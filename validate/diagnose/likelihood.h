/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_LIKELIHOOD_H
#define MUSTER_DIAGNOSE_LIKELIHOOD_H

#include "validate/diagnose/parts.h"

/* How likely the samples of a run are, given the parts at fault that they pass. */

enum { PASSING_MOST = 12 };

/* The parts of a run, the deepest first, and which samples pass each: a bit of each. */
struct passing {
    const struct part *parts[PASSING_MOST];
    unsigned long long masks[PASSING_MOST], all;
    int count;
};

/* A bit for each of the run's samples that passes the part. */
unsigned long long passing_mask(const struct observations *observations, const struct part *part,
                                const struct run *run);

/* Adds the part, if a sample passes it. */
void passing_add(const struct observations *observations, const struct run *run,
                 const struct part *part, struct passing *passing);

/* Depths of a part that are looked at. */
struct depths {
    int first, last;
};

/* The likelihood of a run over that of a healthy one, on quiet and on busy machines, without the
 * part, and with each cell of it (unless part is NULL). What comes and goes, of one of the parts,
 * may keep for the whole run. */
void run_weigh(const struct observations *observations, const struct run *run,
               const struct passing *others, const struct part *part, struct depths depths,
               double *without, double (*cells)[MODEL_CELLS]);

/* Several samples of a run, which have a rail or a direction or that all rails ran in common, at
 * each depth that is as likely as the others. */
double run_hiccup(const struct observations *observations, const struct run *run);

#endif
