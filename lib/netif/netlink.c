/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/clock.h"
#include "lib/netif/netlink_parts.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MESSAGE_MAX = 65536, /* of what the kernel sends in one piece */
    ADDRESSES_MAX = 100000,
};

/* ---------------------------------------------------------------- messages */

/* Walks attributes: *at is moved behind the one returned; NULL at the end or where lengths do not
 * fit. */
const struct rtattr *netlink_next_attribute(const char **at, const char *end)
{
    const struct rtattr *attribute = (const struct rtattr *)*at;
    size_t step;

    if (end - *at < (ptrdiff_t)sizeof *attribute || attribute->rta_len < sizeof *attribute ||
        attribute->rta_len > end - *at)
        return NULL;
    step = RTA_ALIGN(attribute->rta_len);
    *at = step > (size_t)(end - *at) ? end : *at + step;
    return attribute;
}

static size_t payload(const struct rtattr *attribute)
{
    return attribute->rta_len - sizeof *attribute;
}

static bool take_number(const struct rtattr *attribute, long *number)
{
    uint32_t value;

    if (payload(attribute) < sizeof value)
        return false;
    memcpy(&value, (const char *)attribute + sizeof *attribute, sizeof value);
    *number = (long)value;
    return true;
}

/* Whether message is a whole one of that type with at least `fixed` bytes behind its header. */
bool netlink_is_message(const void *message, size_t length, int type, size_t fixed)
{
    struct nlmsghdr header;

    if (length < sizeof header)
        return false;
    memcpy(&header, message, sizeof header);
    return header.nlmsg_type == type && header.nlmsg_len <= length &&
           header.nlmsg_len >= NLMSG_LENGTH(fixed);
}

int netlink_parse_link(const void *message, size_t length, struct netlink_link *link)
{
    const struct nlmsghdr *header = message;
    const struct ifinfomsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *attribute;
    const char *at, *end;

    if (!netlink_is_message(message, length, RTM_NEWLINK, sizeof *info))
        return -1;
    *link = (struct netlink_link){.index = info->ifi_index,
                                  .is_up = (info->ifi_flags & IFF_UP) != 0,
                                  .mtu_bytes = -1,
                                  .queue_packets = -1};
    at = (const char *)info + NLMSG_ALIGN(sizeof *info);
    end = (const char *)message + header->nlmsg_len;
    while ((attribute = netlink_next_attribute(&at, end)) != NULL) {
        const char *value = (const char *)attribute + sizeof *attribute;
        size_t name_length = strnlen(value, payload(attribute));

        switch (attribute->rta_type) {
        case IFLA_IFNAME:
            if (name_length >= sizeof link->name)
                return -1;
            memcpy(link->name, value, name_length);
            link->name[name_length] = '\0';
            break;
        case IFLA_MTU:
            if (!take_number(attribute, &link->mtu_bytes))
                return -1;
            break;
        case IFLA_TXQLEN:
            if (!take_number(attribute, &link->queue_packets))
                return -1;
            break;
        case IFLA_MAX_MTU:
            if (!take_number(attribute, &link->mtu_max_bytes))
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

int netlink_parse_error(const void *message, size_t length, char *text, size_t size)
{
    const struct nlmsghdr *header = message;
    const struct nlmsgerr *error = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *attribute;
    const char *at, *end;
    size_t skipped;

    if (size > 0)
        *text = '\0';
    if (!netlink_is_message(message, length, NLMSG_ERROR, sizeof *error) || error->error > 0 ||
        error->error < -4095)
        return -1;
    /* the request comes back too: its header only where NLM_F_CAPPED says so */
    skipped = sizeof *error;
    if (!(header->nlmsg_flags & NLM_F_CAPPED) && error->msg.nlmsg_len > sizeof error->msg)
        skipped += NLMSG_ALIGN(error->msg.nlmsg_len - sizeof error->msg);
    if (!(header->nlmsg_flags & NLM_F_ACK_TLVS) || skipped > header->nlmsg_len - NLMSG_HDRLEN)
        return -error->error;
    at = (const char *)error + skipped;
    end = (const char *)message + header->nlmsg_len;
    while ((attribute = netlink_next_attribute(&at, end)) != NULL)
        if ((attribute->rta_type & NLA_TYPE_MASK) == NLMSGERR_ATTR_MSG)
            snprintf(text, size, "%.*s", (int)payload(attribute),
                     (const char *)attribute + sizeof *attribute);
    for (char *c = text; *c; c++)
        if (*c < 0x20 || *c >= 0x7f)
            *c = '?';
    return -error->error;
}

void netlink_put_attribute(char *message, unsigned short type, const void *value, size_t length)
{
    struct nlmsghdr *header = (struct nlmsghdr *)message;
    struct rtattr *attribute = (struct rtattr *)(message + NLMSG_ALIGN(header->nlmsg_len));

    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)(sizeof *attribute + length);
    memcpy((char *)attribute + sizeof *attribute, value, length);
    header->nlmsg_len = (uint32_t)(NLMSG_ALIGN(header->nlmsg_len) + RTA_ALIGN(attribute->rta_len));
}

/* A request about a link: its header and fixed part. */
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

/* ---------------------------------------------------------------- the socket */

int netlink_open(struct netlink *netlink, struct error *err)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int on = 1;

    *netlink = (struct netlink){.fd = -1, .ioctl_fd = -1};
    netlink->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    netlink->ioctl_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (netlink->fd < 0 || netlink->ioctl_fd < 0 ||
        connect(netlink->fd, (struct sockaddr *)&kernel, sizeof kernel) != 0) {
        error_set(err, "no way to the kernel's network settings: %m");
        netlink_close(netlink);
        return -1;
    }
    /* best effort: kernels before 4.12 have neither */
    setsockopt(netlink->fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
    setsockopt(netlink->fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
    return 0;
}

void netlink_close(struct netlink *netlink)
{
    if (netlink->fd >= 0)
        close(netlink->fd);
    if (netlink->ioctl_fd >= 0)
        close(netlink->ioctl_fd);
    *netlink = (struct netlink){.fd = -1, .ioctl_fd = -1};
}

/* One datagram of the kernel's, at most MESSAGE_MAX bytes. Returns its length, or -1 with err. */
static ssize_t receive(const struct netlink *netlink, char *buffer, long deadline_ms,
                       struct error *err)
{
    struct pollfd wait = {.fd = netlink->fd, .events = POLLIN};

    for (;;) {
        long left_ms = deadline_ms - clock_ms();
        int ready = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);
        struct sockaddr_nl from = {0};
        socklen_t from_length = sizeof from;
        ssize_t got;

        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0) {
            if (ready == 0)
                errno = ETIMEDOUT;
            return error_set(err, "the kernel does not answer: %m");
        }
        got = recvfrom(netlink->fd, buffer, MESSAGE_MAX, MSG_DONTWAIT | MSG_TRUNC,
                       (struct sockaddr *)&from, &from_length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return error_set(err, "the kernel's answer cannot be read: %m");
        if (from_length != sizeof from || from.nl_pid != 0)
            continue; /* another process's, not the kernel's */
        if (got > MESSAGE_MAX) {
            errno = EMSGSIZE;
            return error_set(err, "the kernel's answer is too long: %zd bytes", got);
        }
        return got;
    }
}

/* Sends a request and hands each message of the answer to take(), until that or the kernel says it
 * is the last. take returns 0 to go on, 1 when done. Returns 0, or -1 with err and errno. */
int netlink_ask(struct netlink *netlink, const void *request, size_t length,
                int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                void *context, struct error *err)
{
    long deadline_ms = clock_ms() + NETLINK_WAIT_MS;
    char *buffer = malloc(MESSAGE_MAX);
    char words[200];
    int result = -1;
    bool is_done = false;

    if (!buffer)
        return error_set(err, "out of memory");
    if (send(netlink->fd, request, length, 0) != (ssize_t)length) {
        error_set(err, "the kernel cannot be asked: %m");
        goto out;
    }
    while (!is_done) {
        ssize_t left = receive(netlink, buffer, deadline_ms, err);
        const char *at = buffer;

        if (left < 0)
            goto out;
        while (!is_done && left >= (ssize_t)sizeof(struct nlmsghdr)) {
            const struct nlmsghdr *message = (const void *)at;
            int code;

            if (message->nlmsg_len < sizeof *message || message->nlmsg_len > (size_t)left)
                break;
            if (message->nlmsg_seq != netlink->sequence) {
                /* the late answer to an earlier question */
            } else if (message->nlmsg_type == NLMSG_ERROR) {
                code = netlink_parse_error(message, (size_t)left, words, sizeof words);
                if (code != 0) {
                    errno = code > 0 ? code : EPROTO;
                    error_set(err, "%m%s%s%s", *words ? " (" : "", words, *words ? ")" : "");
                    goto out;
                }
                is_done = true;
            } else if (message->nlmsg_type == NLMSG_DONE) {
                is_done = true;
            } else {
                is_done = take(message, (size_t)left, context) != 0;
            }
            if (NLMSG_ALIGN(message->nlmsg_len) >= (size_t)left)
                break;
            left -= (ssize_t)NLMSG_ALIGN(message->nlmsg_len);
            at += NLMSG_ALIGN(message->nlmsg_len);
        }
    }
    result = 0;
out:
    free(buffer);
    return result;
}

struct wanted_link {
    struct netlink_link *link;
    bool is_found;
};

static int take_link(const struct nlmsghdr *message, size_t length, void *context)
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
    if (netlink_ask(netlink, message, ((struct nlmsghdr *)message)->nlmsg_len, take_link, &wanted,
                    err) != 0)
        return -1;
    if (!wanted.is_found) {
        errno = EPROTO;
        return error_set(err, "the kernel's answer is not about a link");
    }
    return 0;
}

static int take_nothing(const struct nlmsghdr *message, size_t length, void *context)
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

    return netlink_ask(netlink, message, length, take_nothing, NULL, err);
}

/* ---------------------------------------------------------------- addresses */

struct wanted_address {
    int index;
    const char *text;
    bool is_found;
    unsigned seen;
};

static int take_address(const struct nlmsghdr *message, size_t length, void *context)
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
    at = (const char *)info + NLMSG_ALIGN(sizeof *info);
    end = (const char *)message + message->nlmsg_len;
    size = info->ifa_family == AF_INET ? 4 : info->ifa_family == AF_INET6 ? 16 : SIZE_MAX;
    while ((attribute = netlink_next_attribute(&at, end)) != NULL)
        /* IFA_LOCAL is the interface's own where a link has a peer */
        if (payload(attribute) == size &&
            (attribute->rta_type == IFA_LOCAL || (attribute->rta_type == IFA_ADDRESS && !address)))
            address = attribute;
    if (address && netif_address_matches(wanted->text, info->ifa_family,
                                         (const unsigned char *)address + sizeof *address))
        wanted->is_found = true;
    return 0;
}

int netlink_has_address(struct netlink *netlink, int index, const char *text, struct error *err)
{
    struct {
        struct nlmsghdr header;
        struct ifaddrmsg info;
    } request = {.header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
                            .nlmsg_type = RTM_GETADDR,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                            .nlmsg_seq = ++netlink->sequence}};
    struct wanted_address wanted = {.index = index, .text = text};

    if (netlink_ask(netlink, &request, request.header.nlmsg_len, take_address, &wanted, err) != 0)
        return -1;
    return wanted.is_found;
}

/* ---------------------------------------------------------------- rings */

static int ring_ioctl(const struct netlink *netlink, const char *name,
                      struct ethtool_ringparam *rings)
{
    struct ifreq request = {0};

    if (strlen(name) >= sizeof request.ifr_name) {
        errno = ENODEV;
        return -1;
    }
    strcpy(request.ifr_name, name);
    request.ifr_data = (void *)rings;
    return ioctl(netlink->ioctl_fd, SIOCETHTOOL, &request);
}

int netlink_get_rings(const struct netlink *netlink, const char *name, struct netlink_rings *rings,
                      struct error *err)
{
    struct ethtool_ringparam found = {.cmd = ETHTOOL_GRINGPARAM};

    if (ring_ioctl(netlink, name, &found) != 0)
        return error_set(err, errno == EOPNOTSUPP ? "its driver has no rings to set: %m" : "%m");
    *rings = (struct netlink_rings){found.rx_pending, found.tx_pending, found.rx_max_pending,
                                    found.tx_max_pending};
    return 0;
}

int netlink_set_ring(const struct netlink *netlink, const char *name, enum netif_setting setting,
                     long value, struct error *err)
{
    struct ethtool_ringparam rings = {.cmd = ETHTOOL_GRINGPARAM};

    if (ring_ioctl(netlink, name, &rings) != 0)
        return error_set(err, errno == EOPNOTSUPP ? "its driver has no rings to set: %m" : "%m");
    rings.cmd = ETHTOOL_SRINGPARAM;
    *(setting == NETIF_RX_RING ? &rings.rx_pending : &rings.tx_pending) = (uint32_t)value;
    if (ring_ioctl(netlink, name, &rings) != 0)
        return error_set(err, "%m");
    return 0;
}
