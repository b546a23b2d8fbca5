/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/subnet/subnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_IBNETDISC

#include <infiniband/ibnetdisc.h>
#include <infiniband/umad.h>

#include "lib/base/text.h"
#include "lib/constants/checks_constants.h"

/* How many devices in a row may not return their error counters before no more are queried: a
 * subnet of thousands of ports must not take minutes. */
enum { SILENT_MAX = 20 };

enum { CAS_MAX = 64 };

static int lanes_of(uint32_t mask)
{
    /* PortInfo.LinkWidth*: 1 is 1x, 2 4x, 4 8x, 8 12x, 16 2x */
    static const int lanes[] = {1, 4, 8, 12, 2};
    int best = 0;

    for (int i = 0; i < 5; i++)
        if (mask & (1u << i) && lanes[i] > best)
            best = lanes[i];
    return best;
}

static struct subnet_rate rate_of(ibnd_port_t *port, enum subnet_speed which, enum MAD_FIELDS width,
                                  enum MAD_FIELDS speed, enum MAD_FIELDS extended,
                                  enum MAD_FIELDS fdr10)
{
    int best = subnet_speed_of_info(port->info, which);

    if (best == 0)
        best = subnet_speed_of_masks(mad_get_field(port->info, 0, speed),
                                     mad_get_field(port->info, 0, extended),
                                     mad_get_field(port->ext_info, 0, fdr10));
    return (struct subnet_rate){lanes_of(mad_get_field(port->info, 0, width)), best};
}

static void copy_port(ibnd_port_t *from, struct subnet_port *port)
{
    port->active =
        rate_of(from, SUBNET_ACTIVE, IB_PORT_LINK_WIDTH_ACTIVE_F, IB_PORT_LINK_SPEED_ACTIVE_F,
                IB_PORT_LINK_SPEED_EXT_ACTIVE_F, IB_MLNX_EXT_PORT_LINK_SPEED_ACTIVE_F);
    port->enabled =
        rate_of(from, SUBNET_ENABLED, IB_PORT_LINK_WIDTH_ENABLED_F, IB_PORT_LINK_SPEED_ENABLED_F,
                IB_PORT_LINK_SPEED_EXT_ENABLED_F, IB_MLNX_EXT_PORT_LINK_SPEED_ENABLED_F);
    port->supported = rate_of(from, SUBNET_SUPPORTED, IB_PORT_LINK_WIDTH_SUPPORTED_F,
                              IB_PORT_LINK_SPEED_SUPPORTED_F, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F,
                              IB_MLNX_EXT_PORT_LINK_SPEED_SUPPORTED_F);
}

static int compare_guids(const void *a, const void *b)
{
    uint64_t one = (*(ibnd_node_t *const *)a)->guid, other = (*(ibnd_node_t *const *)b)->guid;

    return (one > other) - (one < other);
}

/* A discovered fabric: nodes sorted by GUID, and the index of each in the subnet. */
struct copy {
    ibnd_node_t **nodes;
    int *places;
    size_t count;
};

static int place_of(const struct copy *copy, ibnd_node_t *node)
{
    ibnd_node_t **found =
        bsearch(&node, copy->nodes, copy->count, sizeof *copy->nodes, compare_guids);

    return found ? copy->places[found - copy->nodes] : -1;
}

/* Returns the device of the GUID if another port of this host has found it, or -1. */
static int known_device(const struct subnet *subnet, uint64_t guid)
{
    for (size_t i = 0; i < subnet->device_count; i++)
        if (subnet->devices[i].guid == guid)
            return (int)i;
    return -1;
}

static int add_nodes(struct subnet *subnet, struct copy *copy, struct error *err)
{
    /* only adapters with two ports can be in two subnets: look them up in the earlier ones */
    bool has_others = subnet->device_count > 0;

    for (size_t i = 0; i < copy->count; i++) {
        ibnd_node_t *node = copy->nodes[i];
        int known = has_others && node->type == IB_NODE_CA && node->numports > 1
                        ? known_device(subnet, node->guid)
                        : -1;
        enum subnet_kind kind = node->type == IB_NODE_SWITCH ? SUBNET_SWITCH
                                : node->type == IB_NODE_CA   ? SUBNET_ADAPTER
                                                             : SUBNET_ROUTER;
        copy->places[i] = known >= 0 ? known
                                     : subnet_add(subnet, kind, node->guid, NULL, node->nodedesc,
                                                  node->numports, err);
        if (copy->places[i] < 0)
            return -1;
        subnet->devices[copy->places[i]].model = (int)mad_get_field(node->info, 0, IB_NODE_DEVID_F);
    }
    return 0;
}

static int add_links(struct subnet *subnet, const struct copy *copy, struct error *err)
{
    for (size_t i = 0; i < copy->count; i++)
        for (int k = 1; k <= copy->nodes[i]->numports; k++) {
            ibnd_port_t *port = copy->nodes[i]->ports[k];
            struct subnet_port *to = subnet_port(subnet, copy->places[i], k), *peer;
            int place;

            if (!port || !to)
                continue;
            copy_port(port, to);
            place = port->remoteport ? place_of(copy, port->remoteport->node) : -1;
            peer = place < 0 ? NULL : subnet_port(subnet, place, port->remoteport->portnum);
            if (peer && subnet_link(subnet, to, peer, err) != 0)
                return -1;
        }
    return 0;
}

/* Returns whether the port returned its counters. */
static bool read_counters(struct ibmad_port *from, int lid, struct subnet_port *port)
{
    static const enum MAD_FIELDS fields[SUBNET_COUNTERS] = {
        [SUBNET_SYMBOL_ERRORS] = IB_PC_ERR_SYM_F,
        [SUBNET_LINK_RECOVERIES] = IB_PC_LINK_RECOVERS_F,
        [SUBNET_LINK_DOWNED] = IB_PC_LINK_DOWNED_F,
        [SUBNET_RECEIVE_ERRORS] = IB_PC_ERR_RCV_F,
        [SUBNET_INTEGRITY_ERRORS] = IB_PC_ERR_LOCALINTEG_F,
        [SUBNET_BUFFER_OVERRUNS] = IB_PC_ERR_EXCESS_OVR_F,
        [SUBNET_DISCARDS] = IB_PC_XMT_DISCARDS_F,
    };
    uint8_t data[1024] = {0};
    ib_portid_t to = {0};

    if (lid <= 0 || ib_portid_set(&to, lid, 0, 0) != 0)
        return false;
    if (!pma_query_via(data, &to, port->number, SUBNET_COUNTERS_MS, IB_GSI_PORT_COUNTERS, from))
        return false;
    for (int i = 0; i < SUBNET_COUNTERS; i++) {
        uint32_t value = 0;

        mad_decode_field(data, fields[i], &value);
        port->counters[i] = value;
    }
    return true;
}

static void add_counters(struct subnet *subnet, const struct copy *copy, char *ca, int port)
{
    int classes[] = {IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_PERFORMANCE_CLASS}, silent = 0;
    struct ibmad_port *from = mad_rpc_open_port(ca, port, classes, 3);

    if (!from)
        return;
    mad_rpc_set_retries(from, 2);
    for (size_t i = 0; i < copy->count; i++)
        for (int k = 1; k <= copy->nodes[i]->numports && silent < SILENT_MAX; k++) {
            ibnd_node_t *node = copy->nodes[i];
            struct subnet_port *to = subnet_port(subnet, copy->places[i], k);

            if (!node->ports[k] || !to || to->peer < 0)
                continue;
            if (read_counters(
                    from, node->type == IB_NODE_SWITCH ? node->smalid : node->ports[k]->base_lid,
                    to))
                silent = 0;
            else
                silent++;
        }
    mad_rpc_close_port(from);
}

static int copy_fabric(struct subnet *subnet, ibnd_fabric_t *fabric, char *ca, int port,
                       struct error *err)
{
    struct copy copy = {0};
    size_t count = 0;
    int rv;

    for (ibnd_node_t *node = fabric->nodes; node; node = node->next)
        count++;
    copy.nodes = calloc(count + 1, sizeof *copy.nodes);
    copy.places = calloc(count + 1, sizeof *copy.places);
    if (copy.nodes && copy.places) {
        for (ibnd_node_t *node = fabric->nodes; node; node = node->next)
            copy.nodes[copy.count++] = node;
        qsort(copy.nodes, count, sizeof *copy.nodes, compare_guids);
        rv = add_nodes(subnet, &copy, err);
        if (rv == 0)
            rv = add_links(subnet, &copy, err);
        if (rv == 0)
            add_counters(subnet, &copy, ca, port);
    } else {
        rv = error_set(err, "out of memory for the subnet");
    }
    free(copy.nodes);
    free(copy.places);
    return rv;
}

/* Whether the cable of the port was already discovered through another port of this host. */
static bool is_seen(const struct subnet *subnet, uint64_t guid, int number)
{
    int device = known_device(subnet, guid);
    const struct subnet_port *port = device < 0 ? NULL : subnet_port(subnet, device, number);

    return port && port->peer >= 0;
}

static int discover_port(struct subnet *subnet, char *ca, int port, struct error *err)
{
    struct ibnd_config config = {.flags = IBND_CONFIG_MLX_EPI};
    ibnd_fabric_t *fabric = ibnd_discover_fabric(ca, port, NULL, &config);
    int rv;

    if (!fabric)
        return error_set(err,
                         "%s:%d: cannot discover the subnet: needs root and /dev/infiniband/umad*",
                         ca, port);
    text_join(subnet->source, sizeof subnet->source, ", ", "%s:%d", ca, port);
    rv = copy_fabric(subnet, fabric, ca, port, err);
    ibnd_destroy_fabric(fabric);
    return rv;
}

/* Whether the port is an InfiniBand port with a link, and the wanted one. ibsim has link layer
 * "IB". */
static bool is_wanted(const umad_port_t *port, const char *ca, const char *wanted)
{
    char name[UMAD_CA_NAME_LEN + 16];

    snprintf(name, sizeof name, "%s:%d", ca, port->portnum);
    return (!wanted || strcmp(wanted, name) == 0) && port->phys_state == 5 &&
           strncmp(port->link_layer, "Ethernet", 8) != 0;
}

static int discover_adapter(struct subnet *subnet, char *name, const char *wanted, int *tried,
                            struct error *err)
{
    umad_ca_t ca;
    int rv = 0;

    if (umad_get_ca(name, &ca) < 0)
        return 0;
    for (int i = 1; rv == 0 && i <= ca.numports && i < UMAD_CA_MAX_PORTS; i++) {
        umad_port_t *port = ca.ports[i];

        if (!port || !is_wanted(port, name, wanted))
            continue;
        ++*tried;
        if (!is_seen(subnet, be64toh(ca.node_guid), i))
            rv = discover_port(subnet, name, i, err);
    }
    umad_release_ca(&ca);
    return rv;
}

int subnet_discover(const char *port, struct subnet *subnet, struct error *err)
{
    char names[CAS_MAX][UMAD_CA_NAME_LEN];
    int count, tried = 0, rv = 0;

    if (umad_init() < 0) {
        error_set(err, "this host has no InfiniBand adapter");
        return 1;
    }
    count = umad_get_cas_names(names, CAS_MAX);
    for (int i = 0; rv == 0 && i < count; i++)
        rv = discover_adapter(subnet, names[i], port, &tried, err);
    if (rv == 0 && tried == 0) {
        if (port)
            error_set(err, "%s is not an InfiniBand port of this host with a link", port);
        else
            error_set(err, "this host has no InfiniBand port with a link");
        rv = 1;
    }
    umad_done();
    return rv;
}

#else

int subnet_discover(const char *port, struct subnet *subnet, struct error *err)
{
    (void)port;
    (void)subnet;
    error_set(err, "this muster was built without libibnetdisc (Debian: libibnetdisc-dev), so it "
                   "cannot query a subnet; use --from=FILE with output of ibnetdiscover");
    return 1;
}

#endif
