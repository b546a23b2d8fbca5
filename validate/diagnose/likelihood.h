/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_DIAGNOSE_LIKELIHOOD_H
#define MUSTER_DIAGNOSE_LIKELIHOOD_H

#include "validate/diagnose/parts.h"

/* The likelihood of the samples of a pair, given the parts at fault that they pass, over the
 * likelihood of healthy samples on quiet machines. */

enum { PARTS_MOST = 12 };

/* A pair, and the parts at fault that its samples may pass. */
struct explained_pair {
    const struct observations *observations;
    const struct pair *pair;
    const struct part *parts[PARTS_MOST];
    int part_count;
};

/* Sets values to the log likelihood of the pair for each share of runs on busy machines. */
void pair_values(const struct explained_pair *explained, double values[MODEL_RATES]);

/* Returns whether a hiccup explains the samples of a run of the pair better than everything else
 * together. busy: the share of runs on busy machines. */
bool run_is_hiccup(const struct explained_pair *explained, const struct run *run, double busy);

/* Sets gains to the factors by which one more part changes the likelihood of the pair, at the share
 * `busy` of runs on busy machines. A cell is [duty][depth], with depths = MODEL_DEPTHS, or with
 * depths = MODEL_GROUPS, whose cells are upper bounds of the depths in the group. A fault that
 * comes and goes may stay on or off for a whole run. Where a part is one of several cables of an
 * uplink, each stream keeps its cable. */
void pair_gains(const struct explained_pair *explained, double busy, const struct part *part,
                int depths, double gains[MODEL_CELLS]);

#endif
