/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/stages/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "validate/certify/stages/neighbors.h"
#include "validate/subnet/subnet.h"

/* Tests the cable stage. It must not fail a node whose adapter only has no name or did not
 * answer, and must not remove a node's leaf. */

enum { NODES = 6 };

static struct certify certify;
static struct cluster_node *cluster_nodes;
static struct node_run *node_runs;
static struct subnet discovered; /* the network that discovery returns */
static struct error err;

static int return_subnet(bool is_ethernet, struct subnet *subnet, struct error *error)
{
    if (discovered.device_count == 0 || discovered.is_ethernet != is_ethernet)
        return error_set(error, "none") + 2;
    *subnet = discovered;
    discovered = (struct subnet){0};
    return 0;
}

int __wrap_subnet_discover(const char *port, struct subnet *subnet, struct error *error)
{
    return return_subnet(false, subnet, error);
}

int __wrap_certify_neighbors(struct certify *of, struct subnet *subnet, struct error *error)
{
    int rv = return_subnet(true, subnet, error);

    return rv == 0 ? subnet_finish(subnet, error) : rv;
}

static void run_end(void)
{
    records_clear(&certify.records);
    hostlist_clear(&certify.notes);
    name_index_clear(&certify.by_name);
    for (size_t i = 0; i < certify.cluster.leaf_count; i++)
        free(certify.cluster.leaves[i]);
    free(certify.cluster.leaves);
    free(certify.cluster.by_name);
    for (size_t i = 0; i < certify.count; i++)
        hostlist_clear(&node_runs[i].unusable);
    free(node_runs);
    free(cluster_nodes);
    certify = (struct certify){0};
}

/* Begins a run with `count` nodes and of_leaf nodes under each leaf of topology.conf. */
static void run_begin(size_t count, size_t of_leaf)
{
    static const char *const names[NODES] = {"n1", "n2", "n3", "n4", "n5", "n6"};

    run_end();
    certify.count = certify.cluster.node_count = count;
    cluster_nodes = calloc(count, sizeof *cluster_nodes);
    node_runs = calloc(count, sizeof *node_runs);
    certify.cluster.leaves = calloc(count + 1, sizeof *certify.cluster.leaves);
    if (!cluster_nodes || !node_runs || !certify.cluster.leaves ||
        name_index_build(names, count, &certify.by_name) != 0)
        tap_skip_all("no memory");
    for (size_t i = 0; i < count; i++) {
        cluster_nodes[i] =
            (struct cluster_node){.name = (char *)names[i], .leaf = (int)(i / of_leaf)};
        node_runs[i] = (struct node_run){.name = names[i], .slurm = &cluster_nodes[i]};
        if (i % of_leaf == 0) {
            char name[32];

            snprintf(name, sizeof name, "leaf%zu", certify.cluster.leaf_count + 1);
            certify.cluster.leaves[certify.cluster.leaf_count++] = strdup(name);
        }
    }
    certify.cluster.nodes = cluster_nodes;
    certify.node_runs = node_runs;
    if (cluster_index(&certify.cluster, &err) != 0)
        tap_skip_all("%s", err.text);
}

static int add_leaf(const char *name)
{
    static uint64_t guid;

    return subnet_add(&discovered, SUBNET_SWITCH, ++guid, NULL, name, 32, &err);
}

static void add_adapter(const char *description, int leaf_switch, int port)
{
    static uint64_t guid = 0x1000;
    int added = subnet_add(&discovered, SUBNET_ADAPTER, ++guid, NULL, description, 1, &err);

    if (added < 0 || subnet_link(&discovered, subnet_port(&discovered, added, 1),
                                 subnet_port(&discovered, leaf_switch, port), &err) != 0)
        tap_skip_all("%s", err.text);
}

/* Returns the worst verdict of the stage for a node. */
static enum verdict verdict_of(size_t number)
{
    const struct outcome *outcome = &node_runs[number - 1].outcome;

    for (size_t i = 0; i < outcome->fault_count; i++)
        tap_diag("%s", outcome->faults[i].message);
    return outcome->fault_count ? outcome->faults[0].verdict : VERDICT_NONE;
}

static void fails_no_unnamed_node(void)
{
    int leaf_switch;

    run_begin(4, 4);
    leaf_switch = add_leaf("leaf1");
    for (int i = 1; i <= 3; i++)
        add_adapter((const char *[]){"n1 mlx5_0", "n2 mlx5_0", "n3 mlx5_0"}[i - 1], leaf_switch, i);
    add_adapter("MT4129 ConnectX7   Mellanox Technologies", leaf_switch, 4);
    stage_subnet.run(&certify);
    is_int(verdict_of(4), VERDICT_WARN, "a node whose adapter has no name gets a warning");
    ok(!certify.has_fault, "... the cluster has no fault");
    is_int(cluster_node(&certify.cluster, "n4")->leaf, cluster_node(&certify.cluster, "n3")->leaf,
           "... it stays on its leaf");
}

static void fails_no_leaf_of_other_kind(void)
{
    int leaf_switch;

    run_begin(6, 4);
    leaf_switch = add_leaf("leaf1");
    for (int i = 1; i <= 4; i++)
        add_adapter((const char *[]){"n1 mlx5_0", "n2 mlx5_0", "n3 mlx5_0", "n4 mlx5_0"}[i - 1],
                    leaf_switch, i);
    stage_subnet.run(&certify);
    ok(!certify.has_fault, "a leaf whose nodes have no InfiniBand is no fault");
    is_int(verdict_of(5), VERDICT_NONE, "... nor are its nodes");
    is_str(certify.cluster.leaves[cluster_nodes[4].leaf < 0 ? 0 : cluster_nodes[4].leaf], "leaf2",
           "... which stay on their leaf");
}

static void fails_none_with_fewer_rails(void)
{
    int leaf_switch;

    run_begin(2, 2);
    leaf_switch = add_leaf("leaf1");
    add_adapter("n1 mlx5_0", leaf_switch, 1);
    add_adapter("n1 mlx5_1", leaf_switch, 2);
    add_adapter("n2 mlx5_0", leaf_switch, 3);
    stage_subnet.run(&certify);
    is_int(verdict_of(2), VERDICT_NONE,
           "a node with one rail fewer than its only neighbor is not at fault");
}

static void fails_no_rails_left_out(void)
{
    char name[32];
    int leaf_switch;

    run_begin(4, 4);
    certify.conf.allow_failed_rails = 2;
    leaf_switch = add_leaf("leaf1");
    for (int i = 1; i <= 4; i++)
        for (int rail = 0; rail < (i == 4 ? 2 : 4); rail++) {
            snprintf(name, sizeof name, "n%d mlx5_%d", i, rail);
            add_adapter(name, leaf_switch, 4 * (i - 1) + rail + 1);
        }
    hostlist_append(&node_runs[3].unusable, "mlx5_2:1");
    hostlist_append(&node_runs[3].unusable, "mlx5_3:1");
    stage_subnet.run(&certify);
    is_int(verdict_of(4), VERDICT_WARN,
           "two failed rails that AllowFailedRails permits are a warning");
}

static void fails_narrow_links(bool is_left_out)
{
    char name[32];
    int leaf_switch;

    run_begin(4, 4);
    certify.conf.allow_failed_rails = is_left_out;
    hostlist_append(&node_runs[1].unusable, "mlx5_0:1");
    leaf_switch = add_leaf("leaf1");
    for (int i = 1; i <= 4; i++) {
        snprintf(name, sizeof name, "n%d mlx5_0", i);
        add_adapter(name, leaf_switch, i);
    }
    for (size_t i = 0; i < discovered.port_count; i++) {
        struct subnet_port *port = &discovered.ports[i];

        port->active = port->supported = port->enabled = (struct subnet_rate){4, 50000};
        if (port->number == 2 || (port->peer >= 0 && discovered.ports[port->peer].number == 2))
            port->active.lanes = 1;
    }
    stage_subnet.run(&certify);
    is_int(verdict_of(2), is_left_out ? VERDICT_WARN : VERDICT_FAIL,
           "a link narrower than both ends can do fails its node%s",
           is_left_out ? ", but where the site allows it" : "");
    is_int(verdict_of(1), VERDICT_NONE, "... and no other");
}

static void keeps_leaf_of_silent_node(void)
{
    struct subnet_neighbors neighbors = {0};

    run_begin(4, 2);
    for (int i = 1; i <= 4; i++) {
        struct subnet_neighbor neighbor = {.interface = "eth1",
                                           .rate = {1, i == 2 ? 25000 : 200000}};

        if (subnet_neighbors_node(&neighbors, cluster_nodes[i - 1].name, &err) != 0)
            tap_skip_all("%s", err.text);
        snprintf(neighbor.chassis, sizeof neighbor.chassis, "switch%d", (i + 1) / 2);
        snprintf(neighbor.name, sizeof neighbor.name, "switch%d", (i + 1) / 2);
        snprintf(neighbor.port, sizeof neighbor.port, "Eth1/%d", i);
        if (i != 4 && subnet_neighbors_add(&neighbors, &neighbor, &err) != 0)
            tap_skip_all("%s", err.text);
    }
    if (subnet_neighbors_build(&neighbors, &discovered, &err) != 0)
        tap_skip_all("%s", err.text);
    subnet_neighbors_clear(&neighbors);
    stage_subnet.run(&certify);
    is_int(cluster_nodes[3].leaf, cluster_nodes[2].leaf,
           "a node that sees no switch stays with its neighbors");
    ok(cluster_nodes[3].leaf >= 0 && cluster_nodes[3].leaf != cluster_nodes[0].leaf,
       "... on their leaf");
    is_int(verdict_of(2), VERDICT_WARN, "an adapter with a lower Ethernet rate is no bad cable");
    ok(!certify.has_fault, "... nor a fault of the cluster's");
}

int main(void)
{
    setenv("SLURM_CONF", "/nonexistent/slurm.conf", 1);
    fails_no_unnamed_node();
    fails_no_leaf_of_other_kind();
    fails_none_with_fewer_rails();
    fails_no_rails_left_out();
    fails_narrow_links(false);
    fails_narrow_links(true);
    keeps_leaf_of_silent_node();
    run_end();
    return tap_done();
}
