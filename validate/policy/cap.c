/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/cap.h"

#include <math.h>
#include <string.h>

#include "validate/policy/reason.h"

bool cap_node_exists(const struct cluster_node *node)
{
    return !(node->is_cloud && node->is_absent);
}

size_t cap_base(const struct cluster *cluster)
{
    size_t count = 0;

    for (size_t i = 0; i < cluster->node_count; i++)
        count += cap_node_exists(&cluster->nodes[i]);
    return count;
}

size_t cap_nodes(const struct cluster *cluster, double percent, size_t least)
{
    size_t cap = (size_t)ceil((double)cap_base(cluster) * percent / 100 - 1e-9);

    return cap < least ? least : cap;
}

bool cap_is_drained_by_muster(const struct cluster_node *node)
{
    return (node->is_drained || node->is_down) && reason_is_ours(node->reason);
}

bool cap_counts_node(const struct cluster_node *node)
{
    const char *part = reason_slurm_part(node->reason);

    return cap_is_drained_by_muster(node) ||
           ((node->is_drained || node->is_down) && part && strcmp(part, "prolog") == 0);
}

size_t cap_count(const struct cluster *cluster)
{
    size_t count = 0;

    for (size_t i = 0; i < cluster->node_count; i++)
        count += cap_counts_node(&cluster->nodes[i]);
    return count;
}

bool cap_is_drained_before(const struct cluster_node *node, const struct cluster_node *other)
{
    return node->reason_time < other->reason_time ||
           (node->reason_time == other->reason_time && strcmp(node->name, other->name) < 0);
}

size_t cap_count_before(const struct cluster *cluster, const struct cluster_node *node)
{
    size_t before = 0;

    for (size_t i = 0; i < cluster->node_count; i++)
        before +=
            cap_counts_node(&cluster->nodes[i]) && cap_is_drained_before(&cluster->nodes[i], node);
    return before;
}
