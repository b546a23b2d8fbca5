/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/watch/beat.h"

#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

/* How gladly an interface's address is offered: the preferred interface, others, loopback. */
static int order_of(const struct ifaddrs *entry, const char *interface)
{
    if (interface && *interface && strcmp(entry->ifa_name, interface) == 0)
        return 0;
    return entry->ifa_flags & IFF_LOOPBACK ? 2 : 1;
}

static int address_of(const struct ifaddrs *entry, struct sockaddr_in6 *address)
{
    const struct sockaddr *found = entry->ifa_addr;

    if (!found || !(entry->ifa_flags & IFF_UP))
        return -1;
    if (found->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)found;

        *address = (struct sockaddr_in6){.sin6_family = AF_INET6};
        address->sin6_addr.s6_addr[10] = address->sin6_addr.s6_addr[11] = 0xff;
        memcpy(&address->sin6_addr.s6_addr[12], &in->sin_addr, 4);
        return 0;
    }
    if (found->sa_family == AF_INET6) {
        memcpy(address, found, sizeof *address);
        return IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr) ? -1 : 0;
    }
    return -1;
}

static int list_addresses(const char *interface, in_port_t port, struct beat_endpoint *endpoint,
                          struct error *err)
{
    struct ifaddrs *all;

    if (getifaddrs(&all) != 0)
        return error_set(err, "cannot list the addresses of this node: %m");
    for (int order = 0; order <= 2; order++) {
        for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
            struct sockaddr_in6 address;

            if (endpoint->address_count == BEAT_ADDRESSES)
                break;
            if (order_of(entry, interface) != order || address_of(entry, &address) != 0)
                continue;
            address.sin6_port = port;
            endpoint->addresses[endpoint->address_count++] = address;
        }
    }
    freeifaddrs(all);
    return endpoint->address_count > 0 ? 0 : error_set(err, "this node has no address");
}

int beat_listen(const char *interface, struct beat_endpoint *endpoint, struct error *err)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int both = 0, fd;

    memset(endpoint, 0, sizeof *endpoint);
    if (getrandom(&endpoint->token, sizeof endpoint->token, 0) != sizeof endpoint->token)
        return error_set(err, "no random number: %m");
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
        if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) { /* a kernel without IPv6 */
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0 || bind(fd, (struct sockaddr *)&any4, sizeof any4) != 0)
            goto fail;
    }
    if (listen(fd, SOMAXCONN) != 0 || getsockname(fd, (struct sockaddr *)&bound, &length) != 0)
        goto fail;
    if (list_addresses(interface, ((struct sockaddr_in6 *)&bound)->sin6_port, endpoint, err) != 0) {
        close(fd);
        return -1;
    }
    return fd;
fail:
    error_set(err, "cannot listen: %m");
    if (fd >= 0)
        close(fd);
    return -1;
}

static int connect_one(const struct sockaddr_in6 *address, int timeout_ms)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = address->sin6_port};
    bool is_mapped = IN6_IS_ADDR_V4MAPPED(&address->sin6_addr);
    int fd = socket(is_mapped ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int error = 0, on = 1, result;
    socklen_t length = sizeof error;

    if (fd < 0)
        return -1;
    memcpy(&in.sin_addr, &address->sin6_addr.s6_addr[12], 4);
    if (is_mapped)
        result = connect(fd, (struct sockaddr *)&in, sizeof in);
    else
        result = connect(fd, (const struct sockaddr *)address, sizeof *address);
    if (result != 0 && errno == EINPROGRESS) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};

        if (poll(&wait, 1, timeout_ms) != 1)
            error = ETIMEDOUT;
        else
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
    } else if (result != 0) {
        error = errno;
    }
    if (error) {
        close(fd);
        errno = error;
        return -1;
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return fd;
}

/* Another process of the same address, a loopback one above all, may answer: the warden's own
 * greeting proves that it is the right one. */
static int greet(int fd, const struct beat_endpoint *endpoint, int rank, const char *node,
                 int timeout_ms)
{
    struct beat hello = {.type = BEAT_HELLO, .rank = rank, .token = endpoint->token};
    struct beat_buffer answer = {.length = 0};
    struct pollfd wait = {.fd = fd, .events = POLLIN};

    snprintf(hello.text, sizeof hello.text, "%s", node);
    if (beat_send(fd, &hello) != 0)
        return -1;
    while (poll(&wait, 1, timeout_ms) == 1) {
        int got = beat_receive(fd, &answer);

        if (got < 0)
            return -1;
        if (got == 1)
            return answer.beat.type == BEAT_HELLO && answer.beat.token == endpoint->token ? 0 : -1;
    }
    errno = ETIMEDOUT;
    return -1;
}

int beat_connect(const struct beat_endpoint *endpoint, int rank, const char *node, int timeout_ms,
                 struct error *err)
{
    for (uint32_t i = 0; i < endpoint->address_count && i < BEAT_ADDRESSES; i++) {
        int fd = connect_one(&endpoint->addresses[i], timeout_ms);

        if (fd < 0)
            continue;
        if (greet(fd, endpoint, rank, node, timeout_ms) == 0)
            return fd;
        close(fd);
    }
    return error_set(err, "no answer from rank 0 on any of its %u addresses: %m",
                     endpoint->address_count);
}

int beat_send(int socket, const struct beat *beat)
{
    return send(socket, beat, sizeof *beat, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *beat
               ? 0
               : -1;
}

int beat_receive(int socket, struct beat_buffer *buffer)
{
    ssize_t got;

    if (buffer->length == sizeof buffer->beat)
        buffer->length = 0;
    got = recv(socket, (char *)&buffer->beat + buffer->length, sizeof buffer->beat - buffer->length,
               MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got == 0)
        return -1;
    buffer->length += (size_t)got;
    if (buffer->length < sizeof buffer->beat)
        return 0;
    buffer->beat.text[sizeof buffer->beat.text - 1] = '\0';
    return 1;
}
