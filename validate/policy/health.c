/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/health.h"

#include <string.h>

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

enum health health_decide(const struct cluster *cluster, const char *name, const char *reason,
                          size_t cap)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    size_t alike = 1;

    if (!node)
        return HEALTH_NO_NODE;
    if (cap_is_taken(node))
        return HEALTH_OURS;
    if (node->is_drained || node->is_down || node->is_invalid)
        return HEALTH_FOREIGN;
    if (cap_taken(cluster) >= cap)
        return HEALTH_CAP;
    for (size_t i = 0; i < cluster->node_count; i++)
        alike +=
            cap_is_taken(&cluster->nodes[i]) && reason_is_same(cluster->nodes[i].reason, reason);
    return alike_is_common(alike, alike, cluster->node_count) ? HEALTH_ALIKE : HEALTH_DRAIN;
}

bool health_is_beyond(const struct cluster *cluster, const char *name, size_t cap)
{
    const struct cluster_node *node = cluster_node(cluster, name);
    size_t before = 0;

    if (!node || !cap_is_taken(node))
        return false;
    for (size_t i = 0; i < cluster->node_count; i++) {
        const struct cluster_node *other = &cluster->nodes[i];

        before +=
            cap_counts(other) &&
            (other->reason_time < node->reason_time ||
             (other->reason_time == node->reason_time && strcmp(other->name, node->name) < 0));
    }
    return before >= cap;
}
