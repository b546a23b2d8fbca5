/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/policy_constants.h"
#include "validate/scheduling/verify/run.h"

/* Certified=: who may use certified nodes only. Queries when a job would start on a node that has
 * no certificate; submits none. */

static const struct intent_key keys[] = {{NULL}};

static struct verify_plan certified_plan(const struct intent_statement *statement,
                                         const struct verify_capacity *capacity)
{
    (void)capacity;
    return (struct verify_plan){
        0 /* it is probed before any node is reserved */, VERIFY_END_S,
        text_line("no job of %s would start on a node without certificate; none is submitted",
                  statement->who->user)};
}

static struct verify_result certified_judge(const struct intent_statement *statement,
                                            const struct verify_seen *seen)
{
    const struct seen_node *node = &seen->node;
    bool is_open = node->answer == PROBE_ACCEPTED && node->after_s < VERIFY_SOON_S;

    (void)statement;
    if (seen->node_count == 0)
        return verify_not_shown("each node has a certificate");
    if (node->answer == PROBE_NO_ANSWER)
        return verify_not_shown("%s: %s", node->name, node->message);
    if (is_open && seen->has_gate)
        return verify_not_shown("a job would start on %s, which has no certificate, and what a "
                                "prolog or the plugin does then is not tried",
                                node->name);
    if (is_open)
        return verify_fail(VERIFY_NOT_CERTIFIED,
                           "a job would start on %s, which has no certificate", node->name);
    if (node->answer == PROBE_ACCEPTED && node->after_s < VERIFY_NEVER_S)
        return verify_not_shown("a job would start on %s, which has no certificate, in %.0f s",
                                node->name, node->after_s);
    return verify_pass("no job would start on %s%s: %s", node->name,
                       seen->node_count > 1 ? " and the others without certificate" : "",
                       *node->message ? node->message : "not for a month");
}

const struct verify_kind verify_certified = {"Certified", keys, certified_plan, verify_uncertified,
                                             certified_judge};
