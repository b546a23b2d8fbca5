/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric/rails.h"

#include <stdio.h>
#include <string.h>

int rail_is_up(const struct rail *rail)
{
    if (rail->port)
        return strcmp(rail->port->state, "ACTIVE") == 0;
    return rail->nic && nic_has_link(rail->nic);
}

const struct location *rail_location(const struct rail *rail)
{
    if (rail->port && rail->port->location.pci[0])
        return &rail->port->location;
    return rail->nic ? &rail->nic->location : &rail->port->location;
}

bool rail_is_virtual(const struct rail *rail)
{
    return rail->port ? rail->port->is_virtual_function
                      : rail->nic && rail->nic->is_virtual_function;
}

/* Returns the rail's interface; NULL for an InfiniBand port, which does not need IPoIB. */
static const struct nic *interface_of(const struct rail *rail)
{
    return rail->class != FABRIC_INFINIBAND ? rail->nic : NULL;
}

void rail_why_down(const struct rail *rail, char *text, size_t size)
{
    const struct nic *nic = interface_of(rail);
    const struct rdma_port *port = rail->port;
    char state[2 * INVENTORY_NAME + 4] = "";

    if (port)
        snprintf(state, sizeof state, "%s%s%s%s", port->state, port->phys_state[0] ? " (" : "",
                 port->phys_state, port->phys_state[0] ? ")" : "");
    if (nic && !nic->is_up)
        snprintf(text, size, "%s is down; bring it up: ip link set %s up", nic->name, nic->name);
    else if (nic && !nic->has_carrier)
        snprintf(text, size, "%s has no carrier; check cable or switch port", nic->name);
    else if (!port || strcmp(port->state, "ACTIVE") == 0)
        snprintf(text, size, "%s is not down", rail->name);
    else if (strcmp(port->state, "INIT") == 0 || strcmp(port->state, "ARMED") == 0)
        snprintf(text, size,
                 "%s is in state %s, not ACTIVE: the link is there, but no subnet manager has set "
                 "the port up; check the subnet manager",
                 rail->name, port->state);
    else if (nic)
        snprintf(text, size,
                 "%s is %s, though its interface %s is up: TCP works there and RDMA does not, so "
                 "jobs fall back or hang; check the kernel log for the RDMA driver's messages, "
                 "then reload %s",
                 rail->name, state, nic->name, port->driver[0] ? port->driver : "its driver");
    else if (strcmp(port->phys_state, "Disabled") == 0)
        snprintf(text, size,
                 "%s is %s, not ACTIVE: the port is disabled; enable it with ibportstate, or at "
                 "the switch",
                 rail->name, port->state);
    else
        snprintf(text, size, "%s is %s, not ACTIVE; check cable or switch port", rail->name, state);
}

/* Returns the rank of a GID, 0 unusable, higher is better. RoCE v2 over IPv4 is best: switches
 * route it, and NICs with an address have it. Link-local GIDs work within one subnet only. The
 * port's own GID is better than the GID of a VLAN on top of the port. */
static int gid_rank(const struct rdma_port *port, const struct gid *gid)
{
    int rank;

    if (gid->type == GID_ROCE_V2)
        rank = strncmp(gid->gid, "0000:0000:0000:0000:0000:ffff:", 30) == 0 ? 8
               : strncmp(gid->gid, "fe80:", 5) == 0                         ? 4
                                                                            : 6;
    else if (gid->type == GID_ROCE_V1)
        rank = 2;
    else
        return 0;
    return rank + (strcmp(gid->netdev, port->netdev) == 0);
}

static const struct gid *best_gid(const struct rdma_port *port)
{
    const struct gid *best = NULL;

    for (size_t i = 0; i < port->gid_count; i++) {
        const struct gid *gid = &port->gids[i];

        if (gid_rank(port, gid) > (best ? gid_rank(port, best) : 0))
            best = gid;
    }
    return best;
}

int rail_ucx_gid_index(const struct rail *rail)
{
    const struct rdma_port *port = rail->port;

    for (size_t i = 0; port && port->is_software && i < port->gid_count; i++)
        if (port->gids[i].type == GID_ROCE_V2 && strncmp(port->gids[i].gid, "fe80:", 5) == 0 &&
            strcmp(port->gids[i].netdev, port->netdev) == 0)
            return port->gids[i].index;
    return rail->gid_index;
}

static enum fabric_class port_class(const struct rdma_port *port)
{
    const struct gid *gid;

    if (port->link_layer == LINK_INFINIBAND)
        return FABRIC_INFINIBAND;
    if (strncmp(port->device, "hbl_", 4) == 0 || strstr(port->driver, "habanalabs"))
        return FABRIC_GAUDI;
    if (strcmp(port->driver, "efa") == 0)
        return FABRIC_EFA;
    if (port->link_layer != LINK_ETHERNET)
        return FABRIC_NONE;
    if (strcmp(port->node_type, "RNIC") == 0)
        return FABRIC_IWARP;
    gid = best_gid(port);
    /* without a GID (the port is down) it is v2: every RoCE NIC of today supports v2 */
    return gid && gid->type == GID_ROCE_V1 ? FABRIC_ROCE_V1 : FABRIC_ROCE_V2;
}

static enum fabric_class nic_class(const struct nic *nic)
{
    return strncmp(nic->driver, "cxi", 3) == 0 ? FABRIC_SLINGSHOT : FABRIC_ETHERNET;
}

static double configured_mbps(const struct conf *conf, const struct rail *rail)
{
    double mbps = conf_nominal_mbps(conf, rail->name);

    if (mbps < 0 && rail->nic)
        mbps = conf_nominal_mbps(conf, rail->nic->name);
    if (mbps < 0 && rail->port)
        mbps = conf_nominal_mbps(conf, rail->port->device);
    return mbps;
}

static void set_nominal(const struct conf *conf, struct rail *rail)
{
    double mbps = conf ? configured_mbps(conf, rail) : -1;

    rail->nominal_source = "conf";
    if (mbps < 0) {
        rail->nominal_source = "sysfs";
        if (rail->port && rail->port->rate_gbps > 0)
            mbps = rail->port->rate_gbps * 1000;
        else if (rail->nic && rail->nic->speed_mbps > 0)
            mbps = rail->nic->speed_mbps;
    }
    if (mbps < 0)
        rail->nominal_source = "unknown";
    rail->nominal_mbps = mbps;
}

static struct rail make_rail(const struct conf *conf, const struct nic *nic,
                             const struct rdma_port *port)
{
    struct rail rail = {.nic = nic, .port = port, .gid_index = -1};

    if (port) {
        const struct gid *gid = port->link_layer == LINK_ETHERNET ? best_gid(port) : NULL;

        snprintf(rail.name, sizeof rail.name, "%.*s:%d", INVENTORY_NAME - 13, port->device,
                 port->port);
        rail.class = port_class(port);
        rail.gid_index = gid ? gid->index : -1;
    } else {
        snprintf(rail.name, sizeof rail.name, "%s", nic->name);
        rail.class = nic_class(nic);
    }
    set_nominal(conf, &rail);
    return rail;
}

size_t rails_all(const struct inventory *inventory, const struct conf *conf, struct rail *rails)
{
    size_t count = 0;

    for (size_t i = 0; i < inventory->rdma_count; i++) {
        const struct rdma_port *port = &inventory->rdma[i];

        if (port_class(port) == FABRIC_NONE)
            continue;
        rails[count++] =
            make_rail(conf, port->netdev[0] ? inventory_nic(inventory, port->netdev) : NULL, port);
    }
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct rdma_port *port = inventory_rdma_of(inventory, inventory->nics[i].name);

        if (!port || port_class(port) == FABRIC_NONE)
            rails[count++] = make_rail(conf, &inventory->nics[i], NULL);
    }
    return count;
}

struct rail rail_of_nic(const struct conf *conf, const struct nic *nic, enum fabric_class class)
{
    struct rail rail = make_rail(conf, nic, NULL);

    rail.class = class;
    return rail;
}

/* Linux's ARPHRD_INFINIBAND, the type of IPoIB interfaces, which reach only InfiniBand nodes. */
static const int arp_type_infiniband = 32;

size_t rails_sockets(const struct inventory *inventory, const struct conf *conf, struct rail *rails)
{
    size_t count = 0;

    for (size_t i = 0; i < inventory->nic_count; i++) {
        if (inventory->nics[i].arp_type == arp_type_infiniband)
            continue;
        rails[count++] = rail_of_nic(conf, &inventory->nics[i], FABRIC_ETHERNET);
    }
    return count;
}
