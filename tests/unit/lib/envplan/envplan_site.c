/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan.h"
#include "lib/node/gpu/visible_gpus.h"
#include "tests/unit/lib/envplan/environment.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Plans on recorded machines: by the task's GPUs, on islands, and with lines of the site. */

static struct inventory *inventory;
static struct envplan_node *node;
static struct conf conf;
static struct envplan_task task;
static struct visible_gpus visible;
static const char *step_nodes; /* NULL: they are not known */
static struct failed_rails failed = {.why = "failed certification 2026-11-20"};

/* Starts with a task on a recorded machine; its visible GPUs are not known. text: muster.conf. */
static void start(const char *tree, const char *text)
{
    char *root = tree_unpack(tree), path[4096];
    struct error err = {""};

    inventory_free(inventory);
    inventory = inventory_read(root, &err);
    tree_put(root, "muster.conf", text);
    snprintf(path, sizeof path, "%s/muster.conf", root);
    conf_clear(&conf);
    if (!ok(inventory != NULL && conf_read(path, &conf, &err) == 0, "a task on %s, with %s (%s)",
            tree, text, err.text))
        exit(tap_done());
    tree_remove(root);
    memset(&task, 0, sizeof task);
    task.local_size = 2;
    strcpy(task.node, "n1");
    strcpy(task.partition, "train");
    strcpy(task.account, "physics");
    memset(&visible, 0, sizeof visible);
    strcpy(visible.fact, "set by the test");
    set_environment(NULL);
    step_nodes = NULL;
}

static void set_visible(size_t count, ...)
{
    va_list args;

    va_start(args, count);
    visible.is_known = true;
    visible.count = count;
    for (size_t i = 0; i < count; i++)
        visible.gpus[i] = (size_t)va_arg(args, int);
    va_end(args);
}

static void make_plan(const char *nodes)
{
    step_nodes = nodes;
    envplan_node_make(inventory, &conf, task.node, step_nodes, &failed, node);
    envplan_clear(&plan);
    if (envplan_make(node, &task, &visible, lookup, NULL, &plan) != 0)
        exit(99);
}

/* Makes the plan from the present state. Tests that the variable's line contains `expected`. */
static void explanation_has(const char *name, const char *expected)
{
    char line[8192];

    make_plan(step_nodes);
    envplan_explain(find(name), line, sizeof line);
    has_str(line, expected, "%s", expected);
}

/* The same, where that names the variable first. */
static void explains(const char *expected)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(expected, "= "), expected);
    explanation_has(name, expected);
}

#define H100_PORTS "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1"

#define DGX_PORTS "mlx5_0:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_9:1,mlx5_10:1,mlx5_11:1"

/* Gives each interface of an RDMA device one address. format has %zu for the number of the
 * interface, from 1. */
static void address_rails(const char *format)
{
    size_t number = 0;

    for (size_t i = 0; i < inventory->nic_count; i++) {
        struct nic *nic = &inventory->nics[i];

        for (size_t j = 0; j < inventory->rdma_count; j++)
            if (strcmp(inventory->rdma[j].netdev, nic->name) == 0) {
                number++;
                snprintf(nic->addresses[0], sizeof nic->addresses[0], "%.*s%zu%s",
                         (int)strcspn(format, "%"), format, number, strchr(format, 'u') + 1);
                nic->address_count = 1;
            }
    }
}

static void by_gpu(void)
{
    start("dgx-h100", "");
    explains("UCX_NET_DEVICES=" DGX_PORTS " (fabric rails: ");
    explanation_has("UCX_NET_DEVICES",
                    "all rails, because the task's GPUs are unknown: set by the test)");

    set_visible(1, 5);
    explains("UCX_NET_DEVICES=mlx5_9:1 (fabric rails: ");
    explanation_has("UCX_NET_DEVICES", "(PXB); set by the test)");
    explains("NCCL_IB_HCA==" DGX_PORTS " (RDMA ports: ");
    explains("NCCL_SOCKET_IFNAME==bond0 (");

    set_visible(2, 0, 3);
    explains("UCX_NET_DEVICES=mlx5_0:1,mlx5_5:1 (");
    task.launcher = ENVPLAN_MPI_DAEMON;
    explains("UCX_NET_DEVICES=" DGX_PORTS " (");
    explanation_has("UCX_NET_DEVICES", "all rails for a launcher)");
    task.launcher = ENVPLAN_RANK;

    set_visible(0);
    explanation_has("UCX_NET_DEVICES", "all rails, because the task has no GPU: set by the test)");

    start("dgx-h100", "GPUByLocalRank=yes\n");
    set_visible(2, 0, 3);
    task.local_rank = 1;
    explains("UCX_NET_DEVICES=mlx5_5:1 (");
    explanation_has("UCX_NET_DEVICES", "GPUByLocalRank, set by the test)");
    task.local_size = 3;
    explains("UCX_NET_DEVICES=mlx5_0:1,mlx5_5:1 (");

    start("dgx-h100", "NearestRails=no\n");
    set_visible(1, 5);
    explanation_has("UCX_NET_DEVICES", "all rails by NearestRails=no)");

    start("mi300x-roce", "");
    set_visible(1, 0);
    explanation_has("UCX_NET_DEVICES",
                    "all rails, because bnxt_re0:1 is in 192.168.0.0/24 and bnxt_re1:1 in "
                    "192.168.1.0/24 (RailsAreRouted=no)");
    explains("UCX_IB_GID_INDEX left alone (");
    address_rails("fd00:%zu::1/64");
    explanation_has("UCX_NET_DEVICES",
                    "all rails, because bnxt_re0:1 is in fd00:1::/64 and bnxt_re1:1 in fd00:2::/64 "
                    "(RailsAreRouted=no)");
    address_rails("fd00:1::%zu/64");
    explanation_has("UCX_NET_DEVICES", "nearest to GPU 0000:1b:00.0");
    start("mi300x-roce", "RailsAreRouted=yes\n");
    set_visible(1, 0);
    explanation_has("UCX_NET_DEVICES", "nearest to GPU 0000:1b:00.0");
    explains("UCX_IB_GID_INDEX=3 (");
    explains("NCCL_IB_GID_INDEX left alone (one RoCE GID index: GID index is 3 "
             "on bnxt_re0:1 and 1 on bnxt_re5:1");
}

static const char two_islands[] = "Island=ib nodes=n[1-2] fabric=InfiniBand\n"
                                  "Island=eth nodes=n[3-4] fabric=ethernet\n";

static void on_islands(void)
{
    start("h100-ib", two_islands);
    step_nodes = "n[1-2]";
    explains("MUSTER_FABRIC=InfiniBand (");
    explains("MUSTER_ISLAND=ib (island: muster.conf:1)");
    explains("MUSTER_ISLANDS=ib=InfiniBand:n[1-2] (islands of the step: all of "
             "the step's nodes are in island ib, InfiniBand)");
    explains("NCCL_IB_HCA==" H100_PORTS " (");

    step_nodes = "n[2-3]";
    explains("MUSTER_FABRIC=Ethernet (the step's fabric: eno3: between islands, by "
             "the management interface; ");
    explains("MUSTER_ISLAND_FABRIC=InfiniBand (");
    explains("MUSTER_ISLANDS=ib=InfiniBand:n2;eth=Ethernet:n3 (");
    explains("UCX_NET_DEVICES=eno3 (");
    explanation_has("UCX_NET_DEVICES",
                    "the step's 2 nodes are in 2 islands, connected by TCP only");
    explains("NCCL_SOCKET_IFNAME==eno3 (");
    explains("NCCL_IB_HCA left alone (RDMA ports: not for a fabric of class ");
    explains("NCCL_IB_DISABLE=1 (");
    explains("FI_PROVIDER=^verbs,psm2,psm3,opx,efa,cxi (");

    explains("NCCL_NET=Socket (TCP between islands: the step's 2 nodes are in 2 ");

    step_nodes = "n[1,7]";
    explanation_has("MUSTER_FABRIC",
                    "the step's 2 nodes are in 1 island and in none, connected by TCP only");
    step_nodes = "n[7-9]";
    explains("MUSTER_FABRIC=InfiniBand (");
    explanation_has("MUSTER_FABRIC", "none of the step's 3 nodes is in an island");
    step_nodes = "n[1-";
    explains("MUSTER_FABRIC=InfiniBand (");
    explanation_has("MUSTER_FABRIC",
                    "Slurm does not report the step's nodes; this one is in island ib)");
    strcpy(task.node, "n9");
    step_nodes = "n9";
    explains("MUSTER_ISLAND left alone (island: none of the step's 1 nodes is in an "
             "island; this node is in none)");

    /* networks that a library uses without a verbs port of a known link layer */
    start("slingshot", "Island=a nodes=n1 fabric=Slingshot\nIsland=b nodes=n2 fabric=ethernet\n");
    step_nodes = "n[1-2]";
    explains("FI_PROVIDER=^verbs,psm2,psm3,opx,efa,cxi (");
    explains("NCCL_NET=Socket (");
    explains("NCCL_IB_DISABLE left alone (");
    step_nodes = "n1";
    explains("FI_PROVIDER left alone (");
    explains("NCCL_NET left alone (");
    start("p4d", "Island=a nodes=n1 fabric=EFA\nIsland=b nodes=n2 fabric=ethernet\n"
                 "Variable=NCCL_IB_HCA set mlx5_0\n");
    step_nodes = "n[1-2]";
    explains("FI_PROVIDER=^verbs,psm2,psm3,opx,efa,cxi (");
    explains("NCCL_NET left alone (TCP between islands: the site set NCCL_IB_HCA)");

    start("mi300x-roce", "Island=a nodes=n1 fabric=Ethernet\n");
    step_nodes = "n1";
    explains("MUSTER_FABRIC=Ethernet (");
    explains("NCCL_IB_DISABLE=1 (");

    start("mi300x-roce", "Island=a nodes=n1 fabric=InfiniBand\n");
    step_nodes = "n1";
    explains("MUSTER_FABRIC=RoCEv2 (");

    start("h100-ib", "Island=ib nodes=n1 fabric=InfiniBand\nIslandInterfaces=ib[0-1],eno[1-9]\n");
    step_nodes = "n[1-2]";
    explains("UCX_NET_DEVICES=eno3 (");
}

static void site_sets(void)
{
    start("h100-ib", "Variable=NCCL_IB_TC set 106 partition=train fabric=RoCEv2,InfiniBand\n"
                     "Variable=NCCL_IB_SL set 3 partition=debug\n"
                     "Variable=UCX_TLS set rc,sm force\n"
                     "Variable=NCCL_IB_HCA set mlx5_0\n"
                     "Variable=A set 1 nodes=n[1-2]\n"
                     "Variable=A set 2 account=physics\n"
                     "Variable=A set 3 account=biology\n"
                     "Variable=SPACE set 'a b'\n");
    set_environment("UCX_TLS", "tcp", NULL);
    explains("NCCL_IB_TC=106 (policy muster.conf:1: the site sets it)");
    explains("NCCL_IB_SL left alone (policy muster.conf:2: not for this task: "
             "partition is train)");
    explains("UCX_TLS=rc,sm (policy muster.conf:3: the site forces it over the user's "
             "\"tcp\")");
    explains("NCCL_IB_HCA=mlx5_0 (policy muster.conf:4: the site sets it)");
    explains("A=2 (policy muster.conf:6: the site sets it)");
    explains("SPACE=a b (policy");
    ok(strstr(plan.mark, "NCCL_IB_TC:") != NULL, "the mark lists values of the site");

    set_environment("NCCL_IB_TC", "5", "A", "", NULL);
    explains("NCCL_IB_TC left alone (policy muster.conf:1: set by the user to \"5\", "
             "which takes precedence over \"106\")");
    explains("A left alone (policy muster.conf:6: set by the user to \"\"");

    start("mi300x-roce", "Variable=UCX_NET_DEVICES set bnxt_re0:1\n");
    explains("UCX_IB_GID_INDEX left alone (one RoCE GID index: the site set "
             "UCX_NET_DEVICES)");
}

static void site_extends(void)
{
    static char mark[8192], value[4096];

    start("h100-ib", "Variable=NCCL_SOCKET_IFNAME extend eno3\n"
                     "Variable=P extend /opt/lib separator=:\n");
    set_environment("P", "/usr/lib", NULL);
    explanation_has("NCCL_SOCKET_IFNAME",
                    "=ib0,ib1,ib2,ib3,ib4,ib5,ib6,ib7,eno3 (policy muster.conf:1: ");
    explanation_has("NCCL_SOCKET_IFNAME", "; and the site's \"eno3\")");
    explains("P=/usr/lib:/opt/lib (policy muster.conf:2: the user's \"/usr/lib\" and the "
             "site's \"/opt/lib\")");
    strcpy(mark, plan.mark);
    strcpy(value, find("NCCL_SOCKET_IFNAME")->value);
    set_environment(ENVPLAN_MARK, mark, "P", "/usr/lib:/opt/lib", "NCCL_SOCKET_IFNAME", value,
                    NULL);
    explains("P left alone (policy muster.conf:2: set by the user to \"/usr/lib:/opt/lib\"; "
             "it already contains the site's \"/opt/lib\")");
    is_str(find("NCCL_SOCKET_IFNAME")->value, value,
           "a nested step does not extend the value again");
    set_environment(NULL);
    explains("P=/opt/lib (policy muster.conf:2: the site sets it)");
}

/* The fact of a variable that does not fit in MUSTER_SET says so. */
static void marks_are_full(void)
{
    char text[32768], name[32];
    size_t length = 0, marked = 0, explained = 0;

    for (int i = 0; i < 400; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "Variable=SITE_VARIABLE_OF_SOME_NAME_%03d set 1\n", i);
    start("h100-ib", text);
    make_plan(NULL);
    for (int i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "NAME_%03d:", i);
        marked += strstr(plan.mark, name) != NULL;
        snprintf(name, sizeof name, "SITE_VARIABLE_OF_SOME_NAME_%03d", i);
        explained += strstr(find(name)->fact, "MUSTER_SET is full") != NULL;
    }
    ok(marked > 100 && marked < 400, "%zu of 400 variables fit in the mark", marked);
    is_int(marked + explained, 400, "... and the fact of each other one says so");
}

static void site_forbids(void)
{
    static char mark[8192];

    start("h100-ib", "Variable=UCX_TLS forbid\n"
                     "Variable=NCCL_IB_HCA forbid\n"
                     "Variable=GLOO_SOCKET_IFNAME leave\n"
                     "Variable=TP_SOCKET_IFNAME leave\n");
    set_environment("UCX_TLS", "tcp", "TP_SOCKET_IFNAME", "lo", NULL);
    explains("UCX_TLS removed (policy muster.conf:1: the site forbids it; the user set "
             "\"tcp\")");
    explains("NCCL_IB_HCA left alone (policy muster.conf:2: the site forbids it)");
    explains("GLOO_SOCKET_IFNAME left alone (policy muster.conf:3: the site "
             "leaves it to the user)");
    explains("TP_SOCKET_IFNAME left alone (policy muster.conf:4: set by the "
             "user to \"lo\")");

    start("h100-ib", "Variable=OLD set 1\n");
    make_plan(NULL);
    strcpy(mark, plan.mark);
    start("h100-ib", "");
    set_environment(ENVPLAN_MARK, mark, "OLD", "1", NULL);
    explains("OLD removed (outer step: muster set it in an outer step, and no rule sets it here)");
    set_environment(ENVPLAN_MARK, mark, "OLD", "2", NULL);
    make_plan(NULL);
    is_int(find("OLD")->action, 99, "... but not if the user changed it");
}

static void without_failed_rails(void)
{
    start("lab-node", "");
    hostlist_append(&failed.rails, "eth2");
    step_nodes = "n1";
    explains("UCX_NET_DEVICES=eth1 (fabric rails: eth1 up, Ethernet; management "
             "is eth0; left out: eth2 failed certification 2026-11-20)");
    explains("NCCL_SOCKET_IFNAME==eth1 (");
    hostlist_append(&failed.rails, "eth1");
    step_nodes = "n1";
    explains("UCX_NET_DEVICES=eth1,eth2 (fabric rails: eth1 eth2 up, Ethernet; "
             "management is eth0)");
    hostlist_clear(&failed.rails);
    start("dgx-h100", "");
    set_visible(1, 3);
    hostlist_append(&failed.rails, "mlx5_5:1");
    step_nodes = "n1";
    explanation_has("NCCL_IB_HCA",
                    "=mlx5_0:1,mlx5_3:1,mlx5_4:1,mlx5_6:1,mlx5_9:1,mlx5_10:1,mlx5_11:1 (");
    explanation_has("NCCL_IB_HCA",
                    "mlx5_7:1 beside no GPU, mlx5_5:1 failed certification 2026-11-20)");
    ok(strstr(find("UCX_NET_DEVICES")->value, "mlx5_5") == NULL &&
           strchr(find("UCX_NET_DEVICES")->value, ',') == NULL,
       "the GPU nearest to that rail gets another rail: %s", find("UCX_NET_DEVICES")->value);
    hostlist_clear(&failed.rails);
}

/* The largest machines that an inventory can describe. */
static void everything_fits(void)
{
    start("h100-ib", "");
    for (inventory->rdma_count = 0; inventory->rdma_count < 32; inventory->rdma_count++) {
        struct rdma_port *port = &inventory->rdma[inventory->rdma_count];

        memset(port, 0, sizeof *port);
        snprintf(port->device, sizeof port->device, "rocep%03zus0f0np0x%030d",
                 inventory->rdma_count, 0);
        port->port = 1;
        port->link_layer = LINK_INFINIBAND;
        strcpy(port->state, "ACTIVE");
    }
    make_plan(NULL);
    is_int(find("NCCL_IB_HCA")->action, ENVPLAN_SET, "32 ports with long names fit");
    is_int(strlen(find("NCCL_IB_HCA")->value), 32 * (46 + 2) + 32, "... all of them");
    is_int(find("UCX_NET_DEVICES")->action, ENVPLAN_SET, "... for UCX as well");

    start("gaudi3", "");
    make_plan(NULL);
    is_int(node->fabric.class, FABRIC_GAUDI, "the fabric of a Gaudi node is that of its own ports");
    for (size_t i = 0; i < plan.count; i++)
        ok(strstr(plan.variables[i].fact, "do not fit") == NULL, "%s fits with all ports",
           plan.variables[i].name);
}

int main(void)
{
    node = malloc(sizeof *node);
    if (node == NULL)
        return 1;
    conf_defaults(&conf);
    by_gpu();
    on_islands();
    site_sets();
    site_extends();
    site_forbids();
    marks_are_full();
    without_failed_rails();
    everything_fits();
    envplan_clear(&plan);
    conf_clear(&conf);
    inventory_free(inventory);
    free(node);
    return tap_done();
}
