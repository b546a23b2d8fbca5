/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/addresses_live.h"
#include "lib/base/rtnetlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/constants/node_constants.h"

enum { MESSAGES_MAX = 200000 };

static struct nic *nic_of_index(struct inventory *inventory, int index)
{
    for (size_t i = 0; index > 0 && i < inventory->nic_count; i++)
        if (inventory->nics[i].index == index)
            return &inventory->nics[i];
    return NULL;
}

static uint32_t number_of(const struct rtattr *attribute)
{
    uint32_t number = 0;

    if (netlink_size(attribute) >= sizeof number)
        memcpy(&number, netlink_value(attribute), sizeof number);
    return number;
}

/* ---------------------------------------------------------------- addresses */

void addresses_apply_address(const struct nlmsghdr *message, size_t length,
                             struct inventory *inventory)
{
    const struct ifaddrmsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *attribute, *address = NULL;
    char text[INET6_ADDRSTRLEN];
    const char *at, *end;
    uint32_t flags;
    struct nic *nic;
    size_t size;

    if (!netlink_is_message(message, length, RTM_NEWADDR, sizeof *info))
        return;
    nic = nic_of_index(inventory, (int)info->ifa_index);
    size = info->ifa_family == AF_INET ? 4 : info->ifa_family == AF_INET6 ? 16 : SIZE_MAX;
    flags = info->ifa_flags;
    at = netlink_attributes(message, sizeof *info, &end);
    while (nic && (attribute = netlink_next_attribute(&at, end)) != NULL) {
        /* on a link with a peer, IFA_LOCAL is the interface's own address */
        if (netlink_size(attribute) == size &&
            (attribute->rta_type == IFA_LOCAL || (attribute->rta_type == IFA_ADDRESS && !address)))
            address = attribute;
        else if (attribute->rta_type == IFA_FLAGS)
            flags = number_of(attribute);
    }
    if (!nic || !address || !inet_ntop(info->ifa_family, netlink_value(address), text, sizeof text))
        return;
    if (flags & IFA_F_DADFAILED)
        snprintf(nic->duplicate_address, sizeof nic->duplicate_address, "%s", text);
    else if (info->ifa_family == AF_INET || info->ifa_scope != RT_SCOPE_LINK)
        nic_add_address(nic, text, info->ifa_prefixlen);
}

/* ---------------------------------------------------------------- routes */

static bool is_in_vrf(const struct inventory *inventory, const struct nic *nic)
{
    const struct nic *master = nic->master[0] ? inventory_nic(inventory, nic->master) : NULL;

    return master && strcmp(master->driver, "vrf") == 0;
}

/* Ignores tables other than the main table or a VRF's. They belong to policy routing: there a rail
 * has a default route for packets from its own address, which does not make it the node's default
 * interface. */
static void note_route(struct default_routes *routes, uint32_t table, int index, uint32_t metric)
{
    struct nic *nic = nic_of_index(routes->inventory, index);

    if (!nic || (routes->wants_vrf ? table == RT_TABLE_MAIN || !is_in_vrf(routes->inventory, nic)
                                   : table != RT_TABLE_MAIN))
        return;
    nic_add_default_route(nic, (long)metric);
    routes->count++;
}

static void note_hops(struct default_routes *routes, uint32_t table, uint32_t metric,
                      const struct rtattr *attribute)
{
    const char *at = netlink_value(attribute), *end = at + netlink_size(attribute);
    struct rtnexthop hop;

    while (end - at >= (ptrdiff_t)sizeof hop) {
        memcpy(&hop, at, sizeof hop);
        if (hop.rtnh_len < sizeof hop || hop.rtnh_len > end - at)
            return;
        if (!(hop.rtnh_flags & RTNH_F_DEAD))
            note_route(routes, table, hop.rtnh_ifindex, metric);
        if (NLMSG_ALIGN((size_t)hop.rtnh_len) >= (size_t)(end - at))
            return;
        at += NLMSG_ALIGN((size_t)hop.rtnh_len);
    }
}

void addresses_apply_route(const struct nlmsghdr *message, size_t length,
                           struct default_routes *routes)
{
    const struct rtmsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *attribute, *hops = NULL;
    const char *at, *end;
    uint32_t table, metric = 0;
    int index = 0;

    if (!netlink_is_message(message, length, RTM_NEWROUTE, sizeof *info) ||
        info->rtm_dst_len != 0 || info->rtm_type != RTN_UNICAST || info->rtm_flags & RTNH_F_DEAD)
        return;
    table = info->rtm_table;
    at = netlink_attributes(message, sizeof *info, &end);
    while ((attribute = netlink_next_attribute(&at, end)) != NULL) {
        if (attribute->rta_type == RTA_OIF)
            index = (int)number_of(attribute);
        else if (attribute->rta_type == RTA_PRIORITY)
            metric = number_of(attribute);
        else if (attribute->rta_type == RTA_TABLE)
            table = number_of(attribute);
        else if (attribute->rta_type == RTA_MULTIPATH)
            hops = attribute;
    }
    if (hops)
        note_hops(routes, table, metric, hops);
    else
        note_route(routes, table, index, metric);
}

/* ---------------------------------------------------------------- the kernel's tables */

struct dump {
    struct inventory *inventory;
    struct default_routes *routes; /* NULL: addresses are read */
    unsigned seen;
};

static int apply_message(const struct nlmsghdr *message, size_t length, void *context)
{
    struct dump *dump = context;

    if (dump->routes)
        addresses_apply_route(message, length, dump->routes);
    else
        addresses_apply_address(message, length, dump->inventory);
    return ++dump->seen >= MESSAGES_MAX;
}

static int read_table(struct netlink *netlink, uint16_t type, uint8_t family, struct dump *dump)
{
    struct {
        struct nlmsghdr header;
        union {
            struct ifaddrmsg address;
            struct rtmsg route;
        } of;
    } request = {.header = {.nlmsg_type = type,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                            .nlmsg_seq = ++netlink->sequence}};

    if (type == RTM_GETADDR) {
        request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.of.address);
        request.of.address.ifa_family = family;
    } else {
        request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.of.route);
        request.of.route.rtm_family = family;
    }
    return netlink_query(netlink, &request, request.header.nlmsg_len, apply_message, dump, NULL);
}

static void clear_addresses(struct inventory *inventory)
{
    for (size_t i = 0; i < inventory->nic_count; i++) {
        struct nic *nic = &inventory->nics[i];

        nic->address_count = 0;
        nic->duplicate_address[0] = '\0';
        nic->has_default_route = false;
        nic->default_route_metric = -1;
    }
}

/* An IPv6 default route counts if IPv4 has none, a VRF's if the main table has none. */
static int read_once(struct netlink *netlink, void *context)
{
    struct inventory *inventory = context;
    struct default_routes routes = {.inventory = inventory};
    struct dump dump = {.inventory = inventory};
    int result = 0;

    clear_addresses(inventory);
    if (read_table(netlink, RTM_GETADDR, AF_INET, &dump) != 0 ||
        read_table(netlink, RTM_GETADDR, AF_INET6, &dump) != 0)
        return -1;
    dump.routes = &routes;
    for (int turn = 0; turn < 4 && routes.count == 0 && result == 0; turn++) {
        routes.wants_vrf = turn >= 2;
        result = read_table(netlink, RTM_GETROUTE, turn % 2 ? AF_INET6 : AF_INET, &dump);
    }
    return result;
}

int addresses_read_live(struct inventory *inventory)
{
    struct netlink netlink;
    int result, cause;

    if (netlink_open(&netlink, NULL) != 0)
        return -1;
    netlink.wait_ms = LIVE_WAIT_MS;
    result = netlink_read_stable(&netlink, read_once, inventory);
    cause = errno;
    netlink_close(&netlink);
    errno = cause;
    return result;
}
