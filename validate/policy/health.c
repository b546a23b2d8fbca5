/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/health.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/constants/policy_constants.h"
#include "validate/policy/alike.h"
#include "validate/policy/cap.h"
#include "validate/policy/decision.h"
#include "validate/policy/reason.h"
#include "validate/slurm/extra.h"

bool health_is_hard(const struct record *record, bool lets_rails_fail)
{
    enum fault_code code = record_code(record);

    return decision_drains(record->verdict, code, DRAIN_HEALTH) &&
           !(lets_rails_fail && code == FAULT_LINK_DOWN);
}

bool health_ends_certificate(const struct cluster_node *node, time_t issued)
{
    return cap_is_drained_by_muster(node) && !reason_is_refusal(node->reason) &&
           node->reason_time > issued;
}

void health_note(const char *reason, time_t now, char *note, size_t size)
{
    snprintf(note, size, "%lld %s", (long long)now, reason);
}

bool health_is_noted(const char *extra, const char *reason, time_t earliest)
{
    char *note = extra_read_note(extra, EXTRA_FAULT), *rest;
    bool is_noted = note && strtoll(note, &rest, 10) >= (long long)earliest && *rest == ' ' &&
                    reason_is_same(rest + 1, reason);

    free(note);
    return is_noted;
}

static bool was_drained(const struct cluster_node *node, const char *reason, time_t since)
{
    return cap_is_drained_by_muster(node) && reason_is_same(node->reason, reason) &&
           difftime(since, node->reason_time) <= ALIKE_DRAINS_S;
}

bool health_has_same_fault(const struct cluster_node *node, const char *reason, time_t since)
{
    return was_drained(node, reason, since) ||
           health_is_noted(node->extra, reason, since - ALIKE_DRAINS_S);
}

/* Returns whether the fault has a common cause, in the cluster or on the node's leaf. Nodes drained
 * long before the fault do not count: they wait for parts. only_earlier_drains: count only nodes
 * drained before this node. */
static bool is_common_fault(const struct cluster *cluster, const struct cluster_node *node,
                            const char *reason, time_t since, bool only_earlier_drains)
{
    size_t alike = 1, alike_on_leaf = 1, there = 0, on_leaf = 0;

    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *other = &cluster->nodes[i];
        bool is_of_leaf = node->leaf >= 0 && other->leaf == node->leaf;
        bool is_same = only_earlier_drains
                           ? was_drained(other, reason, since) && cap_is_drained_before(other, node)
                           : other != node && health_has_same_fault(other, reason, since);

        there += cap_node_exists(other);
        on_leaf += is_of_leaf && cap_node_exists(other);
        alike += is_same;
        alike_on_leaf += is_of_leaf && is_same;
    }
    return alike_is_common(alike, alike, there) ||
           alike_is_common(alike_on_leaf, alike_on_leaf, on_leaf);
}

enum health health_state(const struct cluster_node *node)
{
    if (!node)
        return HEALTH_NO_NODE;
    if (cap_is_drained_by_muster(node))
        return HEALTH_OURS;
    return node->is_drained || node->is_down || node->is_invalid ? HEALTH_FOREIGN : HEALTH_DRAIN;
}

enum health health_decide(const struct cluster *cluster, const char *name, const char *reason,
                          time_t since, size_t cap)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    enum health state = health_state(node);

    if (state != HEALTH_DRAIN)
        return state;
    if (cap_count(cluster) >= cap)
        return HEALTH_CAP;
    return is_common_fault(cluster, node, reason, since, false) ? HEALTH_COMMON_FAULT
                                                                : HEALTH_DRAIN;
}

enum health health_review(const struct cluster *cluster, const char *name, time_t since, size_t cap)
{
    const struct cluster_node *node = cluster_node(cluster, name);

    if (!node)
        return HEALTH_NO_NODE;
    if (!cap_is_drained_by_muster(node))
        return HEALTH_FOREIGN;
    if (cap_count_before(cluster, node) >= cap)
        return HEALTH_CAP;
    return is_common_fault(cluster, node, node->reason, since, true) ? HEALTH_COMMON_FAULT
                                                                     : HEALTH_OURS;
}
