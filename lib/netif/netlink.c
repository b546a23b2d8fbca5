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

static bool parse_number(const struct rtattr *attribute, long *number)
{
    uint32_t value;

    if (netlink_size(attribute) < sizeof value)
        return false;
    memcpy(&value, netlink_value(attribute), sizeof value);
    *number = (long)value;
    return true;
}

int netlink_parse_link(const void *message, size_t length, struct netlink_link *link)
{
    const struct ifinfomsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *attribute;
    const char *at, *end;

    if (!netlink_is_message(message, length, RTM_NEWLINK, sizeof *info))
        return -1;
    *link = (struct netlink_link){.index = info->ifi_index,
                                  .is_up = (info->ifi_flags & IFF_UP) != 0,
                                  .mtu_bytes = -1,
                                  .queue_packets = -1};
    at = netlink_attributes(message, sizeof *info, &end);
    while ((attribute = netlink_next_attribute(&at, end)) != NULL) {
        const char *value = netlink_value(attribute);
        size_t name_length = strnlen(value, netlink_size(attribute));

        switch (attribute->rta_type) {
        case IFLA_IFNAME:
            if (name_length >= sizeof link->name)
                return -1;
            memcpy(link->name, value, name_length);
            link->name[name_length] = '\0';
            break;
        case IFLA_MTU:
            if (!parse_number(attribute, &link->mtu_bytes))
                return -1;
            break;
        case IFLA_TXQLEN:
            if (!parse_number(attribute, &link->queue_packets))
                return -1;
            break;
        case IFLA_MAX_MTU:
            if (!parse_number(attribute, &link->mtu_max_bytes))
                return -1;
            break;
        default:
            break;
        }
    }
    return link->index > 0 && link->name[0] && link->mtu_bytes >= 0 && link->queue_packets >= 0
               ? 0
               : -1;
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
    const struct rtattr *attribute, *address = NULL;
    const char *at, *end;
    size_t size;

    if (++wanted->seen > ADDRESSES_MAX)
        return 1;
    if (!netlink_is_message(message, length, RTM_NEWADDR, sizeof *info) ||
        (int)info->ifa_index != wanted->index)
        return 0;
    at = netlink_attributes(message, sizeof *info, &end);
    size = info->ifa_family == AF_INET ? 4 : info->ifa_family == AF_INET6 ? 16 : SIZE_MAX;
    while ((attribute = netlink_next_attribute(&at, end)) != NULL)
        /* on a link with a peer, IFA_LOCAL is the interface's own address */
        if (netlink_size(attribute) == size &&
            (attribute->rta_type == IFA_LOCAL || (attribute->rta_type == IFA_ADDRESS && !address)))
            address = attribute;
    if (address && netif_address_matches(wanted->text, info->ifa_family, netlink_value(address)))
        wanted->is_found = true;
    return 0;
}

static int find_address(struct netlink *netlink, void *context)
{
    struct wanted_address *wanted = context;
    struct {
        struct nlmsghdr header;
        struct ifaddrmsg info;
    } request = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
                            .nlmsg_type = RTM_GETADDR,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                            .nlmsg_seq = ++netlink->sequence}};

    wanted->seen = 0;
    wanted->is_found = false;
    return netlink_query(netlink, &request, request.header.nlmsg_len, parse_address, wanted,
                         wanted->err);
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
