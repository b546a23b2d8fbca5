/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/sockets.h"

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

/* Returns false for what is no TCP connection, or of a kernel before 4.1. */
static bool read_info(int socket, struct tcp_info *info)
{
    socklen_t size = sizeof *info;

    memset(info, 0, sizeof *info);
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &size) == 0 &&
           size >=
               offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info->tcpi_bytes_received;
}

static double sum_sockets(double (*bytes_of)(int socket), int except)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;
    double sum = 0;

    if (!directory)
        return 0;
    while ((entry = readdir(directory))) {
        char *end;
        long number = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == '\0' && number != except)
            sum += bytes_of((int)number);
    }
    closedir(directory);
    return sum;
}

static double sent_bytes(int socket)
{
    struct tcp_info info;

    return read_info(socket, &info) && !is_loopback(socket) ? (double)info.tcpi_bytes_acked : 0;
}

static double moved_bytes(int socket)
{
    struct tcp_info info;

    return read_info(socket, &info)
               ? (double)info.tcpi_bytes_acked + (double)info.tcpi_bytes_received
               : 0;
}

double sockets_sent_bytes(void)
{
    return sum_sockets(sent_bytes, -1);
}

double sockets_moved_bytes(int except)
{
    return sum_sockets(moved_bytes, except);
}
