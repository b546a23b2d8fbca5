/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/peers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/address_ranges.h"
#include "lib/base/text.h"
#include "validate/harness/watch/sockets.h"

enum {
    PORTS = 64,         /* the most listening sockets of a process */
    CLOSED_A_CALL = 64, /* connections that one call on a non-blocking socket may close */
};

struct peer_list {
    struct peer_list *previous; /* another thread may still search it */
    size_t count;
    struct address_range ranges[]; /* folded */
};

static struct peer_list *_Atomic peers;

/* The number of closed connections. accept() may run in a signal handler, so they are only counted
 * there, and printed later. */
static atomic_ulong closed_count;
static atomic_flag has_first = ATOMIC_FLAG_INIT;
static struct in6_addr first;

static bool is_peer(const struct peer_list *list, const struct sockaddr *from)
{
    struct in6_addr address;

    if (!list || !address_map(from, &address) ||
        address_ranges_contain(list->ranges, list->count, &address))
        return true;
    if (!atomic_flag_test_and_set(&has_first))
        first = address;
    atomic_fetch_add(&closed_count, 1);
    return false;
}

struct listeners {
    const struct peer_list *list;
    in_port_t ports[PORTS];
    size_t count;
};

static void add_listener(int socket, void *context)
{
    struct listeners *listeners = context;
    struct sockaddr_in6 own; /* its port is at the same offset as in sockaddr_in */
    socklen_t size = sizeof own, length = sizeof(int);
    int is_listener = 0;

    if (getsockopt(socket, SOL_SOCKET, SO_ACCEPTCONN, &is_listener, &length) == 0 && is_listener &&
        getsockname(socket, (struct sockaddr *)&own, &size) == 0 &&
        (own.sin6_family == AF_INET || own.sin6_family == AF_INET6) && listeners->count < PORTS)
        listeners->ports[listeners->count++] = own.sin6_port;
}

static void shut_foreign(int socket, void *context)
{
    const struct listeners *listeners = context;
    struct sockaddr_storage other;
    struct sockaddr_in6 own;
    socklen_t own_size = sizeof own, other_size = sizeof other;
    bool was_accepted = false;

    if (getpeername(socket, (struct sockaddr *)&other, &other_size) != 0 ||
        getsockname(socket, (struct sockaddr *)&own, &own_size) != 0)
        return;
    for (size_t i = 0; i < listeners->count; i++)
        was_accepted |= own.sin6_port == listeners->ports[i];
    if (was_accepted && !is_peer(listeners->list, (struct sockaddr *)&other))
        shutdown(socket, SHUT_RDWR); /* the library owns the socket and closes it */
}

/* Folds the `count` ranges of list and makes it current. The list is never freed. */
static void set_peer_list(struct peer_list *list, size_t count)
{
    struct listeners listeners = {.list = list};

    list->count = address_ranges_fold(list->ranges, count, SIZE_MAX);
    list->previous = atomic_load(&peers);
    atomic_store(&peers, list);
    sockets_each(add_listener, &listeners);
    sockets_each(shut_foreign, &listeners);
}

int peers_set(const struct in6_addr *addresses, size_t count)
{
    struct peer_list *list = malloc(sizeof *list + count * sizeof *list->ranges);

    if (!list)
        return -1;
    for (size_t i = 0; i < count; i++)
        list->ranges[i] = (struct address_range){addresses[i], addresses[i]};
    set_peer_list(list, count);
    return 0;
}

void peers_read_environment(void)
{
    const char *text = getenv(PEERS_VARIABLE);
    struct address_range *ranges = NULL;
    struct in6_addr *own = NULL;
    size_t count = 0, own_count = 0;
    struct peer_list *list = NULL;

    if (!text || !*text)
        return;
    if (address_ranges_parse(text, &ranges, &count) == 0 && (own_count = addresses_own(&own)) > 0)
        list = malloc(sizeof *list + (count + own_count) * sizeof *list->ranges);
    if (list) {
        if (count > 0)
            memcpy(list->ranges, ranges, count * sizeof *ranges);
        for (size_t i = 0; i < own_count; i++)
            list->ranges[count + i] = (struct address_range){own[i], own[i]};
        set_peer_list(list, count + own_count);
    }
    free(ranges);
    free(own);
    unsetenv(PEERS_VARIABLE);
}

void peers_report(const char *program, const char *node)
{
    unsigned long count = atomic_load(&closed_count);
    char address[INET6_ADDRSTRLEN];

    if (count == 0)
        return;
    if (IN6_IS_ADDR_V4MAPPED(&first))
        inet_ntop(AF_INET, &first.s6_addr[12], address, sizeof address);
    else
        inet_ntop(AF_INET6, &first, address, sizeof address);
    fprintf(stderr, "%s: %s: %lu connection%s from outside this run's nodes closed (first: %s)\n",
            program, node, count, text_plural(count), address);
}

/* These export accept() by an asm name, since glibc declares its parameter as a union. They call
 * the kernel directly, and so need neither a lock of the loader nor the state of a wrapper. */
int peers_accept4(int socket, struct sockaddr *from, socklen_t *size, int flags) __asm__("accept4")
    __attribute__((visibility("default")));
int peers_accept(int socket, struct sockaddr *from, socklen_t *size) __asm__("accept")
    __attribute__((visibility("default")));

int peers_accept4(int socket, struct sockaddr *from, socklen_t *size, int flags)
{
    for (int refused = 0;; refused++) {
        struct sockaddr_storage other = {.ss_family = AF_UNSPEC};
        socklen_t length = sizeof other;
        int fd = (int)syscall(SYS_accept4, socket, &other, &length, flags);

        if (fd < 0)
            return -1;
        if (is_peer(atomic_load(&peers), (struct sockaddr *)&other)) {
            if (from && size) {
                memcpy(from, &other, *size < length ? *size : length);
                *size = length;
            }
            return fd;
        }
        close(fd);
        if (refused >= CLOSED_A_CALL && fcntl(socket, F_GETFL) & O_NONBLOCK) {
            errno = EAGAIN;
            return -1;
        }
    }
}

int peers_accept(int socket, struct sockaddr *from, socklen_t *size)
{
    return peers_accept4(socket, from, size, 0);
}
