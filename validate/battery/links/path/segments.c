/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/segments.h"

#include <ifaddrs.h>
#include <linux/tcp.h>
#include <math.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/address_ranges.h"
#include "validate/harness/watch/sockets.h"

static bool is_on(int fd, const char *interface, const struct ifaddrs *all)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    struct in6_addr own, other;

    if (getsockname(fd, (struct sockaddr *)&address, &length) != 0 ||
        !address_map((const struct sockaddr *)&address, &own))
        return false;
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next)
        if (entry->ifa_addr && strcmp(entry->ifa_name, interface) == 0 &&
            address_map(entry->ifa_addr, &other) && memcmp(&own, &other, sizeof own) == 0)
            return true;
    return false;
}

static void add(int fd, struct segments *segments)
{
    struct tcp_info info = {0};
    socklen_t length = sizeof info;

    /* an old kernel fills in less: then the counts are not known, and stay 0 */
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0 ||
        length < offsetof(struct tcp_info, tcpi_dsack_dups) + sizeof info.tcpi_dsack_dups)
        return;
    segments->sent += info.tcpi_data_segs_out;
    segments->lost += info.tcpi_total_retrans > info.tcpi_dsack_dups
                          ? info.tcpi_total_retrans - info.tcpi_dsack_dups
                          : 0;
}

struct reading {
    const char *interface;
    const struct ifaddrs *all;
    struct segments *segments;
};

static void read_socket(int fd, void *context)
{
    const struct reading *reading = context;

    if (is_on(fd, reading->interface, reading->all))
        add(fd, reading->segments);
}

void segments_read(const char *interface, struct segments *segments)
{
    struct ifaddrs *all;

    *segments = (struct segments){0, 0};
    if (!interface || !*interface || getifaddrs(&all) != 0)
        return;
    sockets_each(read_socket, &(struct reading){interface, all, segments});
    freeifaddrs(all);
}

void segments_between(const struct segments *before, const struct segments *after,
                      struct segments *segments)
{
    *segments =
        (struct segments){fmax(after->sent - before->sent, 0), fmax(after->lost - before->lost, 0)};
}
