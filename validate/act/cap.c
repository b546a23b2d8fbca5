/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/act/cap.h"

#include <math.h>

#include "validate/act/reason.h"

size_t cap_nodes(size_t nodes, double percent, size_t least)
{
    size_t cap = (size_t)ceil((double)nodes * percent / 100 - 1e-9);

    return cap < least ? least : cap;
}

bool cap_is_taken(const struct cluster_node *node)
{
    return (node->is_drained || node->is_down) && reason_is_ours(node->reason);
}

size_t cap_taken(const struct cluster *cluster)
{
    size_t taken = 0;

    for (size_t i = 0; i < cluster->node_count; i++)
        taken += cap_is_taken(&cluster->nodes[i]);
    return taken;
}
