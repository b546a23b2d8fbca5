/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/heartbeat.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/address_ranges.h"
#include "lib/base/clock.h"

static char secret[128]; /* of the run; "" if there is none */

void heartbeat_read_secret(void)
{
    char *found = getenv("MUSTER_SECRET");

    if (!found)
        return;
    snprintf(secret, sizeof secret, "%s", found);
    memset(found, 0, strlen(found)); /* in /proc/self/environ too */
    unsetenv("MUSTER_SECRET");
}

void heartbeat_key(const struct heartbeat_endpoint *endpoint, unsigned char key[SHA256_BYTES])
{
    hmac_sha256(secret, strlen(secret), endpoint->token, HEARTBEAT_TOKEN_BYTES, key);
}

/* Returns the rank of an interface's addresses in the endpoint: 0 for the preferred interface, 1
 * for others, 2 for loopback. */
static int preference_of(const struct ifaddrs *entry, const char *interface)
{
    if (interface && *interface && strcmp(entry->ifa_name, interface) == 0)
        return 0;
    return entry->ifa_flags & IFF_LOOPBACK ? 2 : 1;
}

static int address_of(const struct ifaddrs *entry, struct sockaddr_in6 *address)
{
    *address = (struct sockaddr_in6){.sin6_family = AF_INET6};
    return entry->ifa_addr && entry->ifa_flags & IFF_UP &&
                   address_map(entry->ifa_addr, &address->sin6_addr) &&
                   !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr)
               ? 0
               : -1;
}

static int list_addresses(const char *interface, bool is_only, struct heartbeat_endpoint *endpoint,
                          struct error *err)
{
    struct ifaddrs *all;

    if (getifaddrs(&all) != 0)
        return error_set(err, "cannot list the addresses of this node: %m");
    for (int order = 0; order <= 2; order++) {
        for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
            struct sockaddr_in6 address;

            if (endpoint->address_count == (is_only && order == 0 ? 1 : HEARTBEAT_ADDRESSES))
                break;
            if (preference_of(entry, interface) != order || address_of(entry, &address) != 0)
                continue;
            endpoint->addresses[endpoint->address_count++] = address;
        }
        if (is_only && order == 0 && endpoint->address_count > 0)
            break;
    }
    freeifaddrs(all);
    return endpoint->address_count > 0 ? 0 : error_set(err, "this node has no address");
}

/* Listens on address; NULL: on all addresses, IPv4 included. Returns the socket, or -1 with errno.
 */
static int listen_on(const struct sockaddr_in6 *address)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_in any4 = {.sin_family = AF_INET};
    int both = 0, fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (address)
        any = *address;
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
        if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd < 0) { /* a kernel without IPv6 */
        if (address && IN6_IS_ADDR_V4MAPPED(&address->sin6_addr))
            memcpy(&any4.sin_addr, &address->sin6_addr.s6_addr[12], 4);
        fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd >= 0 && bind(fd, (struct sockaddr *)&any4, sizeof any4) != 0) {
            close(fd);
            fd = -1;
        }
    }
    if (fd >= 0 && listen(fd, SOMAXCONN) != 0) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int heartbeat_listen(const char *interface, bool is_only, struct heartbeat_endpoint *endpoint,
                     struct error *err)
{
    struct sockaddr_storage bound;
    socklen_t length = sizeof bound;
    int fd;

    memset(endpoint, 0, sizeof *endpoint);
    if (getrandom(endpoint->token, HEARTBEAT_TOKEN_BYTES, 0) != HEARTBEAT_TOKEN_BYTES)
        return error_set(err, "cannot get a random number: %m");
    is_only = is_only && interface && *interface;
    if (list_addresses(interface, is_only, endpoint, err) != 0)
        return -1;
    fd = listen_on(is_only && endpoint->address_count == 1 ? &endpoint->addresses[0] : NULL);
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&bound, &length) != 0) {
        error_set(err, "cannot listen: %m");
        endpoint->address_count = 0;
        if (fd >= 0)
            close(fd);
        return -1;
    }
    for (uint32_t i = 0; i < endpoint->address_count; i++)
        endpoint->addresses[i].sin6_port = ((struct sockaddr_in6 *)&bound)->sin6_port;
    return fd;
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

/* Repeats until answer_ms are over: when many ranks connect at once, rank 0 may close a pending
 * connection. Another process on the same address, mostly on loopback, may answer; it does not know
 * the secret. */
static int connect_and_authenticate(const struct heartbeat_endpoint *endpoint,
                                    const struct sockaddr_in6 *address, int rank, int timeout_ms,
                                    int answer_ms)
{
    long until_ms = 0;
    unsigned char key[SHA256_BYTES];
    int fd;

    heartbeat_key(endpoint, key);
    do {
        fd = connect_one(address, timeout_ms);
        if (fd < 0)
            return -1;
        if (until_ms == 0)
            until_ms = clock_ms() + answer_ms;
        if (admission_call(fd, key, rank, (int)(until_ms - clock_ms())) == 0)
            return fd;
        close(fd);
        poll(NULL, 0, 20);
    } while (errno == ECONNRESET && clock_ms() < until_ms);
    return -1;
}

int heartbeat_connect(const struct heartbeat_endpoint *endpoint, int rank, int timeout_ms,
                      int answer_ms, struct error *err)
{
    for (uint32_t i = 0; i < endpoint->address_count && i < HEARTBEAT_ADDRESSES; i++) {
        int fd = connect_and_authenticate(endpoint, &endpoint->addresses[i], rank, timeout_ms,
                                          answer_ms);

        if (fd >= 0)
            return fd;
    }
    return error_set(err, "no answer from rank 0 on any of its %u addresses: %m",
                     endpoint->address_count);
}

int heartbeat_send(int socket, const struct heartbeat *heartbeat)
{
    return send(socket, heartbeat, sizeof *heartbeat, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                   (ssize_t)sizeof *heartbeat
               ? 0
               : -1;
}

int heartbeat_receive(int socket, struct heartbeat_buffer *buffer)
{
    ssize_t got;

    if (buffer->length == sizeof buffer->heartbeat)
        buffer->length = 0;
    got = recv(socket, (char *)&buffer->heartbeat + buffer->length,
               sizeof buffer->heartbeat - buffer->length, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got == 0)
        return -1;
    buffer->length += (size_t)got;
    if (buffer->length < sizeof buffer->heartbeat)
        return 0;
    buffer->heartbeat.text[sizeof buffer->heartbeat.text - 1] = '\0';
    return 1;
}
