/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/validate/command/made_cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

const char *made_comment = "", *made_extra = "";
bool made_is_divided, made_is_down, made_hides_cloud;

int __wrap_cluster_open(struct error *err)
{
    return 0;
}

int __wrap_cluster_load(struct cluster *cluster, struct error *err)
{
    *cluster = (struct cluster){.name = strdup("lab"),
                                .nodes = calloc(MADE_NODES, sizeof *cluster->nodes),
                                .node_count = MADE_NODES,
                                .partitions = calloc(2, sizeof *cluster->partitions),
                                .partition_count = made_is_divided ? 2 : 1};
    cluster->partitions[0].name = strdup("lab");
    cluster->partitions[0].is_default = !made_is_divided;
    cluster->partitions[0].is_up = true;
    if (made_is_divided)
        cluster->partitions[1] =
            (struct cluster_partition){.name = strdup("other"), .is_up = !made_is_down};
    if (made_hides_cloud)
        hostlist_append(&cluster->partitions[0].nodes, "n0");
    for (int i = 0; i < MADE_NODES; i++) {
        char name[16];

        snprintf(name, sizeof name, "n%d", i + 1);
        cluster->nodes[i] = (struct cluster_node){.name = strdup(name),
                                                  .address = strdup(name),
                                                  .gres = strdup(""),
                                                  .features = strdup(""),
                                                  .reason = strdup(""),
                                                  .comment = strdup(made_comment),
                                                  .extra = strdup(made_extra),
                                                  .leaf = -1,
                                                  .is_idle = true,
                                                  .is_responding = true};
        hostlist_append(&cluster->partitions[made_is_divided && i == MADE_NODES - 1].nodes, name);
    }
    return cluster_index(cluster, err);
}
