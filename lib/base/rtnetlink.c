/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/rtnetlink.h"
#include "lib/base/clock.h"
#include "lib/base/text.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MESSAGE_MAX = 65536 }; /* bytes of one datagram of the kernel */

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

bool netlink_is_message(const void *message, size_t length, int type, size_t fixed)
{
    struct nlmsghdr header;

    if (length < sizeof header)
        return false;
    memcpy(&header, message, sizeof header);
    return header.nlmsg_type == type && header.nlmsg_len <= length &&
           header.nlmsg_len >= NLMSG_LENGTH(fixed);
}

const struct rtattr *netlink_find(const char *at, const char *end, unsigned type)
{
    const struct rtattr *attribute;

    do
        attribute = netlink_next_attribute(&at, end);
    while (attribute && (attribute->rta_type & (unsigned)NLA_TYPE_MASK) != type);
    return attribute;
}

const struct rtattr *netlink_attribute(const struct nlmsghdr *message, size_t fixed, unsigned type)
{
    const char *begin = (const char *)message;

    return netlink_find(begin + NLMSG_HDRLEN + NLMSG_ALIGN(fixed), begin + message->nlmsg_len,
                        type);
}

long netlink_number(const struct nlmsghdr *message, size_t fixed, unsigned type, long otherwise)
{
    const struct rtattr *attribute = netlink_attribute(message, fixed, type);
    uint32_t number;

    if (!attribute || netlink_size(attribute) < sizeof number)
        return otherwise;
    memcpy(&number, netlink_value(attribute), sizeof number);
    return (long)number;
}

const struct rtattr *netlink_own_address(const struct nlmsghdr *message)
{
    /* on a link with a peer, IFA_LOCAL is the interface's own address */
    static const unsigned types[] = {IFA_LOCAL, IFA_ADDRESS};
    const struct ifaddrmsg *info = (const void *)((const char *)message + NLMSG_HDRLEN);
    size_t size = info->ifa_family == AF_INET ? 4 : info->ifa_family == AF_INET6 ? 16 : SIZE_MAX;

    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct rtattr *address = netlink_attribute(message, sizeof *info, types[i]);

        if (address && netlink_size(address) == size)
            return address;
    }
    return NULL;
}

int netlink_parse_error(const void *message, size_t length, char *text, size_t size)
{
    const struct nlmsghdr *header = message;
    const struct nlmsgerr *error = (const void *)((const char *)message + NLMSG_HDRLEN);
    const struct rtattr *attribute;
    size_t skipped;

    if (size > 0)
        *text = '\0';
    if (!netlink_is_message(message, length, NLMSG_ERROR, sizeof *error) || error->error > 0 ||
        error->error < -4095)
        return -1;
    /* the error contains the request; with NLM_F_CAPPED only the request's header */
    skipped = sizeof *error;
    if (!(header->nlmsg_flags & NLM_F_CAPPED) && error->msg.nlmsg_len > sizeof error->msg)
        skipped += NLMSG_ALIGN(error->msg.nlmsg_len - sizeof error->msg);
    if (!(header->nlmsg_flags & NLM_F_ACK_TLVS) || skipped > header->nlmsg_len - NLMSG_HDRLEN)
        return -error->error;
    attribute = netlink_attribute(header, skipped, NLMSGERR_ATTR_MSG);
    if (attribute)
        snprintf(text, size, "%.*s", (int)netlink_size(attribute),
                 (const char *)netlink_value(attribute));
    text_make_ascii(text);
    return -error->error;
}

void netlink_put_attribute(char *message, unsigned short type, const void *value, size_t length)
{
    struct nlmsghdr *header = (struct nlmsghdr *)message;
    struct rtattr *attribute = (struct rtattr *)(message + NLMSG_ALIGN(header->nlmsg_len));

    attribute->rta_type = type;
    attribute->rta_len = (unsigned short)(sizeof *attribute + length);
    memcpy(attribute + 1, value, length);
    header->nlmsg_len = (uint32_t)(NLMSG_ALIGN(header->nlmsg_len) + RTA_ALIGN(attribute->rta_len));
}

int netlink_open(struct netlink *netlink, struct error *err)
{
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int on = 1;

    *netlink = (struct netlink){.fd = -1, .ioctl_fd = -1, .wait_ms = NETLINK_WAIT_MS};
    netlink->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    netlink->ioctl_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (netlink->fd < 0 || netlink->ioctl_fd < 0 ||
        connect(netlink->fd, (struct sockaddr *)&kernel, sizeof kernel) != 0) {
        error_set(err, "cannot open a netlink socket: %m");
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

/* Receives one datagram of the kernel, at most MESSAGE_MAX bytes. Returns its length, or -1 with
 * err. */
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

        if (ready < 0 && errno == EINTR && left_ms > 0)
            continue;
        if (ready <= 0) {
            if (ready == 0)
                errno = ETIMEDOUT;
            return error_set(err, "no answer from the kernel: %m");
        }
        got = recvfrom(netlink->fd, buffer, MESSAGE_MAX, MSG_DONTWAIT | MSG_TRUNC,
                       (struct sockaddr *)&from, &from_length);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got < 0)
            return error_set(err, "cannot read the kernel's answer: %m");
        if (from_length != sizeof from || from.nl_pid != 0)
            continue; /* from another process, not from the kernel */
        if (got > MESSAGE_MAX) {
            errno = EMSGSIZE;
            return error_set(err, "the kernel's answer is too long: %zd bytes", got);
        }
        return got;
    }
}

int netlink_query(struct netlink *netlink, const void *request, size_t length,
                  int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                  void *context, struct error *err)
{
    long deadline_ms = clock_ms() + netlink->wait_ms;
    char *buffer = malloc(MESSAGE_MAX);
    char words[200];
    int result = -1;
    bool is_done = false, is_interrupted = false;

    if (!buffer)
        return error_set(err, "out of memory");
    if (send(netlink->fd, request, length, 0) != (ssize_t)length) {
        error_set(err, "cannot send a request to the kernel: %m");
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
            is_interrupted |= message->nlmsg_seq == netlink->sequence &&
                              (message->nlmsg_flags & NLM_F_DUMP_INTR) != 0;
            if (message->nlmsg_seq != netlink->sequence) {
                /* the late answer to an earlier request */
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
    if (is_interrupted) {
        errno = EINTR;
        error_set(err, "the kernel's table changed while it was read");
        goto out;
    }
    result = 0;
out:
    free(buffer);
    return result;
}

int netlink_dump(struct netlink *netlink, uint16_t type, uint8_t family,
                 int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                 void *context, struct error *err)
{
    const struct {
        struct nlmsghdr header;
        struct rtmsg of; /* the longest of these tables' requests; all begin with the family */
    } request = {.header = {.nlmsg_len = sizeof request,
                            .nlmsg_type = type,
                            .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                            .nlmsg_seq = ++netlink->sequence},
                 .of.rtm_family = family};

    return netlink_query(netlink, &request, sizeof request, take, context, err);
}

int netlink_read_stable(struct netlink *netlink,
                        int (*read)(struct netlink *netlink, void *context), void *context)
{
    long wait_ms = netlink->wait_ms, end_ms = clock_ms() + wait_ms;
    int result = -1;

    errno = EINTR;
    for (int i = 0; i < LIVE_TRIES && result < 0 && errno == EINTR; i++) {
        netlink->wait_ms = end_ms - clock_ms();
        result = read(netlink, context);
    }
    netlink->wait_ms = wait_ms;
    return result;
}
