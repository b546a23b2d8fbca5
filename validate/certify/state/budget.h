/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_BUDGET_H
#define MUSTER_CERTIFY_BUDGET_H

#include <stddef.h>

#include "validate/certify/state/outcome.h"

/* How long the battery's stages take, by their work, and when each is ended. Pure. */

/* How much is tested: each level all that the one before it has. */
enum certify_level { LEVEL_QUICK, LEVEL_STANDARD, LEVEL_FULL };

struct split_limits;

struct budget_work {
    enum certify_level level;
    size_t nodes;
    int rails;          /* of a node */
    int pairs_at_once;  /* 0: all of a round */
    int rounds, second; /* of single rails; of all rails of a pair at once */
    int sub_rounds;     /* of a round, by limits of leaves and uplinks; 0: there are none */
    double crowd;       /* nodes for each processor, where several nodes are on one machine; 0 */
    double turns;       /* nodes of a machine, the most; 0: one */
    long gpus;          /* of a node, the most */
};

/* A machine: one of several nodes is a host that they share. */
struct budget_machine {
    const char *boot_id; /* "": not known, a machine by itself */
    int processors;
};

/* How sure the links are to name a bad node, by which so many rounds are measured; 0: all pairs
 * are, as of few nodes. doc/attribution.md has how often the part is named rightly then. */
double budget_confidence(enum certify_level level, size_t nodes);

/* times: that all pairs are measured. */
struct budget_work budget_work_make(enum certify_level level, size_t nodes, int rails,
                                    int pairs_at_once, int times);

/* Lets the work know on which machines its nodes are: what those that share one can run at once,
 * and how much slower that is. machines: [count] of each node, sorted here. */
void budget_share(struct budget_work *work, struct budget_machine *machines, size_t count);

/* Lets the work know the limits of its leaves and uplinks, which split its rounds: limits->blocks
 * has the leaf of each node. Without memory they are none. */
void budget_split(struct budget_work *work, const struct split_limits *limits);

/* About how long a stage takes when all is well, in seconds: STAGE_LAUNCH to STAGE_TRAIN. */
double budget_estimate_s(const struct budget_work *work, enum stage stage);

/* When the stage is ended. wanted_s: what the administrator gives to the run, of which each stage
 * may take half; 0: by the estimate, and so much later that only what no longer gets on is ended.
 */
double budget_limit_s(const struct budget_work *work, enum stage stage, double wanted_s);

#endif
