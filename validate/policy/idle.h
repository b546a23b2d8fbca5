/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_POLICY_IDLE_H
#define MUSTER_POLICY_IDLE_H

#include <stdbool.h>
#include <stddef.h>

/* Which idle nodes are tested before their turn comes in the night: those whose last test is long
 * ago, and sooner those with a history. Pure. */

struct idle_node {
    double tested;     /* seconds since the epoch: the last run that passed or failed it; 0: none */
    double tried;      /* ... the last run at all, one that was interrupted too; 0: none */
    unsigned faults;   /* with repairs, as muster history --offenders counts them */
    unsigned warnings; /* runs that warned of it */
    unsigned jobs;     /* jobs while which its counters or its kernel log had something */
    bool is_free;      /* it may be chosen */
    double score;      /* an answer */
    bool is_chosen;    /* another */
};

/* The time since the last test as a share of valid_s, at most IDLE_AGE_MOST, which a node that was
 * never tested has; times a risk: 1, and for each fault, warning and job IDLE_FAULT_RISK,
 * IDLE_WARNING_RISK and IDLE_JOB_RISK more, of each no more than IDLE_COUNT_MOST. */
double idle_score(const struct idle_node *node, double now, double valid_s);

/* Sets all scores and chooses, the highest score first, at most `most` of the free nodes whose
 * score reaches IDLE_SCORE_LEAST and that were not tried within IDLE_REST_S. Returns how many. */
size_t idle_choose(struct idle_node *nodes, size_t count, double now, double valid_s, size_t most);

#endif
