/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "lib/base/grow.h"
#include "validate/watch/read.h"

enum { ESTABLISHED = 1, LISTENS = 10, FLOWS_MOST = 24 /* per node: those that sent most */ };

static const struct watch_rail *rail_of(const struct watch_sample *sample, const char *address)
{
    for (size_t i = 0; i < sample->rail_count; i++)
        if (strcmp(sample->rails[i].address, address) == 0)
            return &sample->rails[i];
    return NULL;
}

/* Adds a connection to the flow of its rail and peer. */
static void flow_add(struct watch_sample *sample, const struct watch_rail *rail, const char *peer,
                     const struct tcp_info *info)
{
    struct watch_flow *flow = NULL;
    double mbps = 8e-6 * (double)info->tcpi_delivery_rate;

    for (size_t i = 0; i < sample->flow_count; i++)
        if (strcmp(sample->flows[i].rail, rail->name) == 0 &&
            strcmp(sample->flows[i].peer, peer) == 0)
            flow = &sample->flows[i];
    if (!flow) {
        if (!GROW(sample->flows, sample->flow_count))
            return;
        flow = &sample->flows[sample->flow_count++];
        *flow = (struct watch_flow){0};
        strcpy(flow->rail, rail->name);
        snprintf(flow->peer, sizeof flow->peer, "%s", peer);
    }
    flow->bytes += (double)info->tcpi_bytes_acked;
    if (!info->tcpi_delivery_rate_app_limited && mbps > flow->mbps)
        flow->mbps = mbps;
}

struct flows {
    uid_t uid;
    struct watch_sample *sample;
};

static void flow_take(struct nlmsghdr *header, void *context)
{
    const struct flows *flows = context;
    struct watch_sample *sample = flows->sample;
    struct inet_diag_msg *message = NLMSG_DATA(header);
    struct rtattr *attribute = (struct rtattr *)(void *)(message + 1);
    int length = (int)header->nlmsg_len - (int)NLMSG_LENGTH(sizeof *message);
    char source[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
    const struct watch_rail *rail;
    struct tcp_info info = {0};

    if (length < 0 || message->idiag_uid != flows->uid ||
        !inet_ntop(message->idiag_family, message->id.idiag_src, source, sizeof source) ||
        !inet_ntop(message->idiag_family, message->id.idiag_dst, peer, sizeof peer) ||
        !(rail = rail_of(sample, source)))
        return;
    sample->unread_bytes += message->idiag_rqueue;
    for (; RTA_OK(attribute, length); attribute = RTA_NEXT(attribute, length))
        if (attribute->rta_type == INET_DIAG_INFO &&
            RTA_PAYLOAD(attribute) >= offsetof(struct tcp_info, tcpi_busy_time)) {
            memcpy(&info, RTA_DATA(attribute),
                   RTA_PAYLOAD(attribute) < sizeof info ? RTA_PAYLOAD(attribute) : sizeof info);
            flow_add(sample, rail, peer, &info);
        }
}

/* Counts the listeners on an address. */
struct listeners {
    const struct sockaddr_in *address;
    uid_t uid;
    size_t own, others;
};

static void listener_take(struct nlmsghdr *header, void *context)
{
    static const unsigned char any[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct listeners *listeners = context;
    const struct inet_diag_msg *message = NLMSG_DATA(header);
    const unsigned char *source = (const void *)message->id.idiag_src;
    bool is_v6 = message->idiag_family == AF_INET6;
    const unsigned char *last = is_v6 ? source + sizeof mapped : source;

    if (header->nlmsg_len < NLMSG_LENGTH(sizeof *message) ||
        message->id.idiag_sport != listeners->address->sin_port ||
        (is_v6 && memcmp(source, any, sizeof any) != 0 &&
         memcmp(source, mapped, sizeof mapped) != 0) ||
        (memcmp(last, any, 4) != 0 && memcmp(last, &listeners->address->sin_addr, 4) != 0))
        return;
    if (message->idiag_uid == listeners->uid)
        listeners->own++;
    else
        listeners->others++;
}

/* Calls take() for all TCP sockets of the family in the state. */
static void family_read(int fd, int family, unsigned state,
                        void (*take)(struct nlmsghdr *header, void *context), void *context)
{
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } query = {{.nlmsg_len = sizeof query,
                .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
               {.sdiag_family = (uint8_t)family,
                .sdiag_protocol = IPPROTO_TCP,
                .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                .idiag_states = 1U << state}};
    static char buffer[1 << 16] __attribute__((aligned(NLMSG_ALIGNTO)));
    ssize_t got;

    if (send(fd, &query, sizeof query, 0) != sizeof query)
        return;
    while ((got = recv(fd, buffer, sizeof buffer, 0)) > 0) {
        size_t length = (size_t)got;

        for (struct nlmsghdr *header = (struct nlmsghdr *)(void *)buffer; NLMSG_OK(header, length);
             header = NLMSG_NEXT(header, length)) {
            if (header->nlmsg_type == NLMSG_DONE || header->nlmsg_type == NLMSG_ERROR)
                return;
            take(header, context);
        }
    }
}

static int compare_flows(const void *a, const void *b)
{
    const struct watch_flow *one = a, *other = b;

    return (one->bytes < other->bytes) - (one->bytes > other->bytes);
}

static void sockets_read(unsigned state, void (*take)(struct nlmsghdr *header, void *context),
                         void *context)
{
    const struct timeval limit = {.tv_sec = 1};
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

    if (fd < 0)
        return;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0) {
        family_read(fd, AF_INET, state, take, context);
        family_read(fd, AF_INET6, state, take, context);
    }
    close(fd);
}

bool watch_listens(const struct sockaddr_in *address, uid_t uid)
{
    struct listeners listeners = {.address = address, .uid = uid};

    sockets_read(LISTENS, listener_take, &listeners);
    return listeners.own > 0 && listeners.others == 0;
}

void watch_read_flows(uid_t uid, struct watch_sample *sample)
{
    struct flows flows = {uid, sample};

    sockets_read(ESTABLISHED, flow_take, &flows);
    if (sample->flow_count > FLOWS_MOST) {
        qsort(sample->flows, sample->flow_count, sizeof *sample->flows, compare_flows);
        sample->flow_count = FLOWS_MOST;
    }
}
