/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_LIKELIHOOD_H
#define MUSTER_DIAGNOSE_LIKELIHOOD_H

#include "validate/diagnose/parts.h"

/* The likelihood of the samples of a pair, given the parts at fault that they pass, over the
 * likelihood of healthy samples on quiet machines. */

enum { PARTS_MOST = 12 };

/* Parts at fault that samples of a pair may pass. */
struct parts {
    const struct part *items[PARTS_MOST];
    int count;
};

/* Sets values to the log likelihood of the pair for each share of runs on busy machines. */
void pair_values(const struct observations *observations, const struct pair *pair,
                 const struct parts *parts, double values[MODEL_RATES]);

/* Returns whether a hiccup explains the run's samples better than everything else together. busy:
 * the share of runs on busy machines. */
bool run_is_hiccup(const struct observations *observations, const struct pair *pair,
                   const struct run *run, const struct parts *parts, double busy);

/* Sets gains to the factors by which one more part changes the likelihood of the pair, at the share
 * `busy` of runs on busy machines. A cell is [duty][depth], with depths = MODEL_DEPTHS, or with
 * depths = MODEL_GROUPS, whose cells are upper bounds of the depths in the group. A fault that
 * comes and goes may stay on or off for a whole run. Where a part is one of several cables of an
 * uplink, each stream keeps its cable. */
void pair_gains(const struct observations *observations, const struct pair *pair,
                const struct parts *parts, double busy, const struct part *part, int depths,
                double gains[MODEL_CELLS]);

#endif
