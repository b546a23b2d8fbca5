/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/peer_filter.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "validate/battery/watch/sockets.h"

enum { RANGES = 96, PREFIXES = 32 };

static const uint32_t PASS = UINT32_MAX, DROP = 0;

void peer_addresses_read(struct peer_addresses *own)
{
    struct ifaddrs *all;

    *own = (struct peer_addresses){.count = 0};
    if (getifaddrs(&all) != 0) {
        own->is_cut = 1;
        return;
    }
    for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
        const struct sockaddr *found = entry->ifa_addr;
        struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

        if (!found || !(entry->ifa_flags & IFF_UP) || entry->ifa_flags & IFF_LOOPBACK)
            continue;
        if (found->sa_family == AF_INET)
            memcpy(&address.s6_addr[12],
                   &((const struct sockaddr_in *)(const void *)found)->sin_addr, 4);
        else if (found->sa_family == AF_INET6)
            address = ((const struct sockaddr_in6 *)(const void *)found)->sin6_addr;
        else
            continue;
        if (own->count < PEER_ADDRESSES)
            own->addresses[own->count++] = address;
        else
            own->is_cut = 1;
    }
    freeifaddrs(all);
}

struct range {
    uint32_t low, high;
};

static int compare_ranges(const void *a, const void *b)
{
    uint32_t first = ((const struct range *)a)->low, second = ((const struct range *)b)->low;

    return (first > second) - (first < second);
}

/* Sorted, merged where they touch, and then at the smallest gaps until there are few enough. */
static size_t merge_ranges(struct range *ranges, size_t count)
{
    uint32_t gap = 1;
    size_t left;

    qsort(ranges, count, sizeof *ranges, compare_ranges);
    for (;; gap *= 2) {
        left = 0;
        for (size_t i = 0; i < count; i++) {
            if (left > 0 && ranges[i].low - ranges[left - 1].high <= gap)
                ranges[left - 1].high = ranges[i].high;
            else if (left > 0 && ranges[i].low <= ranges[left - 1].high)
                continue;
            else
                ranges[left++] = ranges[i];
        }
        count = left;
        if (count <= RANGES)
            return count;
    }
}

static void add(struct sock_filter *program, size_t *length, struct sock_filter instruction)
{
    program[(*length)++] = instruction;
}

static void add_ranges(struct sock_filter *program, size_t *length, const struct range *ranges,
                       size_t count)
{
    add(program, length,
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)SKF_NET_OFF + 12));
    for (size_t i = 0; i < count; i++) {
        add(program, length,
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, ranges[i].low, 0, 2));
        add(program, length,
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, ranges[i].high, 1, 0));
        add(program, length, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, PASS));
    }
    add(program, length, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, DROP));
}

static void add_prefixes(struct sock_filter *program, size_t *length, uint32_t (*prefixes)[2],
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (uint32_t word = 0; word < 2; word++) {
            add(program, length,
                (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                             (uint32_t)SKF_NET_OFF + 8 + 4 * word));
            add(program, length,
                (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, prefixes[i][word], 0,
                                             word == 0 ? 3 : 1));
        }
        add(program, length, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, PASS));
    }
    add(program, length, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, DROP));
}

static bool add_prefix(uint32_t (*prefixes)[2], size_t *count, const struct in6_addr *address)
{
    uint32_t prefix[2];

    memcpy(prefix, address, sizeof prefix);
    prefix[0] = ntohl(prefix[0]);
    prefix[1] = ntohl(prefix[1]);
    for (size_t i = 0; i < *count; i++)
        if (memcmp(prefixes[i], prefix, sizeof prefix) == 0)
            return true;
    if (*count == PREFIXES)
        return false;
    memcpy(prefixes[(*count)++], prefix, sizeof prefix);
    return true;
}

size_t peer_filter_make(const struct peer_addresses *nodes, size_t count,
                        struct sock_filter program[PEER_FILTER_MOST])
{
    struct range *ranges = calloc(count * PEER_ADDRESSES + 1, sizeof *ranges);
    uint32_t prefixes[PREFIXES][2] = {{0, 0}}; /* ::1 among others */
    size_t range_count = 0, prefix_count = 1, length = 0;
    bool is_whole = ranges != NULL;

    if (is_whole)
        ranges[range_count++] = (struct range){0x7f000000, 0x7fffffff};
    for (size_t node = 0; node < count && is_whole; node++) {
        is_whole =
            !nodes[node].is_cut && nodes[node].count > 0 && nodes[node].count <= PEER_ADDRESSES;
        for (uint32_t i = 0; i < nodes[node].count && is_whole; i++) {
            const struct in6_addr *address = &nodes[node].addresses[i];
            uint32_t word;

            memcpy(&word, &address->s6_addr[12], 4);
            word = ntohl(word);
            if (IN6_IS_ADDR_V4MAPPED(address))
                ranges[range_count++] = (struct range){word, word};
            else
                is_whole = add_prefix(prefixes, &prefix_count, address);
        }
    }
    if (is_whole) {
        range_count = merge_ranges(ranges, range_count);
        add(program, &length,
            (struct sock_filter)BPF_STMT(BPF_LD | BPF_B | BPF_ABS, (uint32_t)SKF_NET_OFF));
        add(program, &length, (struct sock_filter)BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 4));
        add(program, &length, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 1, 0));
        add(program, &length,
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JA, (uint32_t)(3 * range_count + 2), 0, 0));
        add_ranges(program, &length, ranges, range_count);
        add_prefixes(program, &length, prefixes, prefix_count);
    }
    free(ranges);
    return length;
}

static int attach(int socket, const struct sock_fprog *filter)
{
    int listens = 0, family = 0, protocol = 0;
    socklen_t size = sizeof listens;

    if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || !listens ||
        getsockopt(socket, SOL_SOCKET, SO_DOMAIN, &family, &size) != 0 ||
        getsockopt(socket, SOL_SOCKET, SO_PROTOCOL, &protocol, &size) != 0 ||
        (family != AF_INET && family != AF_INET6) || protocol != IPPROTO_TCP)
        return 0;
    return setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof *filter) == 0;
}

struct application {
    struct sock_fprog filter;
    int count;
};

static void apply(int socket, void *context)
{
    struct application *application = context;

    application->count += attach(socket, &application->filter);
}

int peer_filter_apply(const struct sock_filter *program, size_t length)
{
    struct application application = {
        .filter = {(unsigned short)length, (struct sock_filter *)(size_t)program}};

    if (length > 0)
        sockets_each(apply, &application);
    return application.count;
}
