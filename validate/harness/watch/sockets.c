/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/sockets.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/address_ranges.h"

/* Whether the socket sends to this host, or to no one. */
static bool is_loopback(int socket)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    struct in6_addr address;

    return getpeername(socket, (struct sockaddr *)&peer, &size) != 0 ||
           !address_map((const struct sockaddr *)&peer, &address) ||
           IN6_IS_ADDR_LOOPBACK(&address) ||
           (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == IN_LOOPBACKNET);
}

/* Returns false if the descriptor is no TCP connection, or with a kernel before 4.1. */
static bool read_info(int socket, struct tcp_info *info)
{
    socklen_t size = sizeof *info;

    memset(info, 0, sizeof *info);
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &size) == 0 &&
           size >=
               offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info->tcpi_bytes_received;
}

void sockets_each(void (*take)(int socket, void *context), void *context)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;

    if (!directory)
        return;
    while ((entry = readdir(directory))) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0')
            take((int)number, context);
    }
    closedir(directory);
}

struct sum {
    double bytes;
    int except;
    bool is_sent; /* to other hosts only; else all that moved */
};

static void add(int socket, void *context)
{
    struct sum *sum = context;
    struct tcp_info info;

    if (socket == sum->except || !read_info(socket, &info) || (sum->is_sent && is_loopback(socket)))
        return;
    sum->bytes += (double)info.tcpi_bytes_acked;
    if (!sum->is_sent)
        sum->bytes += (double)info.tcpi_bytes_received;
}

double sockets_sent_bytes(void)
{
    struct sum sum = {.except = -1, .is_sent = true};

    sockets_each(add, &sum);
    return sum.bytes;
}

double sockets_moved_bytes(int except)
{
    struct sum sum = {.except = except};

    sockets_each(add, &sum);
    return sum.bytes;
}
