/* SPDX-License-Identifier: Apache-2.0 */
/* Connections from outside the run's nodes are closed before a library reads a byte. Here the
 * nodes' addresses are 127.0.0.1 and ::1. All other addresses of 127.0.0.0/8 are outside. The
 * test needs no privilege. */
#define _GNU_SOURCE
#include "config.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/address_ranges.h"
#include "tests/unit/tap.h"
#include "validate/harness/watch/peers.h"

enum { NODE = 0x7f000001, OTHER = 0x7f000005, THREADS = 4, PEERS = 40, OTHERS = 200 };

static struct sockaddr_in listener_address = {.sin_family = AF_INET};

static int serve_tcp(int flags)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
    socklen_t size = sizeof listener_address;

    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) != 0 || listen(fd, 1024) != 0 ||
        getsockname(fd, (struct sockaddr *)&listener_address, &size) != 0)
        tap_skip_all("cannot listen");
    listener_address.sin_addr.s_addr = htonl(NODE);
    return fd;
}

static int connect_from(uint32_t from)
{
    struct sockaddr_in source = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(from)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (bind(fd, (struct sockaddr *)&source, sizeof source) != 0 ||
        connect(fd, (struct sockaddr *)&listener_address, sizeof listener_address) != 0)
        tap_skip_all("cannot connect from 127.0.0.0/8");
    return fd;
}

/* Returns whether the other end closed the connection: end of file, or a reset. Waits up to
 * wait_ms. */
static bool is_closed(int fd, int wait_ms)
{
    struct pollfd polled = {.fd = fd, .events = POLLIN};
    ssize_t got;
    char byte;

    if (poll(&polled, 1, wait_ms) != 1)
        return false;
    got = recv(fd, &byte, 1, MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

/* Before any rank reported, the list comes from the step's environment. */
static void check_environment(void)
{
    int listener, other, node, second, fd;

    setenv(PEERS_VARIABLE, "10.9.9.9 nonsense", 1);
    peers_read_environment();
    ok(!getenv(PEERS_VARIABLE), "the variable is removed from the environment");
    listener = serve_tcp(SOCK_NONBLOCK);
    node = connect_from(NODE);
    fd = accept(listener, NULL, NULL);
    ok(fd >= 0, "an invalid list has no effect");
    close(fd);
    close(node);
    setenv(PEERS_VARIABLE, "127.0.0.6-127.0.0.9 fe80::-fe80::ffff:ffff:ffff:ffff", 1);
    peers_read_environment();
    other = connect_from(OTHER);
    node = connect_from(OTHER + 2);
    fd = accept(listener, NULL, NULL);
    ok(fd >= 0 && is_closed(other, 5000) && !is_closed(node, 0),
       "an address in no range is closed, and the next one is accepted");
    close(fd);
    second = connect_from(NODE);
    fd = accept(listener, NULL, NULL);
    ok(fd >= 0, "this node's own address is accepted, though no range has it");
    close(fd);
    close(second);
    close(node);
    close(other);
    close(listener);
}

static void check_earlier_connections(void)
{
    int listener = serve_tcp(0), other = connect_from(OTHER), node = connect_from(NODE), elsewhere,
        to_other;
    int first = accept(listener, NULL, NULL), second = accept(listener, NULL, NULL);
    struct sockaddr_in target = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(OTHER)};
    struct in6_addr nodes[3] = {IN6ADDR_LOOPBACK_INIT};
    socklen_t size = sizeof target;

    ok(first >= 0 && second >= 0, "without a list all are accepted");
    elsewhere = socket(AF_INET, SOCK_STREAM, 0);
    to_other = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(elsewhere, (struct sockaddr *)&target, sizeof target) != 0 ||
        listen(elsewhere, 1) != 0 || getsockname(elsewhere, (struct sockaddr *)&target, &size) != 0)
        tap_skip_all("cannot listen");
    connect(to_other, (struct sockaddr *)&target, sizeof target);
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &nodes[1]);
    nodes[2] = nodes[1];
    is_int(peers_set(nodes, 3), 0, "the run's addresses are set");
    ok(is_closed(other, 5000), "... a connection from outside that was accepted before is closed");
    ok(!is_closed(node, 0), "... one from a node is not");
    ok(!is_closed(to_other, 0), "... nor is one that this process made");
    close(first);
    close(second);
    close(other);
    close(node);
    close(elsewhere);
    close(to_other);
    close(listener);
}

static void check_accept(void)
{
    int listener = serve_tcp(SOCK_NONBLOCK), other = connect_from(OTHER), node, fd;
    struct sockaddr_in from;
    socklen_t size = sizeof from;
    Dl_info info;

    errno = 0;
    is_int(accept(listener, NULL, NULL), -1, "a connection from outside is not accepted");
    is_int(errno, EAGAIN, "... as if there were none");
    ok(is_closed(other, 5000), "... and is closed at once");
    close(other);
    other = connect_from(OTHER);
    node = connect_from(NODE);
    fd = accept4(listener, (struct sockaddr *)&from, &size, SOCK_CLOEXEC);
    ok(fd >= 0, "the same call accepts the next connection, from a node");
    ok(from.sin_family == AF_INET && ntohl(from.sin_addr.s_addr) == NODE && size == sizeof from,
       "... with its address");
    is_int(fcntl(fd, F_GETFD), FD_CLOEXEC, "... and its flags");
    close(fd);
    size = 4;
    close(node);
    node = connect_from(NODE);
    memset(&from, 0x5a, sizeof from);
    fd = accept(listener, (struct sockaddr *)&from, &size);
    ok(fd >= 0 && size == sizeof from && from.sin_addr.s_addr == 0x5a5a5a5a,
       "an address is cut to the given size");
    close(fd);
    close(node);
    close(other);
    close(listener);
    errno = 0;
    is_int(accept(-1, NULL, NULL), -1, "an error");
    is_int(errno, EBADF, "... has its errno");
    ok(dladdr(dlsym(RTLD_DEFAULT, "accept"), &info) != 0 && strstr(info.dli_fname, "peers") != NULL,
       "libraries find this program's accept()");
    ok(dladdr(dlsym(RTLD_DEFAULT, "accept4"), &info) != 0 &&
           strstr(info.dli_fname, "peers") != NULL,
       "... and accept4()");
}

static void check_families(void)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_ANY_INIT};
    struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = ""};
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0), caller, fd;
    socklen_t size = sizeof name;

    caller = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&name, sizeof(sa_family_t));
    getsockname(listener, (struct sockaddr *)&name, &size);
    listen(listener, 1);
    connect(caller, (struct sockaddr *)&name, size);
    fd = accept(listener, NULL, NULL);
    ok(fd >= 0, "a local socket has no address to check");
    close(fd);
    close(caller);
    close(listener);
    listener = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK, 0);
    size = sizeof six;
    if (bind(listener, (struct sockaddr *)&six, sizeof six) != 0 || listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&six, &size) != 0) {
        ok(true, "no IPv6 here # SKIP");
        close(listener);
        return;
    }
    listener_address.sin_port = six.sin6_port;
    caller = connect_from(OTHER);
    is_int(accept(listener, NULL, NULL), -1,
           "an IPv4 address from outside is refused at an IPv6 socket");
    close(caller);
    caller = connect_from(NODE);
    fd = accept(listener, NULL, NULL);
    ok(fd >= 0, "... one of a node is accepted");
    close(fd);
    close(caller);
    close(listener);
}

static int shared_listener, accepted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count_accepted(int fd)
{
    close(fd);
    accepted++;
}

static void *accept_some(void *argument)
{
    int fd;

    while ((fd = accept(shared_listener, NULL, NULL)) >= 0) {
        pthread_mutex_lock(&lock);
        count_accepted(fd);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void accept_in_handler(int number)
{
    int saved = errno, fd = accept(shared_listener, NULL, NULL);

    if (fd >= 0)
        count_accepted(fd);
    errno = saved;
}

static void check_many_connections(void)
{
    int fds[OTHERS + PEERS], calls = 0, closed = 0, fd;
    pthread_t threads[THREADS];

    shared_listener = serve_tcp(SOCK_NONBLOCK);
    for (int i = 0; i < OTHERS; i++)
        fds[i] = connect_from(OTHER);
    do {
        fd = accept(shared_listener, NULL, NULL);
        calls++;
        for (closed = 0; closed < OTHERS && is_closed(fds[closed], 0);)
            closed++;
    } while (fd < 0 && closed < OTHERS && calls < 20);
    ok(fd < 0 && closed == OTHERS && calls > 1 && calls < 20,
       "200 connections from outside block no thread: %d calls close %d", calls, closed);
    for (int i = 0; i < OTHERS; i++)
        close(fds[i]);
    for (int i = 0; i < OTHERS + PEERS; i++)
        fds[i] = connect_from(i % 6 == 5 ? NODE : OTHER);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, accept_some, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 10; i++)
        accept_some(NULL);
    is_int(accepted, PEERS, "with four threads each connection of a node is accepted once");
    for (int i = 0; i < OTHERS + PEERS; i++)
        close(fds[i]);
    accepted = 0;
    signal(SIGUSR1, accept_in_handler);
    for (int i = 0; i < 10; i++)
        fds[i] = connect_from(i % 2 ? NODE : OTHER);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
    is_int(accepted, 5, "... and in a signal handler");
    for (int i = 0; i < 10; i++)
        close(fds[i]);
    close(shared_listener);
}

static void check_own_addresses(void)
{
    struct in6_addr *own, loopback = IN6ADDR_ANY_INIT;
    size_t own_count = addresses_own(&own), found = 0;

    inet_pton(AF_INET6, "::ffff:127.0.0.1", &loopback);
    for (size_t i = 0; i < own_count; i++)
        found += memcmp(&own[i], &loopback, sizeof loopback) == 0;
    is_int((long)found, 1, "this node's addresses have its loopback");
    free(own);
}

int main(void)
{
    alarm(60);
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        tap_skip_all("cannot give root up");
    check_own_addresses();
    check_earlier_connections();
    check_accept();
    check_families();
    check_many_connections();
    check_environment();
    return tap_done();
}
