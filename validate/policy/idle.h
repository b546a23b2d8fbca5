/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_IDLE_H
#define MUSTER_POLICY_IDLE_H

#include <stdbool.h>
#include <stddef.h>

/* Which idle nodes are tested before their turn in the night: nodes whose last test is long ago,
 * and nodes with a history of faults sooner. Pure. */

struct idle_node {
    double tested;     /* seconds since the epoch: the last run that passed or failed it; 0: none */
    double tried;      /* ... the last run at all, one that was interrupted too; 0: none */
    unsigned faults;   /* with repairs, as muster history --offenders counts them */
    unsigned warnings; /* runs that warned of it */
    unsigned jobs;     /* jobs during which its counters or its kernel log showed errors */
    bool is_free;      /* it may be chosen */
    double score;      /* set by idle_choose() */
    bool is_chosen;    /* set by idle_choose() */
};

/* Returns the node's score: the time since its last test as a share of valid_s, at most
 * IDLE_AGE_MOST, also if it was never tested; times a risk: 1, and IDLE_FAULT_RISK,
 * IDLE_WARNING_RISK and IDLE_JOB_RISK more for each fault, warning and job, at most IDLE_COUNT_MOST
 * of each. */
double idle_score(const struct idle_node *node, double now, double valid_s);

/* Sets all scores and chooses, the highest score first, at most `most` of the free nodes whose
 * score reaches IDLE_SCORE_LEAST and that were not tried within IDLE_REST_S. Returns how many. */
size_t idle_choose(struct idle_node *nodes, size_t count, double now, double valid_s, size_t most);

#endif
