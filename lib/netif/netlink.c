/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netlink.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDRESSES_MAX = 100000 };

/* ---------------------------------------------------------------- links */

int netlink_parse_link(const void *message, size_t length, struct netlink_link *link)
{
    const struct ifinfomsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *name;
    size_t length_of_name;

    if (!netlink_is_message(message, length, RTM_NEWLINK, sizeof *info))
        return -1;
    name = netlink_attribute(message, sizeof *info, IFLA_IFNAME);
    length_of_name = name ? strnlen(netlink_value(name), netlink_size(name)) : 0;
    if (info->ifi_index <= 0 || length_of_name == 0 || length_of_name >= sizeof link->name)
        return -1;
    *link = (struct netlink_link){
        .index = info->ifi_index,
        .is_up = (info->ifi_flags & IFF_UP) != 0,
        .mtu_bytes = netlink_number(message, sizeof *info, IFLA_MTU, -1),
        .mtu_max_bytes = netlink_number(message, sizeof *info, IFLA_MAX_MTU, 0),
        .queue_packets = netlink_number(message, sizeof *info, IFLA_TXQLEN, -1)};
    memcpy(link->name, netlink_value(name), length_of_name);
    return link->mtu_bytes >= 0 && link->queue_packets >= 0 ? 0 : -1;
}

/* Begins a request about a link: writes its header, and returns its fixed part. */
static struct ifinfomsg *begin_link(char *message, size_t size, uint16_t type, uint16_t flags,
                                    uint32_t sequence)
{
    struct nlmsghdr *header = (struct nlmsghdr *)message;

    memset(message, 0, size);
    header->nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg));
    header->nlmsg_type = type;
    header->nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
    header->nlmsg_seq = sequence;
    return (struct ifinfomsg *)(message + NLMSG_HDRLEN);
}

size_t netlink_format_set(void *message, size_t size, uint32_t sequence, int index,
                          enum netif_setting setting, long value)
{
    uint32_t number = (uint32_t)value;
    struct ifinfomsg *info;

    if (size < 64)
        return 0;
    info = begin_link(message, size, RTM_SETLINK, NLM_F_ACK, sequence);
    info->ifi_index = index;
    if (setting == NETIF_UP) {
        info->ifi_change = IFF_UP;
        info->ifi_flags = value ? IFF_UP : 0;
    } else {
        netlink_put_attribute(message, setting == NETIF_MTU ? IFLA_MTU : IFLA_TXQLEN, &number,
                              sizeof number);
    }
    return ((struct nlmsghdr *)message)->nlmsg_len;
}

struct wanted_link {
    struct netlink_link *link;
    bool is_found;
};

static int parse_link(const struct nlmsghdr *message, size_t length, void *context)
{
    struct wanted_link *wanted = context;

    wanted->is_found = netlink_parse_link(message, length, wanted->link) == 0;
    return 1;
}

int netlink_get(struct netlink *netlink, const char *name, int index, struct netlink_link *link,
                struct error *err)
{
    _Alignas(struct nlmsghdr) char message[128];
    struct wanted_link wanted = {link, false};
    struct ifinfomsg *info;

    info = begin_link(message, sizeof message, RTM_GETLINK, 0, ++netlink->sequence);
    info->ifi_index = name ? 0 : index;
    if (name) {
        if (strlen(name) >= NETIF_NAME) {
            errno = ENODEV;
            return error_set(err, "%m");
        }
        netlink_put_attribute(message, IFLA_IFNAME, name, strlen(name) + 1);
    }
    if (netlink_query(netlink, message, ((struct nlmsghdr *)message)->nlmsg_len, parse_link,
                      &wanted, err) != 0)
        return -1;
    if (!wanted.is_found) {
        errno = EPROTO;
        return error_set(err, "the kernel's answer is not about a link");
    }
    return 0;
}

static int ignore_message(const struct nlmsghdr *message, size_t length, void *context)
{
    (void)message;
    (void)length;
    (void)context;
    return 0;
}

int netlink_set(struct netlink *netlink, int index, enum netif_setting setting, long value,
                struct error *err)
{
    _Alignas(struct nlmsghdr) char message[128];
    size_t length =
        netlink_format_set(message, sizeof message, ++netlink->sequence, index, setting, value);

    return netlink_query(netlink, message, length, ignore_message, NULL, err);
}

/* ---------------------------------------------------------------- addresses */

struct wanted_address {
    int index;
    const char *text;
    struct error *err;
    bool is_found;
    unsigned seen;
};

static int parse_address(const struct nlmsghdr *message, size_t length, void *context)
{
    struct wanted_address *wanted = context;
    const struct ifaddrmsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *address;

    if (++wanted->seen > ADDRESSES_MAX)
        return 1;
    if (!netlink_is_message(message, length, RTM_NEWADDR, sizeof *info) ||
        (int)info->ifa_index != wanted->index)
        return 0;
    address = netlink_own_address(message);
    if (address && netif_address_matches(wanted->text, info->ifa_family, netlink_value(address)))
        wanted->is_found = true;
    return 0;
}

static int find_address(struct netlink *netlink, void *context)
{
    struct wanted_address *wanted = context;

    wanted->seen = 0;
    wanted->is_found = false;
    return netlink_dump(netlink, RTM_GETADDR, AF_UNSPEC, parse_address, wanted, wanted->err);
}

int netlink_has_address(struct netlink *netlink, int index, const char *text, struct error *err)
{
    struct wanted_address wanted = {.index = index, .text = text, .err = err};

    if (netlink_read_stable(netlink, find_address, &wanted) != 0 && !wanted.is_found)
        return -1;
    return wanted.is_found;
}

/* ---------------------------------------------------------------- rings */

int netlink_ethtool(int fd, const char *name, void *command)
{
    struct ifreq request = {0};

    if (strlen(name) >= sizeof request.ifr_name) {
        errno = ENODEV;
        return -1;
    }
    strcpy(request.ifr_name, name);
    request.ifr_data = command;
    return ioctl(fd, SIOCETHTOOL, &request);
}

int netlink_get_rings(const struct netlink *netlink, const char *name, struct netlink_rings *rings,
                      struct error *err)
{
    struct ethtool_ringparam found = {.cmd = ETHTOOL_GRINGPARAM};

    if (netlink_ethtool(netlink->ioctl_fd, name, &found) != 0)
        return error_set(err, errno == EOPNOTSUPP ? "its driver has no rings to set: %m" : "%m");
    *rings = (struct netlink_rings){found.rx_pending, found.tx_pending, found.rx_max_pending,
                                    found.tx_max_pending};
    return 0;
}

int netlink_set_ring(const struct netlink *netlink, const char *name, enum netif_setting setting,
                     long value, struct error *err)
{
    struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};

    if (netlink_ethtool(netlink->ioctl_fd, name, &rings) != 0)
        return error_set(err, errno == EOPNOTSUPP ? "its driver has no rings to set: %m" : "%m");
    rings.cmd = ETHTOOL_SRINGPARAM;
    *(setting == NETIF_RX_RING ? &rings.rx_pending : &rings.tx_pending) = (uint32_t)value;
    if (netlink_ethtool(netlink->ioctl_fd, name, &rings) != 0)
        return error_set(err, "%m");
    return 0;
}
