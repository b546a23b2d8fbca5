/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/health.h"

#include <string.h>

#include "lib/constants/policy_constants.h"
#include "validate/policy/alike.h"
#include "validate/policy/cap.h"
#include "validate/policy/decision.h"
#include "validate/policy/reason.h"

bool health_is_hard(const struct record *record, bool lets_rails_fail)
{
    enum fault_code code = record_code(record);

    return decision_drains(record->verdict, code, DRAIN_HEALTH) &&
           !(lets_rails_fail && code == FAULT_LINK_DOWN);
}

bool health_ends_certificate(const struct cluster_node *node, time_t issued)
{
    return cap_is_taken(node) && !reason_is_refusal(node->reason) && node->reason_time > issued;
}

/* Whether it was drained before the other, by the time of its reason and then by its name. */
static bool is_before(const struct cluster_node *node, const struct cluster_node *other)
{
    return node->reason_time < other->reason_time ||
           (node->reason_time == other->reason_time && strcmp(node->name, other->name) < 0);
}

/* Whether so many were drained for that reason, of the cluster or of the node's leaf, that the
 * cause is outside of them. Those that were long before its fault began wait for parts. later: only
 * before the node was. */
static bool is_alike(const struct cluster *cluster, const struct cluster_node *node,
                     const char *reason, time_t since, bool later)
{
    size_t alike = 1, alike_on_leaf = 1, there = 0, on_leaf = 0;

    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *other = &cluster->nodes[i];
        bool is_of_leaf = node->leaf >= 0 && other->leaf == node->leaf;
        bool is_same = cap_is_taken(other) && reason_is_same(other->reason, reason) &&
                       difftime(since, other->reason_time) <= ALIKE_DRAINS_S &&
                       (!later || is_before(other, node));

        there += cap_is_there(other);
        on_leaf += is_of_leaf && cap_is_there(other);
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
    if (cap_is_taken(node))
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
    if (cap_taken(cluster) >= cap)
        return HEALTH_CAP;
    return is_alike(cluster, node, reason, since, false) ? HEALTH_ALIKE : HEALTH_DRAIN;
}

enum health health_review(const struct cluster *cluster, const char *name, time_t since, size_t cap)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    size_t before = 0;

    if (!node)
        return HEALTH_NO_NODE;
    if (!cap_is_taken(node))
        return HEALTH_FOREIGN;
    for (size_t i = 0; i < cluster->node_count; i++)
        before += cap_counts(&cluster->nodes[i]) && is_before(&cluster->nodes[i], node);
    if (before >= cap)
        return HEALTH_CAP;
    return is_alike(cluster, node, node->reason, since, true) ? HEALTH_ALIKE : HEALTH_OURS;
}
