/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan.h"

#include <stdlib.h>

/* Rails that failed are better than none: they stay where no other one is up. */
static void leave_out_failed(const struct failed_rails *failed, struct fabric *fabric)
{
    struct fabric *without = malloc(sizeof *without);
    bool is_up = false;

    if (without == NULL)
        return;
    *without = *fabric;
    fabric_leave_out(without, &failed->rails, failed->why);
    for (size_t i = 0; i < without->rail_count; i++)
        is_up = is_up || rail_is_up(&without->rails[i]);
    if (is_up)
        *fabric = *without;
    free(without);
}

void envplan_node_make(const struct inventory *inventory, const struct conf *conf,
                       const char *node_name, const char *step_nodes,
                       const struct failed_rails *failed, struct envplan_node *node)
{
    node->inventory = inventory;
    node->conf = conf;
    islands_meet(conf, node_name, step_nodes, &node->islands);
    fabric_choose_for(inventory, conf, &node->islands, &node->fabric);
    if (failed != NULL && failed->rails.count > 0)
        leave_out_failed(failed, &node->fabric);
    affinity_make(inventory, &node->fabric, NULL, &node->affinity);
}
