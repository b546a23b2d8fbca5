/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/probe.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "lib/constants/battery_constants.h"
#include "validate/battery/links/path/channel.h"
#include "validate/harness/watch/monitor.h"

enum { HEADER_BYTES = 28 /* IPv4 and UDP */, LONGEST = 65535, COPIES = 2 };

/* Sizes besides the MTU itself, which may get through if that does not. */
static const int sizes[] = {4096, 1500, 1280, 128};

struct probe {
    int fd, mtu_bytes;
};

static int address_of(const char *interface, struct sockaddr_in *address)
{
    struct ifaddrs *all;
    int rv = -1;

    if (getifaddrs(&all) != 0)
        return -1;
    for (const struct ifaddrs *entry = all; entry && rv != 0; entry = entry->ifa_next)
        if (entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET &&
            strcmp(entry->ifa_name, interface) == 0) {
            memcpy(address, entry->ifa_addr, sizeof *address);
            rv = 0;
        }
    freeifaddrs(all);
    return rv;
}

/* Whether this node's TCP looks for a smaller MTU when long segments are lost; true if the kernel
 * does not tell. */
static bool can_shrink(void)
{
    return sysfs_number("", "proc/sys/net/ipv4/tcp_mtu_probing") != 0;
}

static int open_socket(const char *interface, struct sockaddr_in *address)
{
    int discover = IP_PMTUDISC_PROBE, fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    socklen_t length = sizeof *address;

    if (fd < 0)
        return -1;
    address->sin_port = 0;
    /* Binding to the interface takes a privilege; the address alone mostly does. */
    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface, (socklen_t)strlen(interface) + 1);
    if (setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discover, sizeof discover) == 0 &&
        bind(fd, (struct sockaddr *)address, sizeof *address) == 0 &&
        getsockname(fd, (struct sockaddr *)address, &length) == 0)
        return fd;
    close(fd);
    return -1;
}

struct probe *probe_open(const struct inventory *inventory, const struct rail *rail,
                         struct probe_address *address)
{
    const struct nic *nic =
        rail->nic ? rail->nic : inventory_nic(inventory, rail->port ? rail->port->netdev : "");
    struct sockaddr_in own;
    struct probe *probe;
    int fd;

    *address = (struct probe_address){.mtu_bytes = nic ? nic->mtu_bytes : -1,
                                      .hangs_if_cut = !channel_is_rdma(rail) && !can_shrink()};
    if (!nic || nic->mtu_bytes <= HEADER_BYTES || nic->mtu_bytes > LONGEST ||
        address_of(nic->name, &own) != 0 || (fd = open_socket(nic->name, &own)) < 0)
        return NULL;
    probe = malloc(sizeof *probe);
    if (!probe) {
        close(fd);
        return NULL;
    }
    *probe = (struct probe){fd, nic->mtu_bytes};
    address->address = own;
    return probe;
}

void probe_close(struct probe *probe)
{
    if (probe)
        close(probe->fd);
    free(probe);
}

static void send_one(const struct probe *probe, const struct probe_address *to, uint64_t session,
                     int bytes)
{
    static const char zeros[LONGEST];
    char data[LONGEST];
    size_t size = (size_t)(bytes - HEADER_BYTES);

    memcpy(data, zeros, size);
    memcpy(data, &session, sizeof session);
    for (int i = 0; i < COPIES; i++)
        if (sendto(probe->fd, data, size, MSG_DONTWAIT, (const struct sockaddr *)&to->address,
                   sizeof to->address) < 0)
            break; /* then none of this size arrives, which is the answer */
}

void probe_send(const struct probe *probe, const struct probe_address *to, uint64_t session)
{
    if (!probe || to->address.sin_port == 0)
        return;
    send_one(probe, to, session, probe->mtu_bytes);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] < probe->mtu_bytes)
            send_one(probe, to, session, sizes[i]);
}

static bool is_same(const struct sockaddr_in *one, const struct sockaddr_in *other)
{
    return one->sin_addr.s_addr == other->sin_addr.s_addr && one->sin_port == other->sin_port;
}

bool probe_is_cut(const struct probe_address *from, const struct probe_address *to,
                  int path_mtu_bytes)
{
    return path_mtu_bytes > 0 && path_mtu_bytes < from->mtu_bytes && path_mtu_bytes < to->mtu_bytes;
}

int probe_receive(const struct probe *probe, const struct probe_address *from, uint64_t session)
{
    char data[LONGEST];
    double end_s = clock_s() + PROBE_WAIT_S, left_s;
    int longest = 0;
    struct sockaddr_in sender = {0};
    socklen_t length = sizeof sender;
    ssize_t got;

    if (!probe || from->address.sin_port == 0)
        return -1;
    /* the long ones are sent first */
    while (longest == 0 && (left_s = end_s - clock_s()) > 0) {
        struct pollfd readable = {.fd = probe->fd, .events = POLLIN};

        poll(&readable, 1, (int)(1e3 * left_s) + 1);
        while ((got = recvfrom(probe->fd, data, sizeof data, MSG_DONTWAIT,
                               (struct sockaddr *)&sender, &length)) >= 0)
            if (is_same(&sender, &from->address) && got >= (ssize_t)sizeof session &&
                memcmp(data, &session, sizeof session) == 0 && got + HEADER_BYTES > longest)
                longest = (int)got + HEADER_BYTES;
    }
    return longest;
}
