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

/* ---------------------------------------------------------------- addresses */

void addresses_apply_address(const struct nlmsghdr *message, size_t length,
                             struct inventory *inventory)
{
    const struct ifaddrmsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *address;
    char text[INET6_ADDRSTRLEN];
    struct nic *nic;

    if (!netlink_is_message(message, length, RTM_NEWADDR, sizeof *info))
        return;
    nic = nic_of_index(inventory, (int)info->ifa_index);
    address = netlink_own_address(message);
    if (!nic || !address || !inet_ntop(info->ifa_family, netlink_value(address), text, sizeof text))
        return;
    if (netlink_number(message, sizeof *info, IFA_FLAGS, info->ifa_flags) & IFA_F_DADFAILED)
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
static void note_route(struct default_routes *routes, long table, int index, long metric)
{
    struct nic *nic = nic_of_index(routes->inventory, index);

    if (!nic || (routes->wants_vrf ? table == RT_TABLE_MAIN || !is_in_vrf(routes->inventory, nic)
                                   : table != RT_TABLE_MAIN))
        return;
    nic_add_default_route(nic, metric);
    routes->count++;
}

static void note_hops(struct default_routes *routes, long table, long metric,
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
    const struct rtattr *hops;
    long table, metric;

    if (!netlink_is_message(message, length, RTM_NEWROUTE, sizeof *info) ||
        info->rtm_dst_len != 0 || info->rtm_type != RTN_UNICAST || info->rtm_flags & RTNH_F_DEAD)
        return;
    table = netlink_number(message, sizeof *info, RTA_TABLE, info->rtm_table);
    metric = netlink_number(message, sizeof *info, RTA_PRIORITY, 0);
    hops = netlink_attribute(message, sizeof *info, RTA_MULTIPATH);
    if (hops)
        note_hops(routes, table, metric, hops);
    else
        note_route(routes, table, (int)netlink_number(message, sizeof *info, RTA_OIF, 0), metric);
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
    if (netlink_dump(netlink, RTM_GETADDR, AF_INET, apply_message, &dump, NULL) != 0 ||
        netlink_dump(netlink, RTM_GETADDR, AF_INET6, apply_message, &dump, NULL) != 0)
        return -1;
    dump.routes = &routes;
    for (int turn = 0; turn < 4 && routes.count == 0 && result == 0; turn++) {
        routes.wants_vrf = turn >= 2;
        result = netlink_dump(netlink, RTM_GETROUTE, turn % 2 ? AF_INET6 : AF_INET, apply_message,
                              &dump, NULL);
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
