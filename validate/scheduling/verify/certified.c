/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "lib/constants/policy_constants.h"
#include "validate/scheduling/verify/run.h"

/* Certified=: who may use certified nodes only. Queries when a job would start on a node that has
 * no certificate; submits none. */

static const struct intent_key keys[] = {{NULL}};

static void certified_plan(const struct intent_statement *statement,
                           const struct verify_capacity *capacity, struct verify_plan *plan)
{
    (void)capacity;
    plan->nodes = 0; /* none; it is probed before any node is reserved */
    plan->most_s = VERIFY_END_S;
    snprintf(plan->doing, sizeof plan->doing,
             "no job of %s would start on a node without certificate; none is submitted",
             statement->who->user);
}

static void certified_judge(const struct intent_statement *statement,
                            const struct verify_seen *seen, struct verify_result *result)
{
    const struct seen_node *node = &seen->node;
    bool is_open = node->answer == PROBE_ACCEPTED && node->after_s < VERIFY_SOON_S;

    (void)statement;
    if (seen->node_count == 0)
        verify_not_shown(result, "each node has a certificate");
    else if (node->answer == PROBE_NO_ANSWER)
        verify_not_shown(result, "%s: %s", node->name, node->message);
    else if (is_open && seen->has_gate)
        verify_not_shown(result,
                         "a job would start on %s, which has no certificate, and what a "
                         "prolog or the plugin does then is not tried",
                         node->name);
    else if (is_open)
        verify_fail(result, VERIFY_NOT_CERTIFIED,
                    "a job would start on %s, which has no certificate", node->name);
    else if (node->answer == PROBE_ACCEPTED && node->after_s < VERIFY_NEVER_S)
        verify_not_shown(result, "a job would start on %s, which has no certificate, in %.0f s",
                         node->name, node->after_s);
    else
        verify_pass(result, "no job would start on %s%s: %s", node->name,
                    seen->node_count > 1 ? " and the others without certificate" : "",
                    *node->message ? node->message : "not for a month");
}

const struct verify_kind verify_certified = {"Certified", keys, certified_plan, verify_uncertified,
                                             certified_judge};
