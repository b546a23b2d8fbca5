/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_LIKELIHOOD_H
#define MUSTER_DIAGNOSE_LIKELIHOOD_H

#include "validate/diagnose/parts.h"

/* How likely the samples of a pair are, given the parts at fault that they pass, over the
 * likelihood of healthy ones on quiet machines. */

enum { PARTS_MOST = 12 };

/* Parts at fault that samples of a pair may pass. */
struct parts {
    const struct part *items[PARTS_MOST];
    int count;
};

/* Logarithms for each share of runs on busy machines. */
void pair_values(const struct observations *observations, const struct pair *pair,
                 const struct parts *parts, double values[MODEL_RATES]);

/* Whether the run's low samples are rather a hiccup's than anything else's. */
bool run_is_hiccup(const struct observations *observations, const struct pair *pair,
                   const struct run *run, const struct parts *parts, double busy);

/* What each cell of another part multiplies that with, at a share of busy runs: depths of each
 * duty, MODEL_DEPTHS, or MODEL_GROUPS of them, which have what none of theirs exceeds. What comes
 * and goes may keep for a whole run. Of uplinks that some of the streams feel each stream has its
 * cable, which it keeps. */
void pair_gains(const struct observations *observations, const struct pair *pair,
                const struct parts *parts, double busy, const struct part *part, int depths,
                double gains[MODEL_CELLS]);

#endif
