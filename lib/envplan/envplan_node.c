/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan.h"

void envplan_node_make(const struct inventory *inventory, const struct conf *conf,
                       const char *node_name, const char *step_nodes,
                       const struct failed_rails *failed, struct envplan_node *node)
{
    node->inventory = inventory;
    node->conf = conf;
    islands_of_step(conf, node_name, step_nodes, &node->islands);
    fabric_choose_for(inventory, conf, &node->islands, &node->fabric);
    if (failed != NULL && failed->rails.count > 0)
        fabric_exclude(&node->fabric, &failed->rails, failed->why);
    affinity_make(inventory, &node->fabric, NULL, &node->affinity);
}
