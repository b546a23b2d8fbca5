/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/grow.h"
#include "lib/base/rtnetlink.h"
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

static int flow_take(const struct nlmsghdr *message, size_t length, void *context)
{
    const struct flows *flows = context;
    struct watch_sample *sample = flows->sample;
    const struct inet_diag_msg *found = (const void *)((const char *)message + NLMSG_HDRLEN);
    char source[INET6_ADDRSTRLEN], peer[INET6_ADDRSTRLEN];
    const struct rtattr *attribute;
    const struct watch_rail *rail;
    struct tcp_info info = {0};
    size_t size;

    if (!netlink_is_message(message, length, SOCK_DIAG_BY_FAMILY, sizeof *found) ||
        found->idiag_uid != flows->uid ||
        !inet_ntop(found->idiag_family, found->id.idiag_src, source, sizeof source) ||
        !inet_ntop(found->idiag_family, found->id.idiag_dst, peer, sizeof peer) ||
        !(rail = rail_of(sample, source)))
        return 0;
    sample->unread_bytes += found->idiag_rqueue;
    attribute = netlink_attribute(message, sizeof *found, INET_DIAG_INFO);
    size = attribute ? netlink_size(attribute) : 0;
    if (size >= offsetof(struct tcp_info, tcpi_busy_time)) {
        memcpy(&info, netlink_value(attribute), size < sizeof info ? size : sizeof info);
        flow_add(sample, rail, peer, &info);
    }
    return 0;
}

/* Counts the listeners on an address. */
struct listeners {
    const struct sockaddr_in *address;
    uid_t uid;
    size_t own, others;
};

static int listener_take(const struct nlmsghdr *message, size_t length, void *context)
{
    static const unsigned char any[16], mapped[12] = {[10] = 0xff, [11] = 0xff};
    struct listeners *listeners = context;
    const struct inet_diag_msg *found = (const void *)((const char *)message + NLMSG_HDRLEN);
    const unsigned char *source = (const void *)found->id.idiag_src;
    bool is_v6 = found->idiag_family == AF_INET6;
    const unsigned char *last = is_v6 ? source + sizeof mapped : source;

    if (!netlink_is_message(message, length, SOCK_DIAG_BY_FAMILY, sizeof *found) ||
        found->id.idiag_sport != listeners->address->sin_port ||
        (is_v6 && memcmp(source, any, sizeof any) != 0 &&
         memcmp(source, mapped, sizeof mapped) != 0) ||
        (memcmp(last, any, 4) != 0 && memcmp(last, &listeners->address->sin_addr, 4) != 0))
        return 0;
    if (found->idiag_uid == listeners->uid)
        listeners->own++;
    else
        listeners->others++;
    return 0;
}

static int compare_flows(const void *a, const void *b)
{
    const struct watch_flow *one = a, *other = b;

    return (one->bytes < other->bytes) - (one->bytes > other->bytes);
}

/* Calls take() for all TCP sockets in the state. */
static void sockets_read(unsigned state,
                         int (*take)(const struct nlmsghdr *message, size_t length, void *context),
                         void *context)
{
    static const uint8_t families[] = {AF_INET, AF_INET6};
    struct netlink netlink = {.fd =
                                  socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG),
                              .ioctl_fd = -1,
                              .wait_ms = NETLINK_WAIT_MS};

    for (size_t i = 0; i < sizeof families && netlink.fd >= 0; i++) {
        const struct {
            struct nlmsghdr header;
            struct inet_diag_req_v2 request;
        } query = {{.nlmsg_len = sizeof query,
                    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
                    .nlmsg_seq = ++netlink.sequence},
                   {.sdiag_family = families[i],
                    .sdiag_protocol = IPPROTO_TCP,
                    .idiag_ext = 1 << (INET_DIAG_INFO - 1),
                    .idiag_states = 1U << state}};

        netlink_query(&netlink, &query, sizeof query, take, context, NULL);
    }
    netlink_close(&netlink);
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
