/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/fabric.h"
#include "lib/affinity.h"
#include "lib/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const class_names[] = {
    [FABRIC_NONE] = "none",
    [FABRIC_ETHERNET] = "Ethernet",
    [FABRIC_IWARP] = "iWARP",
    [FABRIC_ROCE_V1] = "RoCE v1",
    [FABRIC_ROCE_V2] = "RoCE v2",
    [FABRIC_EFA] = "EFA",
    [FABRIC_SLINGSHOT] = "Slingshot",
    [FABRIC_GAUDI] = "Gaudi",
    [FABRIC_INFINIBAND] = "InfiniBand",
};

const char *fabric_class_name(enum fabric_class class)
{
    return (unsigned)class <= FABRIC_INFINIBAND ? class_names[class] : "none";
}

int rail_is_up(const struct rail *rail)
{
    if (rail->port)
        return strcmp(rail->port->state, "ACTIVE") == 0;
    return rail->nic && rail->nic->is_up && rail->nic->has_carrier;
}

/* v2 over IPv4 is what switches route and what NICs with an address have; link-local ones work
 * within one subnet only; a GID of a VLAN on top of the port is not the port's own. */
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
    /* without a GID (the port is down): every RoCE NIC of today speaks v2 */
    return gid && gid->type == GID_ROCE_V1 ? FABRIC_ROCE_V1 : FABRIC_ROCE_V2;
}

static enum fabric_class nic_class(const struct nic *nic)
{
    return strncmp(nic->driver, "cxi", 3) == 0 ? FABRIC_SLINGSHOT : FABRIC_ETHERNET;
}

static double stated_mbps(const struct conf *conf, const struct rail *rail)
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
    double mbps = conf ? stated_mbps(conf, rail) : -1;

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

/* Every way out of the node: the RDMA ports of a kind that we know, and the interfaces that share
 * none. Returns how many; rails has room for all. */
static size_t all_rails(const struct inventory *inventory, const struct conf *conf,
                        struct rail *rails)
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

static const struct nic *find_management(const struct inventory *inventory, const struct conf *conf)
{
    const struct nic *best = NULL;

    if (conf && conf->management_interface[0])
        return inventory_nic(inventory, conf->management_interface);
    for (size_t i = 0; i < inventory->nic_count; i++) {
        const struct nic *nic = &inventory->nics[i];

        if (nic->has_default_route &&
            (!best || nic->default_route_metric < best->default_route_metric))
            best = nic;
    }
    return best;
}

/* The management interface itself, a member of it when it is a bond or a bridge, or an RDMA port
 * that shares either. */
static bool is_management(const struct fabric *fabric, const struct rail *rail)
{
    return fabric->management && rail->nic &&
           (rail->nic == fabric->management ||
            strcmp(rail->nic->master, fabric->management->name) == 0);
}

static bool is_named(const struct hostlist *names, const struct rail *rail)
{
    return hostlist_contains(names, rail->name) ||
           (rail->nic && hostlist_contains(names, rail->nic->name)) ||
           (rail->port && hostlist_contains(names, rail->port->device));
}

/* What can carry a job's data where the configuration names nothing. BMCs and installers leave
 * Ethernet over USB behind. */
static bool is_candidate(const struct fabric *fabric, const struct rail *rail)
{
    if (is_management(fabric, rail))
        return false;
    return rail->port || (rail->nic->is_physical && strcmp(rail->nic->bus, "usb") != 0);
}

static bool is_virtual_function(const struct rail *rail)
{
    return rail->port ? rail->port->is_virtual_function : rail->nic->is_virtual_function;
}

/* The best class of the rails that are up; of all of them when none is. */
static enum fabric_class best_class(const struct rail *rails, size_t count)
{
    enum fabric_class up = FABRIC_NONE, any = FABRIC_NONE;

    for (size_t i = 0; i < count; i++) {
        if (rail_is_up(&rails[i]) && rails[i].class > up)
            up = rails[i].class;
        if (rails[i].class > any)
            any = rails[i].class;
    }
    return up ? up : any;
}

/* Moves the rails that keep() holds for to the front. Returns how many. */
static size_t filter(struct rail *rails, size_t count,
                     bool (*keep)(const struct rail *, const void *), const void *context)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (keep(&rails[i], context))
            rails[kept++] = rails[i];
    return kept;
}

static bool keep_named(const struct rail *rail, const void *names)
{
    return is_named(names, rail);
}

static bool keep_candidate(const struct rail *rail, const void *fabric)
{
    return is_candidate(fabric, rail);
}

static bool keep_class(const struct rail *rail, const void *class)
{
    return rail->class == *(const enum fabric_class *)class;
}

static bool keep_physical_function(const struct rail *rail, const void *unused)
{
    (void)unused;
    return !is_virtual_function(rail);
}

static bool keep_driver(const struct rail *rail, const void *driver)
{
    return strcmp(rail->nic->driver, driver) == 0;
}

/* Plain Ethernet has no mark of a fabric; unused ports on the board are there as well. Those of
 * the fastest interface's kind are the fabric. */
static size_t keep_fastest_kind(struct rail *rails, size_t count)
{
    const struct rail *fastest = NULL;
    char driver[INVENTORY_NAME];

    for (size_t i = 0; i < count; i++)
        if (!fastest || (rail_is_up(&rails[i]) > rail_is_up(fastest)) ||
            (rail_is_up(&rails[i]) == rail_is_up(fastest) &&
             rails[i].nominal_mbps > fastest->nominal_mbps))
            fastest = &rails[i];
    if (!fastest)
        return 0;
    strcpy(driver, fastest->nic->driver);
    return filter(rails, count, keep_driver, driver);
}

/* No host bridge between them. */
static bool is_beside(const struct rail *rail, const struct gpu *gpu)
{
    const struct location *place = rail->port ? &rail->port->location : &rail->nic->location;

    return affinity_between(place, &gpu->location) <= AFFINITY_PXB;
}

static bool keep_beside_gpu(const struct rail *rail, const void *context)
{
    const struct inventory *inventory = context;

    for (size_t i = 0; i < inventory->gpu_count; i++)
        if (is_beside(rail, &inventory->gpus[i]))
            return true;
    return false;
}

/* Where GPUs have their NICs beside them, the few further ports of the same class are those of the
 * storage network. That holds with one NIC or GPU missing too: three GPUs of four are enough, and
 * more ports beside GPUs than elsewhere. */
static bool have_own_rails(const struct inventory *inventory, const struct rail *rails,
                           size_t count)
{
    size_t served = 0, beside = 0;

    for (size_t i = 0; i < inventory->gpu_count; i++)
        for (size_t j = 0; j < count; j++)
            if (is_beside(&rails[j], &inventory->gpus[i])) {
                served++;
                break;
            }
    for (size_t i = 0; i < count; i++)
        beside += keep_beside_gpu(&rails[i], inventory);
    return served > 0 && 4 * served >= 3 * inventory->gpu_count && 2 * beside > count;
}

enum rule { RULE_NAMED, RULE_FOUND, RULE_BESIDE_GPUS, RULE_ONLY };

/* Chooses among what the node has, without a word from the configuration. */
static size_t choose_found(const struct inventory *inventory, const struct fabric *fabric,
                           struct rail *rails, size_t count, enum rule *rule)
{
    size_t all;
    enum fabric_class class;
    size_t physical_functions;

    count = filter(rails, count, keep_candidate, fabric);
    class = best_class(rails, count);
    count = filter(rails, count, keep_class, &class);
    for (size_t i = physical_functions = 0; i < count; i++)
        physical_functions += !is_virtual_function(&rails[i]);
    if (physical_functions > 0)
        count = filter(rails, count, keep_physical_function, NULL);
    if (class == FABRIC_ETHERNET)
        count = keep_fastest_kind(rails, count);
    all = count;
    if (have_own_rails(inventory, rails, count))
        count = filter(rails, count, keep_beside_gpu, inventory);
    *rule = count < all ? RULE_BESIDE_GPUS : RULE_FOUND;
    return count;
}

static int compare_rails(const void *a, const void *b)
{
    return sysfs_compare(((const struct rail *)a)->name, ((const struct rail *)b)->name);
}

/* "a b c" of the rails' names, cut with "..." where it gets long. */
static void join_names(const struct fabric *fabric, char *text, size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < fabric->rail_count; i++) {
        const char *name = fabric->rails[i].name;

        if (length + strlen(name) + 6 > size) {
            snprintf(text + length, size - length, " ...");
            return;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", length ? " " : "", name);
    }
}

static void explain_management(const struct fabric *fabric, const struct conf *conf, char *text,
                               size_t size)
{
    if (conf && conf->management_interface[0])
        snprintf(text, size, "; management is %s (conf)%s", conf->management_interface,
                 fabric->management ? "" : ", which is not on this node");
    else if (fabric->management)
        snprintf(text, size, "; management is %s (default route)", fabric->management->name);
    else
        snprintf(text, size, "; no default route, so none is management");
}

static void explain(const struct inventory *inventory, const struct conf *conf, enum rule rule,
                    struct fabric *fabric)
{
    char names[96], management[128];

    join_names(fabric, names, sizeof names);
    explain_management(fabric, conf, management, sizeof management);
    if (fabric->rail_count == 0 && rule == RULE_NAMED)
        snprintf(fabric->reason, sizeof fabric->reason,
                 "none of the FabricInterfaces of the configuration is on this node%s", management);
    else if (fabric->rail_count == 0)
        snprintf(fabric->reason, sizeof fabric->reason,
                 "no physical interface among %zu and no RDMA port%s", inventory->nic_count,
                 management);
    else if (rule == RULE_NAMED)
        snprintf(fabric->reason, sizeof fabric->reason, "%s: FabricInterfaces (conf)%s", names,
                 management);
    else if (rule == RULE_ONLY)
        snprintf(fabric->reason, sizeof fabric->reason,
                 "%s: management too, as the node has no other interface%s", names, management);
    else
        snprintf(fabric->reason, sizeof fabric->reason, "%s: %s, the best class found%s%s", names,
                 fabric_class_name(fabric->class),
                 rule == RULE_BESIDE_GPUS ? ", but for ports that are beside no GPU" : "",
                 management);
}

void fabric_choose(const struct inventory *inventory, const struct conf *conf,
                   struct fabric *fabric)
{
    size_t count = 0;
    enum rule rule = conf && conf->fabric_interfaces.count > 0 ? RULE_NAMED : RULE_FOUND;
    struct rail *rails;

    memset(fabric, 0, sizeof *fabric);
    fabric->management = find_management(inventory, conf);
    rails = calloc(INVENTORY_NICS + INVENTORY_RDMA, sizeof *rails);
    if (!rails) {
        snprintf(fabric->reason, sizeof fabric->reason, "out of memory");
        return;
    }
    count = all_rails(inventory, conf, rails);
    if (rule == RULE_NAMED)
        count = filter(rails, count, keep_named, &conf->fabric_interfaces);
    else
        count = choose_found(inventory, fabric, rails, count, &rule);
    if (rule != RULE_NAMED && count == 0 && fabric->management) {
        rule = RULE_ONLY;
        count = all_rails(inventory, conf, rails);
        for (size_t i = 0; i < count; i++)
            if (rails[i].nic == fabric->management)
                fabric->rails[fabric->rail_count++] = rails[i];
    } else {
        qsort(rails, count, sizeof *rails, compare_rails);
        fabric->rail_count = count < INVENTORY_NICS ? count : INVENTORY_NICS;
        memcpy(fabric->rails, rails, fabric->rail_count * sizeof *rails);
    }
    free(rails);
    fabric->class = best_class(fabric->rails, fabric->rail_count);
    explain(inventory, conf, rule, fabric);
}
