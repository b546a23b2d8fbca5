/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan.h"
#include "tests/unit/lib/envplan/environment.h"
#include "tests/unit/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Plans for the tasks of nodes that the test builds field by field. */

static struct inventory *inventory;
static struct envplan_node *node;
static struct fabric *fabric; /* of node */
static struct conf conf;
static struct envplan_task task;

static struct nic *add_nic(const char *name, int is_up)
{
    struct nic *nic = &inventory->nics[inventory->nic_count++];

    snprintf(nic->name, sizeof nic->name, "%s", name);
    nic->is_physical = true;
    nic->is_up = true;
    nic->has_carrier = is_up;
    snprintf(nic->state, sizeof nic->state, "%s", is_up ? "up" : "down");
    snprintf(nic->addresses[0], sizeof nic->addresses[0], "10.0.%zu.1/24", inventory->nic_count);
    nic->address_count = 1;
    return nic;
}

static struct rail *add_rail(const char *nic, const char *device, int is_up, int gid_index)
{
    struct rail *rail = &fabric->rails[fabric->rail_count++];

    rail->class = fabric->class;
    rail->gid_index = gid_index;
    if (nic != NULL)
        rail->nic = add_nic(nic, is_up);
    snprintf(rail->name, sizeof rail->name, "%s", nic != NULL ? nic : "");
    if (device != NULL) {
        struct rdma_port *port = &inventory->rdma[inventory->rdma_count++];

        snprintf(port->device, sizeof port->device, "%s", device);
        port->port = 1;
        snprintf(port->state, sizeof port->state, "%s", is_up ? "ACTIVE" : "DOWN");
        rail->port = port;
        snprintf(rail->name, sizeof rail->name, "%.50s:1", device);
    }
    return rail;
}

/* Starts with a node that has a management interface and no rail, and a task that is neither the
 * first nor the last of its step. */
static void start(enum fabric_class class)
{
    memset(inventory, 0, sizeof *inventory);
    memset(node, 0, sizeof *node);
    fabric->class = class;
    snprintf(fabric->reason, sizeof fabric->reason, "put together by hand");
    fabric->management = add_nic("eth0", 1);
    conf_clear(&conf);
    conf_defaults(&conf);
    conf.master_port_first = 29500;
    conf.master_port_last = 29999;
    memset(&task, 0, sizeof task);
    task.job_id = 12;
    task.step_id = 3;
    task.rank = 5;
    task.local_rank = 1;
    task.node_rank = 2;
    task.world_size = 8;
    task.local_size = 2;
    snprintf(task.first_host, sizeof task.first_host, "n1");
    snprintf(task.first_host_fact, sizeof task.first_host_fact, "first of SLURM_STEP_NODELIST");
    set_environment(NULL);
}

static void make_plan(void)
{
    node->inventory = inventory;
    node->conf = &conf;
    islands_of_step(&conf, "n1", "n[1-3]", &node->islands);
    affinity_make(inventory, fabric, NULL, &node->affinity);
    envplan_clear(&plan);
    if (envplan_make(node, &task, NULL, lookup, NULL, &plan) < 0)
        exit(99);
}

/* Makes the plan from the present state and returns the variable's entry. */
static const struct envplan_variable *plan_for(const char *name)
{
    make_plan();
    return find(name);
}

static void plan_sets(const char *name, const char *value, const char *fact)
{
    const struct envplan_variable *variable = plan_for(name);

    is_int(variable->action, ENVPLAN_SET, "%s is set", name);
    is_str(variable->value, value, "... to %s", value);
    has_str(variable->fact, fact, "... because %s", fact);
}

static void plan_keeps(const char *name, const char *fact)
{
    const struct envplan_variable *variable = plan_for(name);

    is_int(variable->action, ENVPLAN_KEEP, "%s is left alone", name);
    is_str(variable->value, "", "... without a value");
    has_str(variable->fact, fact, "... because %s", fact);
}

static void ethernet(void)
{
    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 1, -1);
    add_rail("eth2", NULL, 1, -1);
    plan_sets("UCX_NET_DEVICES", "eth1,eth2", "eth1 eth2 up, Ethernet; management is eth0");
    plan_sets("NCCL_SOCKET_IFNAME", "=eth1,eth2", "eth1 eth2 up");
    plan_keeps("NCCL_IB_HCA", "not for a fabric of class Ethernet");
    plan_keeps("NCCL_IB_DISABLE", "no RDMA port is up");
    plan_keeps("FI_PROVIDER", "no RDMA port is up");
    plan_sets("FI_TCP_IFACE", "eth1", "Ethernet");
    plan_sets("MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE", "eth1", "Ethernet");
    plan_keeps("OMPI_MCA_opal_common_ucx_devices", "not for a fabric of class Ethernet");
    plan_keeps("UCX_IB_GID_INDEX", "not for a fabric of class Ethernet");
    plan_keeps("HCCL_SOCKET_IFNAME", "no Gaudi");
    plan_sets("OMPI_MCA_btl_tcp_if_include", "eth1,eth2", "Ethernet");
    plan_sets("GLOO_SOCKET_IFNAME", "eth1", "Ethernet");
    plan_sets("TP_SOCKET_IFNAME", "eth1", "Ethernet");
    plan_sets("MASTER_ADDR", "n1", "first of SLURM_STEP_NODELIST");
    plan_sets("MASTER_PORT", "29735", "job 12 step 3 in MasterPorts 29500-29999");
    plan_sets("GROUP_RANK", "2", "SLURM_NODEID is 2");
    plan_sets("WORLD_SIZE", "8", "SLURM_NTASKS");
    plan_sets("RANK", "5", "SLURM_PROCID");
    plan_sets("LOCAL_RANK", "1", "SLURM_LOCALID");
    plan_sets("LOCAL_WORLD_SIZE", "2", "the step's tasks here");
    for (size_t i = 0; i < plan.count; i++)
        ok(*plan.variables[i].rule != '\0' && *plan.variables[i].fact != '\0',
           "%s has a rule and a fact", plan.variables[i].name);
    ok(find("NCCL_DEBUG")->action == 99 && find("UCX_TLS")->action == 99,
       "the plan chooses neither logging nor transports");
}

static void ethernet_with_a_rail_down(void)
{
    struct rail *rail;

    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 0, -1);
    add_rail("eth2", NULL, 1, -1);
    plan_sets("UCX_NET_DEVICES", "eth2", "eth2 up, eth1 down");
    plan_sets("GLOO_SOCKET_IFNAME", "eth2", "eth1 down");

    start(FABRIC_NONE);
    add_rail("eth1", NULL, 0, -1);
    plan_keeps("UCX_NET_DEVICES", "no rail that is up");
    plan_keeps("NCCL_SOCKET_IFNAME", "no rail that is up");
    plan_sets("MASTER_ADDR", "n1", "first of");

    start(FABRIC_NONE);
    plan_keeps("UCX_NET_DEVICES", "no rail that is up");

    start(FABRIC_ETHERNET);
    rail = add_rail("eth1", NULL, 1, -1);
    inventory->nics[1].address_count = 0;
    ok(rail->nic == &inventory->nics[1], "the rail has no IP address");
    plan_keeps("UCX_NET_DEVICES", "interface with an IP address");
}

static void infiniband(void)
{
    start(FABRIC_INFINIBAND);
    add_rail(NULL, "mlx5_0", 1, -1);
    add_rail("ib1", "mlx5_1", 1, -1);
    add_rail("ib2", "mlx5_10", 0, -1);
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", "mlx5_10:1 down, InfiniBand");
    plan_sets("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1", "InfiniBand");
    plan_sets("NCCL_SOCKET_IFNAME", "=ib1", "InfiniBand");
    plan_keeps("UCX_IB_GID_INDEX", "not for a fabric of class InfiniBand");

    start(FABRIC_INFINIBAND);
    add_rail(NULL, "mlx5_0", 1, -1);
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1", "InfiniBand");
    plan_sets("GLOO_SOCKET_IFNAME", "eth0", "IP address; so ranks meet over management");
    plan_sets("NCCL_SOCKET_IFNAME", "=eth0", "so ranks meet over management");
    plan_keeps("OMPI_MCA_btl_tcp_if_include", "IP address");
    inventory->nics[0].has_carrier = false;
    plan_keeps("GLOO_SOCKET_IFNAME", "IP address");
}

static void roce(void)
{
    start(FABRIC_ROCE_V2);
    add_rail("eth1", "mlx5_0", 1, 3);
    add_rail("eth2", "mlx5_1", 1, 3);
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", "RoCE v2");
    plan_sets("UCX_IB_GID_INDEX", "3", "GID table");
    plan_sets("NCCL_SOCKET_IFNAME", "=eth1,eth2", "RoCE v2");
    plan_sets("OMPI_MCA_btl_tcp_if_include", "eth1,eth2", "RoCE v2");

    plan_sets("NCCL_IB_GID_INDEX", "3", "GID table");
    plan_keeps("NCCL_IB_DISABLE", "not for a fabric of class RoCE v2");
    plan_keeps("OMPI_MCA_opal_common_ucx_devices", "no driver that is known");

    set_environment("UCX_NET_DEVICES", "mlx5_1:1", "NCCL_IB_ROCE_VERSION_NUM", "1", NULL);
    plan_keeps("UCX_IB_GID_INDEX", "the user set UCX_NET_DEVICES");
    plan_keeps("NCCL_IB_GID_INDEX", "the user set NCCL_IB_ROCE_VERSION_NUM");
    set_environment(NULL);

    snprintf(inventory->rdma[0].driver, INVENTORY_NAME, "bnxt_en");
    snprintf(inventory->rdma[1].driver, INVENTORY_NAME, "bnxt_en");
    plan_sets("OMPI_MCA_opal_common_ucx_devices", "bnxt_en", "Open MPI knows mlx* only");
    snprintf(inventory->rdma[1].driver, INVENTORY_NAME, "mlx5_core");
    plan_keeps("OMPI_MCA_opal_common_ucx_devices", "mlx5_core, which Open MPI knows");

    fabric->rails[1].gid_index = 5;
    plan_keeps("UCX_IB_GID_INDEX", "3 on mlx5_0:1 and 5 on mlx5_1:1");
    fabric->rails[1].gid_index = -1;
    plan_keeps("UCX_IB_GID_INDEX", "mlx5_1:1 has no RoCE GID");
    plan_keeps("NCCL_IB_GID_INDEX", "mlx5_1:1 has no RoCE GID");

    start(FABRIC_ROCE_V2);
    add_rail("eth1", "mlx5_0", 1, 3);
    add_rail("eth2", "mlx5_1", 0, 5);
    plan_sets("UCX_IB_GID_INDEX", "3", "every rail that is up");

    start(FABRIC_ROCE_V2);
    add_rail("eth1", "rxe1", 1, 1);
    inventory->rdma[0].is_software = true;
    inventory->rdma[0].gid_count = 2;
    snprintf(inventory->rdma[0].netdev, INVENTORY_NAME, "eth1");
    inventory->rdma[0].gids[0] = (struct gid){
        .index = 0, .type = GID_ROCE_V2, .gid = "fe80:0000:0000:0000:0000:0000:0000:0001"};
    snprintf(inventory->rdma[0].gids[0].netdev, INVENTORY_NAME, "eth1");
    plan_sets("UCX_IB_GID_INDEX", "0", "UCX's datagrams do not arrive on soft-RoCE");
    plan_sets("NCCL_IB_GID_INDEX", "1", "the best RoCE v2 GID");
}

/* Tasks without GPUs get the rails of the socket that they are bound to. */
static void sockets(void)
{
    struct nic *nic;

    start(FABRIC_ROCE_V2);
    add_rail("eth1", "mlx5_0", 1, 3);
    add_rail("eth2", "mlx5_1", 1, 3);
    inventory->rdma[0].location.numa_node = 0;
    inventory->rdma[1].location.numa_node = 1;
    snprintf(inventory->nics[2].addresses[0], INVENTORY_NAME, "10.0.2.2/24");
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", "up");
    task.numa_nodes = 1 << 1;
    plan_sets("UCX_NET_DEVICES", "mlx5_1:1",
              "of the socket that the task is bound to (NUMA node 1)");
    plan_sets("NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1", "RoCE v2");
    task.numa_nodes = 1 << 0 | 1 << 2;
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1", "(NUMA nodes 0 2)");
    task.numa_nodes = 1 << 2;
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", "up");
    task.numa_nodes = 1 << 1;
    task.launcher = ENVPLAN_MPI_DAEMON;
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", "up");
    task.launcher = ENVPLAN_RANK;
    conf.nearest_rails = false;
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1", "up");
    conf.nearest_rails = true;
    snprintf(inventory->nics[2].addresses[0], INVENTORY_NAME, "10.9.2.2/24");
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1",
              "all rails, because mlx5_0:1 is in 10.0.2.0/24");
    inventory->nics[1].address_count = inventory->nics[2].address_count = 0;
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1",
              "all rails, because mlx5_0:1 is in no IP network and mlx5_1:1 in no IP network");
    for (int i = 0; i < 2; i++) { /* the addresses are on VLAN interfaces, which the GIDs name */
        nic = add_nic(i == 0 ? "eth1.7" : "eth2.7", 1);
        snprintf(nic->addresses[0], INVENTORY_NAME, "10.7.%d.2/24", i);
        inventory->rdma[i].gids[0] = (struct gid){.index = 3, .type = GID_ROCE_V2};
        strcpy(inventory->rdma[i].gids[0].netdev, nic->name);
        inventory->rdma[i].gid_count = 1;
    }
    plan_sets("UCX_NET_DEVICES", "mlx5_0:1,mlx5_1:1",
              "all rails, because mlx5_0:1 is in 10.7.0.0/24 and mlx5_1:1 in 10.7.1.0/24");
    snprintf(nic->addresses[0], INVENTORY_NAME, "10.7.0.3/24");
    plan_sets("UCX_NET_DEVICES", "mlx5_1:1",
              "of the socket that the task is bound to (NUMA node 1)");

    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 1, -1);
    add_rail("eth2", NULL, 1, -1);
    nic = &inventory->nics[2];
    nic->location.numa_node = 1;
    snprintf(nic->addresses[0], INVENTORY_NAME, "10.0.2.2/24");
    task.numa_nodes = 1 << 1;
    plan_sets("UCX_NET_DEVICES", "eth2", "of the socket that the task is bound to (NUMA node 1)");
}

static void more_ports_than_fit(void)
{
    char device[32];

    start(FABRIC_INFINIBAND);
    for (int i = 0; i < 33; i++) {
        snprintf(device, sizeof device, "mlx5_%d", i);
        add_rail(NULL, device, 1, -1);
    }
    plan_keeps("NCCL_IB_HCA", "more than 32");
    is_int(find("UCX_NET_DEVICES")->action, ENVPLAN_SET, "UCX_NET_DEVICES is set with 33 ports");
    has_str(find("UCX_NET_DEVICES")->fact, "... up", "the fact cuts a long list of rails");
}

static void other_classes(void)
{
    struct rail *rail;

    start(FABRIC_EFA);
    add_rail("eth1", "rdmap0s6", 1, -1);
    plan_keeps("UCX_NET_DEVICES", "not for a fabric of class EFA");
    plan_keeps("NCCL_IB_HCA", "EFA");

    start(FABRIC_IWARP);
    add_rail("eth1", "iwp0", 1, -1);
    plan_sets("UCX_NET_DEVICES", "eth1", "iWARP");
    plan_keeps("NCCL_IB_HCA", "iWARP");
    plan_sets("NCCL_IB_DISABLE", "1", "rdma_cm");

    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 1, -1);
    inventory->rdma_count = 1;
    snprintf(inventory->rdma[0].device, INVENTORY_NAME, "mlx5_0");
    snprintf(inventory->rdma[0].state, INVENTORY_NAME, "ACTIVE");
    inventory->rdma[0].port = 1;
    inventory->rdma[0].link_layer = LINK_ETHERNET;
    plan_sets("NCCL_IB_DISABLE", "1", "mlx5_0:1 is up, but the step's fabric is Ethernet");
    plan_sets("FI_PROVIDER", "^verbs,psm2,psm3,opx,efa,cxi", "mlx5_0:1 is up");
    plan_keeps("NCCL_NET", "the step does not cross islands");

    start(FABRIC_GAUDI);
    rail = add_rail("enp1", "hbl_0", 1, -1);
    snprintf(((struct nic *)rail->nic)->driver, INVENTORY_NAME, "habanalabs_en");
    add_nic("ens5", 1);
    inventory->gpu_count = 1;
    inventory->gpus[0].vendor = GPU_GAUDI;
    plan_sets("HCCL_SOCKET_IFNAME", "ens5", "Gaudi; management is eth0");
    plan_sets("GLOO_SOCKET_IFNAME", "ens5", "Gaudi");
    plan_keeps("NCCL_SOCKET_IFNAME", "Gaudi");
}

static void users_values(void)
{
    char line[2048];

    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 1, -1);
    set_environment("UCX_NET_DEVICES", "lo\n\033[31m", "GLOO_SOCKET_IFNAME", "", "RANK", "77",
                    "OMPI_MCA_btl_tcp_if_exclude", "eth0,lo", NULL);
    plan_keeps("UCX_NET_DEVICES", "set by the user to \"lo");
    plan_keeps("GLOO_SOCKET_IFNAME", "set by the user to \"\"");
    plan_keeps("RANK", "set by the user to \"77\"");
    plan_keeps("OMPI_MCA_btl_tcp_if_include", "the user set OMPI_MCA_btl_tcp_if_exclude");
    plan_sets("TP_SOCKET_IFNAME", "eth1", "Ethernet");
    envplan_explain(find("UCX_NET_DEVICES"), line, sizeof line);
    is_str(line, "UCX_NET_DEVICES left alone (fabric rails: set by the user to \"lo??[31m\")",
           "control characters in a user's value are replaced");
    envplan_explain(find("TP_SOCKET_IFNAME"), line, sizeof line);
    is_str(line,
           "TP_SOCKET_IFNAME=eth1 (first fabric interface: eth1 up, Ethernet; management is eth0)",
           "one line has the value, its rule and its fact");
    envplan_explain(find("TP_SOCKET_IFNAME"), line, 10);
    is_str(line, "TP_SOCKET", "a line is cut at its size");
}

static void nested_step(void)
{
    static char mark[8192], rank[64];

    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 1, -1);
    make_plan();
    snprintf(mark, sizeof mark, "%s", plan.mark);
    snprintf(rank, sizeof rank, "%s", find("RANK")->value);

    task.rank = 0;
    fabric->rails[0].nic = add_nic("eth2", 0);
    set_environment(ENVPLAN_MARK, mark, "RANK", rank, "GLOO_SOCKET_IFNAME", "eth1", "WORLD_SIZE",
                    "3", "MASTER_ADDR", "n1", NULL);
    plan_sets("RANK", "0", "SLURM_PROCID is 0");
    is_int(find("GLOO_SOCKET_IFNAME")->action, ENVPLAN_REMOVE,
           "a value of an outer step that no rule sets here is removed");
    plan_keeps("WORLD_SIZE", "set by the user to \"3\"");
    ok(strstr(plan.mark, ",WORLD_SIZE:") == NULL && strstr(plan.mark, "RANK:") != NULL,
       "the new mark names the variables that this plan set, not a variable that the user changed");

    set_environment(ENVPLAN_MARK, "RANK:00000000,RANK,:,,RANK:", "RANK", rank, NULL);
    plan_keeps("RANK", "set by the user");

    set_environment(ENVPLAN_MARK, mark, "RANK", rank, "WORLD_SIZE", "3", NULL);
    envplan_clear(&plan);
    is_int(envplan_make_off(lookup, NULL, &plan), 0, "a plan is made for a step without muster");
    is_int(plan.count, 1, "... which has one variable");
    is_str(plan.variables[0].name, "RANK", "... the rank of the outer step");
    is_int(plan.variables[0].action, ENVPLAN_REMOVE, "... which is removed");
    is_str(plan.mark, "", "... and the mark is empty");
}

static void launchers(void)
{
    start(FABRIC_ETHERNET);
    add_rail("eth1", NULL, 1, -1);
    task.launcher = ENVPLAN_MPI_DAEMON;
    plan_sets("UCX_NET_DEVICES", "eth1", "Ethernet");
    plan_keeps("MASTER_ADDR", "an MPI launcher");
    plan_keeps("GROUP_RANK", "an MPI launcher");
    plan_keeps("RANK", "an MPI launcher");
    task.launcher = ENVPLAN_SHELL;
    plan_keeps("MASTER_ADDR", "a shell");
    plan_keeps("LOCAL_RANK", "a shell");
    task.launcher = ENVPLAN_AGENT;
    plan_sets("UCX_NET_DEVICES", "eth1", "Ethernet");
    plan_sets("MASTER_ADDR", "n1", "first of");
    plan_sets("GROUP_RANK", "2", "SLURM_NODEID");
    plan_keeps("RANK", "manages its own ranks");
    plan_keeps("WORLD_SIZE", "manages its own ranks");
    plan_keeps("LOCAL_RANK", "manages its own ranks");
    plan_keeps("LOCAL_WORLD_SIZE", "manages its own ranks");
}

#define launcher_is(expected, local_size, ...)                                                     \
    do {                                                                                           \
        char *const argv[] = {__VA_ARGS__, NULL};                                                  \
        int argc = (int)(sizeof argv / sizeof *argv) - 1;                                          \
                                                                                                   \
        is_int(envplan_launcher(argc, argv, local_size, world_size), expected, "%s, %d per node",  \
               argv[0], local_size);                                                               \
    } while (0)

static void launcher_names(void)
{
    long world_size = 2;
    char *const empty[] = {NULL};
    char script[9100];

    launcher_is(ENVPLAN_MPI_DAEMON, 1, (char *)"/opt/openmpi/bin/orted", (char *)"-mca");
    launcher_is(ENVPLAN_MPI_DAEMON, 1, (char *)"prted");
    launcher_is(ENVPLAN_MPI_DAEMON, 1, (char *)"hydra_pmi_proxy");
    launcher_is(ENVPLAN_MPI_DAEMON, 2, (char *)"mpispawn");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"torchrun", (char *)"--nproc-per-node=8");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"/usr/bin/env", (char *)"A=1", (char *)"/v/bin/torchrun");
    launcher_is(ENVPLAN_RANK, 2, (char *)"torchrun");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"python3", (char *)"-m", (char *)"torch.distributed.run");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"accelerate", (char *)"launch", (char *)"x.py");
    launcher_is(ENVPLAN_RANK, 1, (char *)"accelerate", (char *)"env");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"bash", (char *)"-c", (char *)"cd x;exec torchrun a.py");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"sh", (char *)"-lc",
                (char *)"python -m torch.distributed.run a.py");
    launcher_is(ENVPLAN_RANK, 1, (char *)"bash", (char *)"-c", (char *)"echo notorchrun");
    launcher_is(ENVPLAN_RANK, 1, (char *)"cat", (char *)"a torchrun b");
    launcher_is(ENVPLAN_RANK, 1, (char *)"python3", (char *)"-m");
    launcher_is(ENVPLAN_RANK, 1, (char *)"./orted/a.out");
    launcher_is(ENVPLAN_RANK, 1, (char *)"");
    launcher_is(ENVPLAN_MPI_DAEMON, 1, (char *)"/usr/bin/mpirun", (char *)"-np", (char *)"4");
    launcher_is(ENVPLAN_MPI_DAEMON, 2, (char *)"mpiexec.hydra", (char *)"-n", (char *)"4");
    launcher_is(ENVPLAN_MPI_DAEMON, 1, (char *)"numactl", (char *)"-N0", (char *)"prterun");
    launcher_is(ENVPLAN_RANK, 2, (char *)"numactl", (char *)"-N0", (char *)"prterun");
    launcher_is(ENVPLAN_MPI_DAEMON, 1, (char *)"bash", (char *)"-c", (char *)"mpirun -n 4 a.out");
    launcher_is(ENVPLAN_MPI_DAEMON, 4, (char *)"flux", (char *)"start", (char *)"./run");
    launcher_is(ENVPLAN_RANK, 1, (char *)"flux", (char *)"jobs");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"ray", (char *)"start", (char *)"--block");
    launcher_is(ENVPLAN_AGENT, 1, (char *)"python3", (char *)"/v/bin/torchrun", (char *)"a.py");
    launcher_is(ENVPLAN_RANK, 1, (char *)"python3", (char *)"a.py", (char *)"--by",
                (char *)"deepspeed");
    launcher_is(ENVPLAN_RANK, 1, (char *)"./a.py", (char *)"mpirun");
    launcher_is(ENVPLAN_RANK, 1, (char *)"bash");
    world_size = 1;
    launcher_is(ENVPLAN_SHELL, 1, (char *)"bash");
    launcher_is(ENVPLAN_SHELL, 1, (char *)"/usr/bin/zsh", (char *)"-l");
    launcher_is(ENVPLAN_RANK, 1, (char *)"bash", (char *)"train.sh");
    launcher_is(ENVPLAN_RANK, 1, (char *)"sh", (char *)"-c", (char *)"./a.out");
    is_int(envplan_launcher(0, empty, 1, 1), ENVPLAN_RANK, "an empty command line is a rank's");
    memset(script, ' ', sizeof script);
    strcpy(script + 9000, "exec torchrun a.py");
    is_int(envplan_launcher(3, (char *const[]){(char *)"sh", (char *)"-c", script, NULL}, 1, 1),
           ENVPLAN_AGENT, "a launcher at the end of a 9 kB script is found");
}

/* Reads the task from this environment: name, value, ..., NULL. */
#define read_task(...) (set_environment(__VA_ARGS__), envplan_task_read(lookup, NULL, &task))

static void tasks(void)
{
    read_task("SLURM_JOB_ID", "41", "SLURM_STEP_ID", "0", "SLURM_PROCID", "5", "SLURM_LOCALID", "1",
              "SLURM_NODEID", "3", "SLURM_NTASKS", "8", "SLURM_STEP_NODELIST", "n[02-05],n9", NULL);
    is_int(task.job_id, 41, "job");
    is_int(task.step_id, 0, "step");
    is_int(task.rank, 5, "rank");
    is_int(task.local_rank, 1, "local rank");
    is_int(task.node_rank, 3, "node rank");
    is_int(task.world_size, 8, "world size");
    is_int(task.local_size, -1, "the number of local tasks is left to the caller");
    is_str(task.first_host, "n02", "rank 0 is on the first node of the step");

    read_task("SLURM_DISTRIBUTION", "arbitrary", "SLURM_STEP_NODELIST", "n[1-2]",
              "SLURM_ARBITRARY_NODELIST", "n2,n1,n2", "SLURM_JOB_ID", "42", "SLURM_HET_JOB_ID",
              "41", NULL);
    is_str(task.first_host, "n2", "an arbitrary distribution follows the user's list");
    is_int(task.job_id, 41, "a heterogeneous job has the ID of its leader");
    is_int(task.rank, -1, "the rank is -1 if the environment has none");

    read_task("SLURM_DISTRIBUTION", "arbitrary", "SLURM_STEP_NODELIST", "n[1-2]", NULL);
    is_str(task.first_host, "", "without that list the host of rank 0 is not known");
    has_str(task.first_host_fact, "does not report where rank 0 is", "... and the fact says so");

    read_task("SLURM_DISTRIBUTION", "arbitrary", "SLURM_STEP_NODELIST", "n7", NULL);
    is_str(task.first_host, "n7", "... unless the step has only one node");

    read_task("SLURM_STEP_NODELIST", "n[1-", "SLURM_PROCID", "-1", "SLURM_LOCALID", "1x",
              "SLURM_NTASKS", "99999999999999999999", NULL);
    is_str(task.first_host, "", "a list that does not parse names no host");
    has_str(task.first_host_fact, "SLURM_STEP_NODELIST: ", "... and the fact says why");
    is_int(task.rank, -1, "a negative number is refused");
    is_int(task.local_rank, -1, "a number with other characters after it is refused");
    is_int(task.world_size, -1, "a number out of range is refused");

    start(FABRIC_NONE);
    task.rank = task.world_size = task.step_id = -1;
    task.first_host[0] = '\0';
    plan_keeps("RANK", "SLURM_PROCID is not set");
    plan_keeps("WORLD_SIZE", "SLURM_NTASKS is not set");
    plan_keeps("MASTER_PORT", "Slurm does not report");
    plan_keeps("MASTER_ADDR", "first of");
}

static void components(void)
{
    clock_t begin;
    double cpu_s;

    read_task("SLURM_STEP_NODELIST", "n[1-3]", "SLURM_HET_SIZE", "2",
              "SLURM_JOB_NODELIST_HET_GROUP_0", "n2", "SLURM_JOB_NODELIST_HET_GROUP_1", "n[1,3]",
              NULL);
    is_str(task.first_host, "n2", "rank 0 is in the first component, not on the first node");
    has_str(task.first_host_fact, "components", "... and the fact says so");

    read_task("SLURM_STEP_NODELIST", "n[1-2]", "SLURM_HET_SIZE", "3",
              "SLURM_JOB_NODELIST_PACK_GROUP_0", "n3", "SLURM_JOB_NODELIST_PACK_GROUP_1", "n2",
              "SLURM_JOB_NODELIST_PACK_GROUP_2", "n1", NULL);
    is_str(task.first_host, "n2", "a component without a node of the step does not count");

    read_task("SLURM_STEP_NODELIST", "n[1-2]", "SLURM_HET_SIZE", "2",
              "SLURM_JOB_NODELIST_HET_GROUP_0", "n2", "SLURM_JOB_NODELIST_HET_GROUP_1", "n[1-2]",
              NULL);
    is_str(task.first_host, "", "the host of rank 0 is not known if components share a node");
    has_str(task.first_host_fact, "do not show", "... and the fact says so");

    read_task("SLURM_STEP_NODELIST", "n[1-2]", "SLURM_HET_SIZE", "2", NULL);
    is_str(task.first_host, "", "... nor if the nodes of the components are not known");

    read_task("SLURM_STEP_NODELIST", "n[1-2]", "SLURM_HET_SIZE", "9223372036854775806",
              NULL); /* it must return at all */
    is_str(task.first_host, "", "... nor with more components than Slurm allows");
    has_str(task.first_host_fact, "above Slurm's own 128", "... and the fact says so");

    read_task("SLURM_STEP_NODELIST", "n2", "SLURM_HET_SIZE", "2", NULL);
    is_str(task.first_host, "n2", "... but it is known if the step has one node");

    begin = clock();
    read_task("SLURM_STEP_NODELIST", "n[1-65536]", "SLURM_HET_SIZE", "2",
              "SLURM_JOB_NODELIST_HET_GROUP_0", "n[30001-65536]", "SLURM_JOB_NODELIST_HET_GROUP_1",
              "n[1-30000]", NULL);
    is_str(task.first_host, "n30001", "the host of rank 0 is found in the largest step");
    cpu_s = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ok(cpu_s < 1, "... within one second of processor time (%.3f s)", cpu_s);
}

static void ports(void)
{
    int last = -1, clashes = 0;

    start(FABRIC_NONE);
    for (task.job_id = 1; task.job_id < 2000; task.job_id++)
        for (task.step_id = 0; task.step_id < 3; task.step_id++) {
            int port;

            make_plan();
            port = atoi(find("MASTER_PORT")->value);
            clashes += port == last || port < 29500 || port > 29999;
            last = port;
        }
    is_int(clashes, 0, "successive jobs and steps have different ports, inside the range");
    task.job_id = 0xfffffffel;
    conf.master_port_first = conf.master_port_last = 65535;
    plan_sets("MASTER_PORT", "65535", "65535-65535");
    conf.master_port_last = 65536;
    plan_keeps("MASTER_PORT", "not a range of ports");
}

int main(void)
{
    inventory = calloc(1, sizeof *inventory);
    node = calloc(1, sizeof *node);
    if (inventory == NULL || node == NULL)
        return 1;
    fabric = &node->fabric;
    conf_defaults(&conf);
    ethernet();
    ethernet_with_a_rail_down();
    infiniband();
    roce();
    sockets();
    more_ports_than_fit();
    other_classes();
    users_values();
    nested_step();
    launchers();
    launcher_names();
    tasks();
    components();
    ports();
    conf_clear(&conf);
    envplan_clear(&plan);
    free(node);
    free(inventory);
    return tap_done();
}
