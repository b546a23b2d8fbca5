/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/envplan/envplan_parts.h"

#include <stdio.h>
#include <string.h>

/* The rules for all variables that muster chooses by itself; the table is at the end. */

/* The tasks that get a variable. All ranks of a node inherit the environment of mpirun's daemon. An
 * agent such as torchrun numbers its ranks itself, but needs the address of rank 0. */
enum scope {
    SCOPE_NODE =
        1 << ENVPLAN_RANK | 1 << ENVPLAN_MPI_DAEMON | 1 << ENVPLAN_AGENT | 1 << ENVPLAN_SHELL,
    SCOPE_STEP = 1 << ENVPLAN_RANK | 1 << ENVPLAN_AGENT,
    SCOPE_RANK = 1 << ENVPLAN_RANK,
};

enum {
    ETHERNET = 1 << FABRIC_ETHERNET,
    IWARP = 1 << FABRIC_IWARP,
    ROCE = 1 << FABRIC_ROCE_V1 | 1 << FABRIC_ROCE_V2,
    RDMA = ROCE | 1 << FABRIC_INFINIBAND,
    /* EFA is used through libfabric: UCX has no transport for its ports */
    NOT_EFA = ~(1 << FABRIC_EFA),
    NOT_GAUDI = ~(1 << FABRIC_GAUDI),
    ANY = ~0,
};

/* ---------------------------------------------------------------- lists of rails */

static bool is_gaudi_nic(const struct nic *nic)
{
    return strncmp(nic->driver, "habanalabs", strlen("habanalabs")) == 0;
}

/* Sets nics to the host's interfaces except management, for Gaudi, whose own ports carry no
 * sockets. Returns the number of interfaces. */
static size_t host_sockets(const struct envplan_view *view, const struct nic **nics, size_t max)
{
    const struct inventory *inventory = view->node->inventory;
    size_t count = 0;

    for (size_t i = 0; i < inventory->nic_count && count < max; i++) {
        const struct nic *nic = &inventory->nics[i];

        if (nic != view->node->fabric.management && nic->is_physical && !is_gaudi_nic(nic) &&
            nic_has_sockets(nic))
            nics[count++] = nic;
    }
    return count;
}

static int interfaces_join(struct envplan_variable *variable, const char *before,
                           const struct nic **nics, size_t count)
{
    snprintf(variable->value, sizeof variable->value, "%s", before);
    for (size_t i = 0; i < count; i++)
        if (envplan_join(variable->value, sizeof variable->value, i > 0 ? "," : "", nics[i]->name) <
            0)
            return envplan_fact(variable, "the names of %zu interfaces do not fit", count);
    return 0;
}

/* Sets the value to the interfaces for the sockets of the job's data, the same for the whole node
 * and in the rails' order. Every task has the same interfaces in the same order, and so has every
 * node if the nodes are alike: any two tasks can connect. */
static int data_sockets(const struct envplan_view *view, struct envplan_variable *variable,
                        const char *before, size_t max)
{
    const struct fabric *fabric = &view->node->fabric;
    const struct nic *nics[INVENTORY_NICS];
    size_t rails[INVENTORY_NICS], count;

    for (size_t i = 0; i < fabric->rail_count; i++)
        rails[i] = i;
    count = fabric->class == FABRIC_GAUDI
                ? host_sockets(view, nics, max)
                : envplan_sockets(view, rails, fabric->rail_count, nics, max);
    envplan_rails_fact(view, variable);
    if (count == 0)
        return envplan_fact_add(variable, "no rail that is up has an interface with an IP address");
    return interfaces_join(variable, before, nics, count);
}

/* As data_sockets(), for the sockets of the bootstrap. If the data does not need sockets, the
 * management interface is good enough. */
static int bootstrap_interfaces(const struct envplan_view *view, struct envplan_variable *variable,
                                const char *before, size_t max)
{
    const struct nic *management = view->node->fabric.management;

    if (data_sockets(view, variable, before, max) == 0)
        return 0;
    if (view->node->fabric.class <= FABRIC_ETHERNET || management == NULL ||
        !nic_has_sockets(management))
        return -1;
    envplan_fact_add(variable, "so ranks meet over management");
    return interfaces_join(variable, before, &management, 1);
}

#define CHOOSE_INTERFACES(name, interfaces, before, max)                                           \
    static int choose_##name(const struct envplan_view *view, struct envplan_variable *variable)   \
    {                                                                                              \
        return interfaces(view, variable, before, max);                                            \
    }
CHOOSE_INTERFACES(sockets, data_sockets, "", INVENTORY_NICS)
CHOOSE_INTERFACES(one_socket, data_sockets, "", 1)
CHOOSE_INTERFACES(bootstrap_interface, bootstrap_interfaces, "", 1)
/* "=": full names, as eth1 would match eth10 too */
CHOOSE_INTERFACES(nccl_sockets, bootstrap_interfaces, "=", INVENTORY_NICS)

static int ports_join(const struct envplan_view *view, struct envplan_variable *variable,
                      const char *before, size_t max, const size_t *rails, size_t rail_count)
{
    size_t count = 0;

    snprintf(variable->value, sizeof variable->value, "%s", before);
    for (size_t i = 0; i < rail_count; i++) {
        const struct rail *rail = &view->node->fabric.rails[rails[i]];
        char name[INVENTORY_NAME + 16];

        if (rail->port == NULL)
            continue;
        snprintf(name, sizeof name, "%s:%d", rail->port->device, rail->port->port);
        if (++count > max)
            return envplan_fact(variable, "more than %zu RDMA ports are up", max);
        if (envplan_join(variable->value, sizeof variable->value, count > 1 ? "," : "", name) < 0)
            return envplan_fact(variable, "the names of %zu RDMA ports do not fit", rail_count);
    }
    if (count == 0)
        return envplan_fact_add(variable, "no RDMA port is up");
    return 0;
}

/* ---------------------------------------------------------------- UCX */

/* UCX uses the devices of its list in each process, and at most UCX_MAX_RNDV_RAILS of them (two)
 * for a large message. So a task with GPUs of its own gets the rails nearest to these. */
static int choose_ucx_devices(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct nic *nics[INVENTORY_NICS];
    size_t rails[INVENTORY_NICS], count;
    char why[384];
    bool is_nearest;

    count = envplan_task_rails(view, rails, &is_nearest, why, sizeof why);
    envplan_rails_fact(view, variable);
    if (*why != '\0')
        envplan_fact_add(variable, "%s", why);
    if (1 << view->node->fabric.class & RDMA)
        return ports_join(view, variable, "", INVENTORY_RDMA, rails, count);
    if (!is_nearest) {
        int status = choose_sockets(view, variable);

        if (*why != '\0')
            envplan_fact_add(variable, "%s", why);
        return status;
    }
    count = envplan_sockets(view, rails, count, nics, INVENTORY_NICS);
    if (count == 0)
        return choose_sockets(view, variable);
    return interfaces_join(variable, "", nics, count);
}

static int best_index(const struct rail *rail)
{
    return rail->gid_index;
}

/* Sets the value to the GID index of all these rails, as the variable takes only one index. Sets
 * nothing if their indexes differ. */
static int one_gid_index(const struct envplan_view *view, struct envplan_variable *variable,
                         const size_t *rails, size_t rail_count,
                         int (*index_of)(const struct rail *rail))
{
    const struct fabric *fabric = &view->node->fabric;
    const struct rail *first = NULL;

    for (size_t i = 0; i < rail_count; i++) {
        const struct rail *rail = &fabric->rails[rails[i]];

        if (rail->port == NULL)
            continue;
        if (index_of(rail) < 0)
            return envplan_fact(variable, "%s has no RoCE GID", rail->name);
        if (first != NULL && index_of(rail) != index_of(first))
            return envplan_fact(variable,
                                "GID index is %d on %s and %d on %s: the library chooses for each",
                                index_of(first), first->name, index_of(rail), rail->name);
        first = first != NULL ? first : rail;
    }
    if (first == NULL)
        return envplan_fact(variable, "no RDMA port is up");
    snprintf(variable->value, sizeof variable->value, "%d", index_of(first));
    envplan_fact(variable, "GID table: index %d is the best %s GID of every rail that is up",
                 first->gid_index, fabric_class_name(fabric->class));
    if (index_of(first) != first->gid_index)
        envplan_fact(variable,
                     "GID table: index %d is the link-local GID of every rail that is up; UCX's "
                     "datagrams do not arrive on soft-RoCE with another",
                     index_of(first));
    return 0;
}

static int choose_ucx_gid_index(const struct envplan_view *view, struct envplan_variable *variable)
{
    size_t rails[INVENTORY_NICS];
    char why[384];
    bool is_nearest;
    size_t count = envplan_task_rails(view, rails, &is_nearest, why, sizeof why);

    if (one_gid_index(view, variable, rails, count, rail_ucx_gid_index) < 0)
        return -1;
    if (is_nearest)
        envplan_fact_add(variable, "of those %s", why);
    return 0;
}

/* ---------------------------------------------------------------- NCCL, RCCL, HCCL */

/* Sets all ports, the same on every rank: "You should not set NCCL_IB_HCA differently on each rank"
 * (NVIDIA/nccl issue 1478). NCCL itself finds the NIC nearest to each GPU, and a GPU can send
 * through another GPU's NIC (NCCL 2.12, PXN). At most 32: MAX_IB_DEVS. */
static int choose_nccl_ports(const struct envplan_view *view, struct envplan_variable *variable)
{
    size_t rails[INVENTORY_NICS], count = envplan_up_rails(view, rails);

    envplan_rails_fact(view, variable);
    return ports_join(view, variable, "=", 32, rails, count);
}

static int choose_nccl_gid_index(const struct envplan_view *view, struct envplan_variable *variable)
{
    size_t rails[INVENTORY_NICS], count = envplan_up_rails(view, rails);

    return one_gid_index(view, variable, rails, count, best_index);
}

/* Returns an RDMA port that is up, or NULL. Used if the step's fabric is plain Ethernet, where no
 * library may choose such a port. */
static const struct rdma_port *find_active_port(const struct envplan_view *view)
{
    const struct inventory *inventory = view->node->inventory;

    for (size_t i = 0; i < inventory->rdma_count; i++)
        if (inventory->rdma[i].link_layer != LINK_UNKNOWN &&
            strcmp(inventory->rdma[i].state, "ACTIVE") == 0)
            return &inventory->rdma[i];
    return NULL;
}

/* NCCL's InfiniBand transport uses every verbs port that is up and has the link layer InfiniBand or
 * Ethernet (NCCL 2.30, src/transport/net_ib/init.cc:364), also a port that does not lead to the
 * other nodes. The link layer of iWARP is Ethernet, but NCCL moves queue pairs to RTR itself
 * (net_ib/connect.cc:403). An iWARP connection begins as TCP with an exchange of MPA frames (RFC
 * 5044, section 7), which only the connection manager does. UCX does not support iWARP (UCX 1.22,
 * src/uct/ib/base/ib_md.c, uct_ib_device_is_supported()), so UCX gets interfaces. */
static int choose_nccl_ib_disable(const struct envplan_view *view,
                                  struct envplan_variable *variable)
{
    const struct rdma_port *port = find_active_port(view);

    if (view->node->fabric.class == FABRIC_IWARP) {
        envplan_fact(variable, "iWARP connects by rdma_cm only, which NCCL does not use");
    } else if (port == NULL) {
        return envplan_fact(variable, "no RDMA port is up");
    } else {
        envplan_fact(variable, "%s:%d is up, but the step's fabric is Ethernet", port->device,
                     port->port);
        if (view->node->islands.is_crossing)
            envplan_fact_add(variable, "%s", view->node->islands.fact);
    }
    snprintf(variable->value, sizeof variable->value, "1");
    return 0;
}

/* NCCL_IB_DISABLE does not keep a network plugin (aws-ofi-nccl, Slingshot's) from its network. */
static int choose_nccl_net(const struct envplan_view *view, struct envplan_variable *variable)
{
    if (!view->node->islands.is_crossing)
        return envplan_fact(variable, "the step does not cross islands");
    envplan_fact(variable, "%s", view->node->islands.fact);
    snprintf(variable->value, sizeof variable->value, "Socket");
    return 0;
}

static int choose_hccl_socket(const struct envplan_view *view, struct envplan_variable *variable)
{
    if (inventory_has_gpu(view->node->inventory, GPU_GAUDI))
        return choose_bootstrap_interface(view, variable);
    return envplan_fact(variable, "no Gaudi in this node");
}

/* ---------------------------------------------------------------- MPI, libfabric, gloo */

/* Returns whether the driver's network has its own library, which Open MPI prefers to UCX. */
static bool has_own_library(const char *driver)
{
    return strncmp(driver, "hfi1", 4) == 0 || strncmp(driver, "ib_qib", 6) == 0;
}

/* Open MPI uses TCP and not UCX unless a port's driver is in this list, which is "mlx*" by default
 * (ompi opal/mca/common/ucx/common_ucx.c). */
static int choose_ompi_ucx_drivers(const struct envplan_view *view,
                                   struct envplan_variable *variable)
{
    const struct fabric *fabric = &view->node->fabric;

    envplan_fact(variable, "no RDMA port is up");
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const struct rail *rail = &fabric->rails[i];
        const char *driver = rail->port != NULL ? rail->port->driver : "";

        if (rail->port == NULL || !rail_is_up(rail))
            continue;
        if (strncmp(driver, "mlx", 3) == 0)
            return envplan_fact(variable, "%s has the driver %s, which Open MPI knows", rail->name,
                                driver);
        if (*driver == '\0' || has_own_library(driver))
            return envplan_fact(variable, "%s has %s%s", rail->name,
                                *driver == '\0' ? "no driver that is known" : "the driver ",
                                driver);
        if (*variable->value == '\0') {
            snprintf(variable->value, sizeof variable->value, "%s", driver);
            envplan_fact(variable, "%s has the driver %s; Open MPI knows mlx* only", rail->name,
                         driver);
        } else if (strcmp(variable->value, driver) != 0) {
            return envplan_fact(variable, "rails have different drivers, %s and %s",
                                variable->value, driver);
        }
    }
    return *variable->value != '\0' ? 0 : -1;
}

/* libfabric offers each network that has a port. Slingshot and Omni-Path do not need verbs. */
static int choose_libfabric(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct rdma_port *port = find_active_port(view);
    bool is_crossing = view->node->islands.is_crossing;

    if (port == NULL && !is_crossing)
        return envplan_fact(variable, "no RDMA port is up");
    if (port != NULL)
        envplan_fact(variable, "%s:%d is up, but the step's fabric is Ethernet", port->device,
                     port->port);
    if (is_crossing)
        envplan_fact_add(variable, "%s", view->node->islands.fact);
    snprintf(variable->value, sizeof variable->value, "^verbs,psm2,psm3,opx,efa,cxi");
    return 0;
}

/* ---------------------------------------------------------------- rank and host */

static int choose_fabric(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct fabric *fabric = &view->node->fabric;

    if (fabric->class == FABRIC_NONE)
        return envplan_fact(variable, "%s", fabric->reason);
    snprintf(variable->value, sizeof variable->value, "%s", fabric_class_word(fabric->class));
    envplan_fact(variable, "%s", fabric->reason);
    envplan_fact_add(variable, "%s", view->node->islands.fact);
    return 0;
}

static int choose_island(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct islands *islands = &view->node->islands;

    if (islands->own == NULL)
        return envplan_fact(variable, "%s%s", islands->fact,
                            view->node->conf->island_count > 0 ? "; this node is in none" : "");
    snprintf(variable->value, sizeof variable->value, "%s", islands->own->name);
    envplan_fact(variable, "%s:%u", view->node->conf->file, islands->own->line);
    return 0;
}

static int choose_island_fabric(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct islands *islands = &view->node->islands;

    if (choose_island(view, variable) < 0)
        return -1;
    snprintf(variable->value, sizeof variable->value, "%s",
             fabric_class_word(islands->own->fabric));
    return 0;
}

static int choose_islands(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct islands *islands = &view->node->islands;

    envplan_fact(variable, "%s", islands->fact);
    if (*islands->list == '\0')
        return -1;
    snprintf(variable->value, sizeof variable->value, "%s", islands->list);
    return 0;
}

static int choose_master_addr(const struct envplan_view *view, struct envplan_variable *variable)
{
    envplan_fact(variable, "%s", view->task->first_host_fact);
    if (*view->task->first_host == '\0')
        return -1;
    snprintf(variable->value, sizeof variable->value, "%s", view->task->first_host);
    return 0;
}

/* Jobs and steps that may run at the same time must have different ports. Factor 61, a prime: the
 * first 61 steps of a job have other ports than the next job. */
static int choose_master_port(const struct envplan_view *view, struct envplan_variable *variable)
{
    const struct envplan_task *task = view->task;
    const struct conf *conf = view->node->conf;
    int first = conf->master_port_first, last = conf->master_port_last;
    unsigned long long offset;

    if (task->job_id < 0 || task->step_id < 0)
        return envplan_fact(variable, "Slurm does not report job and step");
    if (first < 1 || last < first || last > 65535)
        return envplan_fact(variable, "MasterPorts %d-%d is not a range of ports", first, last);
    offset = (unsigned long long)task->job_id * 61 + (unsigned long long)task->step_id;
    snprintf(variable->value, sizeof variable->value, "%d",
             first + (int)(offset % (unsigned)(last - first + 1)));
    envplan_fact(variable, "job %ld step %ld in MasterPorts %d-%d", task->job_id, task->step_id,
                 first, last);
    return 0;
}

static int set_number(struct envplan_variable *variable, long number, const char *source)
{
    if (number < 0)
        return envplan_fact(variable, "%s is not set", source);
    snprintf(variable->value, sizeof variable->value, "%ld", number);
    envplan_fact(variable, "%s is %ld", source, number);
    return 0;
}

#define CHOOSE_NUMBER(number, source)                                                              \
    static int choose_##number(const struct envplan_view *view, struct envplan_variable *variable) \
    {                                                                                              \
        return set_number(variable, view->task->number, source);                                   \
    }
CHOOSE_NUMBER(world_size, "SLURM_NTASKS")
CHOOSE_NUMBER(rank, "SLURM_PROCID")
CHOOSE_NUMBER(local_rank, "SLURM_LOCALID")
CHOOSE_NUMBER(local_size, "the number of the step's tasks here")
CHOOSE_NUMBER(node_rank, "SLURM_NODEID")

/* ---------------------------------------------------------------- the table */

/* These documents say which library reads which variable, and its format:
 *
 * - UCX_*: openucx.readthedocs.io, "Frequently asked questions", and ucx_info -cf
 * - NCCL_*: NCCL User Guide, "Environment Variables"; RCCL's are the same
 * - HCCL_*: Intel Gaudi documentation, "Scale-Out via Host NIC", and HCCL's README
 * - OMPI_MCA_*: Open MPI's documentation, "Networking / TCP", and ompi_info --all; both 4 and 5
 * - MPIR_CVAR_*: mpich src/mpid/ch3/channels/nemesis/netmod/tcp/tcp_init.c
 * - FI_*: libfabric's fi_tcp(7), fi_sockets(7), fabric(7)
 * - GLOO_*, TP_*: PyTorch's documentation, "Distributed communication package", "Choosing the
 *   network interface to use"; TensorPipe's agent reads TP_SOCKET_IFNAME
 * - MASTER_* to RANK: the same, "Environment variable initialization", and torchrun's
 *
 * FI_VERBS_IFACE is not set. fi_verbs(7) says that its default is "ib", but the code has no default
 * and uses every interface with a verbs device (libfabric 1.17 prov/verbs/src/fi_verbs.c:56 and
 * verbs_info.c:1140, the same in 2.5). Up to 2.5 the value is one name, so a node with several
 * rails would use only one. */
const struct envplan_rule envplan_rules[] = {
    {"UCX_NET_DEVICES", "fabric rails", SCOPE_NODE, NOT_EFA, NULL, choose_ucx_devices},
    {"UCX_IB_GID_INDEX", "one RoCE GID index", SCOPE_NODE, ROCE, "UCX_NET_DEVICES",
     choose_ucx_gid_index},
    {"NCCL_SOCKET_IFNAME", "fabric interfaces", SCOPE_NODE, NOT_GAUDI, NULL, choose_nccl_sockets},
    {"NCCL_IB_HCA", "RDMA ports", SCOPE_NODE, RDMA, NULL, choose_nccl_ports},
    {"NCCL_IB_GID_INDEX", "one RoCE GID index", SCOPE_NODE, ROCE,
     "NCCL_IB_HCA NCCL_IB_ROCE_VERSION_NUM NCCL_IB_ADDR_FAMILY NCCL_IB_ADDR_RANGE",
     choose_nccl_gid_index},
    {"NCCL_IB_DISABLE", "no usable RDMA port", SCOPE_NODE, ETHERNET | IWARP,
     "NCCL_IB_HCA NCCL_NET NCCL_NET_PLUGIN", choose_nccl_ib_disable},
    {"NCCL_NET", "TCP between islands", SCOPE_NODE, ETHERNET, "NCCL_NET_PLUGIN NCCL_IB_HCA",
     choose_nccl_net},
    {"HCCL_SOCKET_IFNAME", "Gaudi's host interface", SCOPE_NODE, ANY, NULL, choose_hccl_socket},
    {"OMPI_MCA_btl_tcp_if_include", "fabric interfaces", SCOPE_NODE, ANY,
     "OMPI_MCA_btl_tcp_if_exclude", choose_sockets},
    {"OMPI_MCA_opal_common_ucx_devices", "drivers for UCX", SCOPE_NODE, RDMA, "OMPI_MCA_pml",
     choose_ompi_ucx_drivers},
    {"MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE", "first fabric interface", SCOPE_NODE, ETHERNET | IWARP,
     "MPIR_CVAR_CH3_INTERFACE_HOSTNAME MPICH_INTERFACE_HOSTNAME", choose_one_socket},
    {"FI_PROVIDER", "no usable RDMA port", SCOPE_NODE, ETHERNET, NULL, choose_libfabric},
    {"FI_TCP_IFACE", "first fabric interface", SCOPE_NODE, ANY, NULL, choose_one_socket},
    {"FI_SOCKETS_IFACE", "first fabric interface", SCOPE_NODE, ANY, NULL, choose_one_socket},
    {"GLOO_SOCKET_IFNAME", "first fabric interface", SCOPE_NODE, ANY, NULL,
     choose_bootstrap_interface},
    {"TP_SOCKET_IFNAME", "first fabric interface", SCOPE_NODE, ANY, NULL,
     choose_bootstrap_interface},
    {"MUSTER_FABRIC", "the step's fabric", SCOPE_NODE, ANY, NULL, choose_fabric},
    {"MUSTER_ISLAND", "island", SCOPE_NODE, ANY, NULL, choose_island},
    {"MUSTER_ISLAND_FABRIC", "island", SCOPE_NODE, ANY, NULL, choose_island_fabric},
    {"MUSTER_ISLANDS", "islands of the step", SCOPE_NODE, ANY, NULL, choose_islands},
    {"MASTER_ADDR", "host of rank 0", SCOPE_STEP, ANY, NULL, choose_master_addr},
    {"MASTER_PORT", "job and step", SCOPE_STEP, ANY, NULL, choose_master_port},
    {"GROUP_RANK", "node of the step", SCOPE_STEP, ANY, NULL, choose_node_rank},
    {"WORLD_SIZE", "tasks of the step", SCOPE_RANK, ANY, NULL, choose_world_size},
    {"RANK", "task", SCOPE_RANK, ANY, NULL, choose_rank},
    {"LOCAL_RANK", "task on its node", SCOPE_RANK, ANY, NULL, choose_local_rank},
    {"LOCAL_WORLD_SIZE", "tasks of this node", SCOPE_RANK, ANY, NULL, choose_local_size},
};

const size_t envplan_rule_count = sizeof envplan_rules / sizeof *envplan_rules;
