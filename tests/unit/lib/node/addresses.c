/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/rtnetlink.h"
#include "lib/node/addresses_live.h"
#include "tests/unit/interrupted_dump.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct inventory node;

static struct nic *nic_add(const char *name, int index, const char *driver, const char *master)
{
    struct nic *nic = &node.nics[node.nic_count++];

    snprintf(nic->name, sizeof nic->name, "%s", name);
    snprintf(nic->driver, sizeof nic->driver, "%s", driver);
    snprintf(nic->master, sizeof nic->master, "%s", master);
    nic->index = index;
    nic->default_route_metric = -1;
    return nic;
}

/* ---------------------------------------------------------------- messages */

/* Writes a message RTM_NEWADDR; peer "": without a peer. Returns its length. */
static size_t address_message(char *message, int index, const char *local, const char *peer,
                              int prefix_length, int scope, uint32_t flags)
{
    struct nlmsghdr *header = (struct nlmsghdr *)message;
    struct ifaddrmsg *info = (struct ifaddrmsg *)(message + NLMSG_HDRLEN);
    int family = strchr(local, ':') ? AF_INET6 : AF_INET;
    size_t size = family == AF_INET6 ? 16 : 4;
    unsigned char binary[16];

    memset(message, 0, 256);
    header->nlmsg_type = RTM_NEWADDR;
    header->nlmsg_len = NLMSG_LENGTH(sizeof *info);
    *info = (struct ifaddrmsg){.ifa_family = (unsigned char)family,
                               .ifa_prefixlen = (unsigned char)prefix_length,
                               .ifa_scope = (unsigned char)scope,
                               .ifa_index = (unsigned)index};
    inet_pton(family, *peer ? peer : local, binary);
    netlink_put_attribute(message, IFA_ADDRESS, binary, size);
    inet_pton(family, local, binary);
    if (*peer || family == AF_INET)
        netlink_put_attribute(message, IFA_LOCAL, binary, size);
    netlink_put_attribute(message, IFA_LABEL, "eth1:1", 7);
    netlink_put_attribute(message, IFA_FLAGS, &flags, sizeof flags);
    return header->nlmsg_len;
}

static void apply_address(int index, const char *local, const char *peer, int prefix_length,
                          int scope, uint32_t flags)
{
    _Alignas(struct nlmsghdr) char message[256];
    size_t length = address_message(message, index, local, peer, prefix_length, scope, flags);

    addresses_apply_address((void *)message, length, &node);
}

static void reads_addresses(void)
{
    struct nic *nic;

    memset(&node, 0, sizeof node);
    nic = nic_add("eth1", 3, "mlx5_core", "");
    apply_address(3, "10.1.0.3", "", 32, RT_SCOPE_UNIVERSE, IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE);
    apply_address(3, "10.2.0.3", "10.2.0.9", 32, RT_SCOPE_UNIVERSE, IFA_F_PERMANENT);
    apply_address(3, "fd00::3", "", 128, RT_SCOPE_UNIVERSE, IFA_F_PERMANENT);
    apply_address(3, "fe80::3", "", 64, RT_SCOPE_LINK, IFA_F_PERMANENT);
    apply_address(3, "fd00::4", "", 64, RT_SCOPE_UNIVERSE, IFA_F_DADFAILED | IFA_F_TENTATIVE);
    apply_address(4, "10.1.0.4", "", 24, RT_SCOPE_UNIVERSE, IFA_F_PERMANENT);
    apply_address(0, "10.1.0.5", "", 24, RT_SCOPE_UNIVERSE, IFA_F_PERMANENT);
    is_int(nic->address_count, 3,
           "the interface gets its addresses, no link-local address and none of another interface");
    is_str(nic->addresses[0], "10.1.0.3/32", "an address without a route");
    is_str(nic->addresses[1], "10.2.0.3/32", "an address with a peer: the local one");
    is_str(nic->addresses[2], "fd00::3/128", "an IPv6 address");
    is_str(nic->duplicate_address, "fd00::4", "an address that another host uses too");
    for (int i = 0; i < 20; i++)
        apply_address(3, "10.1.0.3", "", 32, RT_SCOPE_UNIVERSE, 0);
    is_int(nic->address_count, INVENTORY_ADDRESSES, "no more addresses than there is room for");
}

/* Writes a message RTM_NEWROUTE, with two next hops if second is not 0. Returns its length. */
static size_t route_message(char *message, uint32_t table, int index, int second, uint32_t metric,
                            int prefix_length)
{
    struct nlmsghdr *header = (struct nlmsghdr *)message;
    struct rtmsg *info = (struct rtmsg *)(message + NLMSG_HDRLEN);
    struct rtnexthop hops[2] = {{.rtnh_len = sizeof hops[0], .rtnh_ifindex = index},
                                {.rtnh_len = sizeof hops[0], .rtnh_ifindex = second}};

    memset(message, 0, 256);
    header->nlmsg_type = RTM_NEWROUTE;
    header->nlmsg_len = NLMSG_LENGTH(sizeof *info);
    *info = (struct rtmsg){.rtm_family = AF_INET,
                           .rtm_dst_len = (unsigned char)prefix_length,
                           .rtm_table = table < 256 ? (unsigned char)table : RT_TABLE_COMPAT,
                           .rtm_type = RTN_UNICAST};
    netlink_put_attribute(message, RTA_TABLE, &table, sizeof table);
    netlink_put_attribute(message, RTA_PRIORITY, &metric, sizeof metric);
    if (second)
        netlink_put_attribute(message, RTA_MULTIPATH, hops, sizeof hops);
    else
        netlink_put_attribute(message, RTA_OIF, &index, sizeof index);
    return header->nlmsg_len;
}

static void apply_route(struct default_routes *routes, uint32_t table, int index, int second,
                        uint32_t metric, int prefix_length)
{
    _Alignas(struct nlmsghdr) char message[256];
    size_t length = route_message(message, table, index, second, metric, prefix_length);

    addresses_apply_route((void *)message, length, routes);
}

static void reads_routes(void)
{
    struct default_routes routes = {.inventory = &node};
    struct nic *eth0, *eth1, *eth2;

    memset(&node, 0, sizeof node);
    eth0 = nic_add("eth0", 2, "igb", "");
    eth1 = nic_add("eth1", 3, "mlx5_core", "mgmt");
    eth2 = nic_add("eth2", 4, "mlx5_core", "");
    nic_add("mgmt", 5, "vrf", "");
    apply_route(&routes, 1001, 4, 0, 0, 0);
    apply_route(&routes, 1002, 3, 0, 10, 0);
    apply_route(&routes, RT_TABLE_MAIN, 4, 0, 0, 24);
    is_int(routes.count, 0, "other tables and other routes are not the default route");
    routes.wants_vrf = true;
    apply_route(&routes, 1001, 4, 0, 0, 0);
    apply_route(&routes, 1002, 3, 0, 10, 0);
    ok(routes.count == 1 && eth1->has_default_route && eth1->default_route_metric == 10,
       "the default route of a VRF is found");
    ok(!eth2->has_default_route, "... but not that of a table for a rule");
    routes = (struct default_routes){.inventory = &node};
    apply_route(&routes, RT_TABLE_MAIN, 2, 4, 100, 0);
    apply_route(&routes, RT_TABLE_MAIN, 2, 0, 50, 0);
    ok(eth0->has_default_route && eth0->default_route_metric == 50,
       "the route with the best metric counts");
    ok(eth2->has_default_route && eth2->default_route_metric == 100,
       "... each of several next hops counts");
}

static void reads_no_other_messages(void)
{
    _Alignas(struct nlmsghdr) char whole[2][256];
    size_t lengths[2];
    unsigned seed = 1;

    lengths[0] = address_message(whole[0], 3, "fd00::3", "fd00::4", 128, 0, 0);
    lengths[1] = route_message(whole[1], RT_TABLE_MAIN, 3, 4, 5, 0);
    memset(&node, 0, sizeof node);
    nic_add("eth1", 3, "mlx5_core", "");
    for (int kind = 0; kind < 2; kind++) {
        for (int round = 0; round < 20000; round++) {
            size_t length = round < (int)lengths[kind] ? (size_t)round : lengths[kind];
            struct default_routes routes = {.inventory = &node};
            /* in its own buffer, so that AddressSanitizer detects a read past the end */
            char *bad = malloc(length + 1);

            memcpy(bad, whole[kind], length);
            for (int i = 0; i < 3 && length == lengths[kind]; i++) {
                seed = seed * 1103515245 + 12345;
                bad[seed / 65536 % length] = (char)(seed >> 8);
            }
            node.nics[0].address_count = 0;
            if (length >= sizeof(struct nlmsghdr)) {
                addresses_apply_address((void *)bad, length, &node);
                addresses_apply_route((void *)bad, length, &routes);
            }
            if (length < lengths[kind] && (node.nics[0].address_count > 0 || routes.count > 0))
                ok(0, "a message cut off after %zu bytes is read", length);
            free(bad);
        }
    }
    ok(1, "messages that are cut off or changed do no harm");
}

/* ---------------------------------------------------------------- this kernel */

static int run_shell(const char *command)
{
    return system(command); /* NOLINT: a test's own words */
}

static struct nic *nic_live(const char *name)
{
    return nic_add(name, (int)if_nametoindex(name), "veth", "");
}

static void reads_this_kernel(void)
{
    struct nic *eth0, *eth1, *eth2;

    if (geteuid() != 0 || unshare(CLONE_NEWNET) != 0 ||
        run_shell(
            "ip link set lo up && ip link add eth0 type veth peer name p0 && "
            "ip link add eth1 type veth peer name p1 && ip link add eth2 type veth peer name p2 && "
            "for i in 0 1 2; do ip link set p$i up; ip link set eth$i up; done") != 0) {
        tap_skip("no network namespace of its own");
        return;
    }
    memset(&node, 0, sizeof node);
    eth0 = nic_live("eth0");
    eth1 = nic_live("eth1");
    eth2 = nic_live("eth2");
    is_int(addresses_read_live(&node), 0, "this kernel's addresses are read");
    is_int(eth1->address_count, 0, "... without an address");
    changes = LIVE_TRIES - 1;
    is_int(addresses_read_live(&node), 0, "... again, if they change meanwhile");
    changes = LIVE_TRIES;
    is_int(addresses_read_live(&node), -1, "if they always change they are not known");
    changes = 0;
    is_int(run_shell("ip addr add 10.0.0.1/24 dev eth0 && ip route add default via 10.0.0.254 && "
                     "ip addr add 10.1.0.1/32 dev eth1 && "
                     "ip addr add 10.1.1.1/24 dev eth1 noprefixroute label eth1:1 && "
                     "ip rule add from 10.1.1.1 lookup 101 && "
                     "ip route add 10.1.1.0/24 dev eth1 table 101 && "
                     "ip route add default via 10.1.1.254 dev eth1 table 101 && "
                     "ip -6 addr add fd00::1/64 dev eth2 nodad"),
           0, "addresses of all kinds are added");
    is_int(addresses_read_live(&node), 0, "... are read");
    is_str(eth1->addresses[0], "10.1.0.1/32", "... a /32 address");
    is_str(eth1->addresses[1], "10.1.1.1/24",
           "... an address of an alias with its own routing table");
    is_int(eth2->address_count, 1, "... a single IPv6 address");
    is_str(eth2->addresses[0], "fd00::1/64", "... with its prefix length");
    ok(eth0->has_default_route && !eth1->has_default_route,
       "... the default route is that of the main table");
    is_int(run_shell("ip route del default; ip -6 route add default via fd00::9 dev eth2"), 0,
           "the only default route is an IPv6 one");
    is_int(addresses_read_live(&node), 0, "... the addresses are read again");
    ok(!eth0->has_default_route && eth2->has_default_route,
       "... and the IPv6 default route counts");
}

/* ---------------------------------------------------------------- recorded trees */

static bool is_known(const char *root, const char *name)
{
    struct inventory *inventory = inventory_read(root, NULL);
    const struct nic *nic = inventory ? inventory_nic(inventory, name) : NULL;
    bool result = nic && nic->has_known_addresses;

    inventory_free(inventory);
    return result;
}

static void reads_recorded(void)
{
    char *root = tree_unpack("lab-node"), path[512];

    ok(is_known(root, "eth1"), "the addresses of a recorded node are known");
    tree_put(root, "proc/net/fib_trie", "");
    ok(is_known(root, "eth1"), "... also if it has none");
    tree_put(root, "proc/net/fib_trie", "Local:\n     |-- 10.9.9.9\n        /32 host LOCAL\n");
    ok(!is_known(root, "eth1"), "an address outside all networks may belong to any interface");
    snprintf(path, sizeof path, "%s/proc/net/fib_trie", root);
    unlink(path);
    ok(!is_known(root, "eth1"), "without the file no addresses are known");
    tree_remove(root);
}

int main(void)
{
    reads_addresses();
    reads_routes();
    reads_no_other_messages();
    reads_recorded();
    reads_this_kernel();
    return tap_done();
}
