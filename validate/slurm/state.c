/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/cluster.h"

#include <stdio.h>

#include "validate/slurm/release.h"

/* Decodes Slurm's state number of a node. Nothing here calls libslurm. */

/* Returns why a node is absent on purpose; NULL: it is not. A node that is about to go counts as
 * absent: its test would be interrupted, and a job would power it on again. */
static const char *absence(uint32_t state)
{
    static const struct {
        uint32_t flags;
        const char *name;
    } absences[] = {
        {NODE_STATE_POWERING_UP | NODE_STATE_POWER_UP, "powering up"},
        {NODE_STATE_POWERING_DOWN, "powering down"},
        {NODE_STATE_POWERED_DOWN, "powered down"},
        {NODE_STATE_POWER_DOWN | NODE_STATE_POWER_DRAIN, "about to be powered down"},
        {NODE_STATE_REBOOT_ISSUED, "rebooting"},
        {NODE_STATE_REBOOT_REQUESTED, "about to be rebooted"},
#ifdef NODE_STATE_EXTERNAL
        {NODE_STATE_EXTERNAL, "external, without slurmd"},
#endif
    };

    if ((state & NODE_STATE_BASE) == NODE_STATE_FUTURE)
        return "future";
    for (size_t i = 0; i < sizeof absences / sizeof *absences; i++)
        if (state & absences[i].flags)
            return absences[i].name;
    return NULL;
}

/* Returns whether a job in an Exclusive=TOPO partition holds the node's whole block: no other job
 * starts here. */
static bool is_blocked(uint32_t state)
{
#ifdef NODE_STATE_BLOCKED
    return state & NODE_STATE_BLOCKED;
#else
    (void)state;
    return false;
#endif
}

void cluster_node_state(uint32_t state, struct cluster_node *node)
{
    uint32_t base = state & NODE_STATE_BASE;
    const char *name = absence(state);

    node->is_completing = state & NODE_STATE_COMPLETING;
    node->is_idle = base == NODE_STATE_IDLE && !is_blocked(state);
    node->is_allocated = base == NODE_STATE_ALLOCATED || base == NODE_STATE_MIXED;
    node->is_full = base == NODE_STATE_ALLOCATED;
    node->is_drained = state & (NODE_STATE_DRAIN | NODE_STATE_FAIL);
    node->is_responding = !(state & NODE_STATE_NO_RESPOND);
    node->is_reserved = state & (NODE_STATE_MAINT | NODE_STATE_RES);
    node->is_invalid = state & NODE_STATE_INVALID_REG;
    node->is_cloud = state & NODE_STATE_CLOUD;
    node->is_dynamic = state & (NODE_STATE_DYNAMIC_NORM | NODE_STATE_DYNAMIC_FUTURE);
    node->is_absent = name != NULL;
    node->is_down = base == NODE_STATE_DOWN || base == NODE_STATE_ERROR;
    if (node->is_absent)
        ;
    else if (node->is_down)
        name = "down";
    else if (node->is_invalid)
        name = "invalid";
    else if (node->is_drained)
        name = node->is_allocated || node->is_completing ? "draining" : "drained";
    else if (base == NODE_STATE_ALLOCATED)
        name = "allocated";
    else if (base == NODE_STATE_MIXED)
        name = "mixed";
    else if (node->is_completing)
        name = "completing";
    else if (base == NODE_STATE_IDLE && is_blocked(state))
        name = "blocked";
    else if (node->is_idle)
        name = node->is_reserved ? "reserved" : "idle";
    else
        name = "unknown";
    snprintf(node->state, sizeof node->state, "%s%s", name,
             node->is_responding || node->is_absent ? "" : "*");
}
