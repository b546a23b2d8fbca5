/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan.h"

void envplan_node_make(const struct inventory *inventory, const struct conf *conf,
                       const char *node_name, const char *step_nodes, struct envplan_node *node)
{
    node->inventory = inventory;
    node->conf = conf;
    islands_meet(conf, node_name, step_nodes, &node->islands);
    fabric_choose_for(inventory, conf, &node->islands, &node->fabric);
    affinity_make(inventory, &node->fabric, NULL, &node->affinity);
}
