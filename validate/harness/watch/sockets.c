/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/sockets.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static bool is_loopback(int socket)
{
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;

    if (getpeername(socket, (struct sockaddr *)&peer, &size) != 0)
        return true; /* not connected: it sends nothing */
    if (peer.ss_family == AF_INET) {
        const struct sockaddr_in *address = (const struct sockaddr_in *)(const void *)&peer;

        return ntohl(address->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    }
    if (peer.ss_family == AF_INET6) {
        const struct sockaddr_in6 *address = (const struct sockaddr_in6 *)(const void *)&peer;

        return IN6_IS_ADDR_LOOPBACK(&address->sin6_addr);
    }
    return true;
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
};

static void add_sent(int socket, void *context)
{
    struct sum *sum = context;
    struct tcp_info info;

    if (socket != sum->except && read_info(socket, &info) && !is_loopback(socket))
        sum->bytes += (double)info.tcpi_bytes_acked;
}

static void add_moved(int socket, void *context)
{
    struct sum *sum = context;
    struct tcp_info info;

    if (socket != sum->except && read_info(socket, &info))
        sum->bytes += (double)info.tcpi_bytes_acked + (double)info.tcpi_bytes_received;
}

double sockets_sent_bytes(void)
{
    struct sum sum = {0, -1};

    sockets_each(add_sent, &sum);
    return sum.bytes;
}

double sockets_moved_bytes(int except)
{
    struct sum sum = {0, except};

    sockets_each(add_moved, &sum);
    return sum.bytes;
}
