/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_BUDGET_H
#define MUSTER_CERTIFY_BUDGET_H

#include <stddef.h>

#include "validate/certify/state/outcome.h"

/* How long the battery's stages take, estimated from their work, and when each is ended. Pure. */

/* How much is tested; each level includes the one before it. */
enum certify_level { LEVEL_QUICK, LEVEL_STANDARD, LEVEL_FULL };

struct split_limits;

struct budget_work {
    enum certify_level level;
    size_t nodes;
    int rails;           /* of a node */
    int pairs_at_once;   /* 0: all pairs of a round */
    int rounds;          /* of single rails */
    int all_rail_rounds; /* of all rails of a pair at once */
    int sub_rounds;      /* sub-rounds per round, by limits of leaves and uplinks; 0: no limits */
    double oversubscription; /* most nodes per processor, of machines with several nodes; 0: none */
    double nodes_per_machine; /* most nodes on one machine; 0: one */
    long gpus;                /* most GPUs of a node */
};

/* The machine of a node; several nodes may share one. */
struct budget_machine {
    const char *boot_id; /* "": unknown, counts as a machine of its own */
    int processors;
};

/* Returns the confidence with which the links stage must name a bad node. It determines the number
 * of rounds. 0: all pairs are measured, as with few nodes. doc/attribution.md lists how often the
 * part is named correctly. */
double budget_confidence(enum certify_level level, size_t nodes);

/* times: how often all pairs are measured. */
struct budget_work budget_work_make(enum certify_level level, size_t nodes, int rails,
                                    int pairs_at_once, int times);

/* Accounts for nodes that share machines: how many pairs can run at once, and how much slower they
 * are. machines: [count], that of each node; sorted here. */
void budget_apply_sharing(struct budget_work *work, struct budget_machine *machines, size_t count);

/* Accounts for limits of leaves and uplinks, which split rounds. limits->blocks: the leaf of each
 * node. If memory is out, no limits are assumed. */
void budget_apply_limits(struct budget_work *work, const struct split_limits *limits);

/* Returns the expected duration of a stage without faults, in seconds, for STAGE_LAUNCH to
 * STAGE_TRAIN; else 0. */
double budget_estimate_s(const struct budget_work *work, enum stage stage);

/* Returns the stage's time limit in seconds. wanted_s: the administrator's budget for the run, of
 * which each stage may take half; 0: a multiple of the estimate, so large that only a stage without
 * progress is ended. */
double budget_limit_s(const struct budget_work *work, enum stage stage, double wanted_s);

#endif
