/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/tap.h"

/* The nodes of a cluster that is as large as any, in no order. */

enum { NODES = 65536 };

static char names[NODES][8];

static void find_nodes(const struct cluster *cluster)
{
    size_t wrong = 0;

    for (int i = 0; i < NODES; i++)
        wrong += cluster_node(cluster, names[i]) != &cluster->nodes[i];
    is_int(wrong, 0, "each of %d nodes is found", NODES);
    ok(!cluster_node(cluster, "n"), "... and no other");
    ok(!cluster_node(cluster, "n65536"), "... none behind the last");
    ok(!cluster_node(&(struct cluster){0}, "n1"), "... nor in a cluster without nodes");
}

static void mark_waiting(struct cluster *cluster)
{
    struct hostlist waiting, others;
    struct error err = {""};
    size_t marked = 0, reserved = 0;

    for (int i = 0; i < NODES; i++)
        cluster->nodes[i].is_reserved = true;
    hostlist_expand("n[0-59999],gone", &waiting, &err);
    hostlist_expand("n[100-65535]", &others, &err);
    is_int(cluster_mark_waiting(cluster, &waiting, &others, &err), 0, "nodes wait");
    for (int i = 0; i < NODES; i++) {
        marked += cluster->nodes[i].is_waiting;
        reserved += cluster->nodes[i].is_reserved;
    }
    is_int(marked, 60000, "... those that are in the reservation");
    is_int(reserved, NODES - 100, "... and are reserved where they are in another one too");
    hostlist_clear(&waiting);
    hostlist_clear(&others);
}

int main(void)
{
    struct cluster cluster = {.nodes = calloc(NODES, sizeof *cluster.nodes), .node_count = NODES};
    clock_t begin = clock();
    struct error err = {""};
    double cpu_s;

    for (size_t i = 0; i < NODES; i++) {
        snprintf(names[i], sizeof names[i], "n%zu", i * 40503 % NODES);
        cluster.nodes[i].name = names[i];
    }
    is_int(cluster_index(&cluster, &err), 0, "the nodes are put in order");
    find_nodes(&cluster);
    mark_waiting(&cluster);
    cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ok(cpu_s < 2, "all of it in %.3f s of processor time", cpu_s);
    free(cluster.by_name);
    free(cluster.nodes);
    return tap_done();
}
