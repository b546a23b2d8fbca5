/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/idle.h"

#include <math.h>

#include "lib/constants/policy_constants.h"

static double risk_of(unsigned count, double each)
{
    return each * fmin(count, IDLE_COUNT_MOST);
}

double idle_score(const struct idle_node *node, double now, double valid_s)
{
    double age = fmax(0, now - node->tested) / valid_s; /* great if it was never tested */

    return fmin(age, IDLE_AGE_MOST) *
           (1 + risk_of(node->faults, IDLE_FAULT_RISK) +
            risk_of(node->warnings, IDLE_WARNING_RISK) + risk_of(node->jobs, IDLE_JOB_RISK));
}

size_t idle_choose(struct idle_node *nodes, size_t count, double now, double valid_s, size_t most)
{
    size_t chosen = 0;

    for (size_t i = 0; i < count; i++) {
        nodes[i].score = idle_score(&nodes[i], now, valid_s);
        nodes[i].is_chosen = false;
    }
    while (chosen < most) {
        struct idle_node *next = NULL;

        for (size_t i = 0; i < count; i++)
            if (nodes[i].is_free && !nodes[i].is_chosen && nodes[i].score >= IDLE_SCORE_LEAST &&
                now - nodes[i].tried >= IDLE_REST_S && (!next || nodes[i].score > next->score))
                next = &nodes[i];
        if (!next)
            break;
        next->is_chosen = true;
        chosen++;
    }
    return chosen;
}
