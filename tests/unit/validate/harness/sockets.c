/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/harness/watch/sockets.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/tap.h"

/* Sends 1000 bytes to this host over a socket of IPv6, to ::1 or to the mapped 127.0.0.1. Returns
 * whether that was possible. */
static bool send_to_self(bool is_mapped)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), both = 0;
    int near = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0), far = -1;
    char data[1000] = {0};

    if (is_mapped) /* ::ffff:127.0.0.1 */
        address.sin6_addr =
            (struct in6_addr){.s6_addr = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}};
    setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    setsockopt(near, IPPROTO_IPV6, IPV6_V6ONLY, &both, sizeof both);
    if (bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
        connect(near, (struct sockaddr *)&address, length) == 0)
        far = accept(listener, NULL, NULL);
    return far >= 0 && send(near, data, sizeof data, MSG_NOSIGNAL) == sizeof data &&
           recv(far, data, sizeof data, MSG_WAITALL) == sizeof data;
}

int main(void)
{
    if (!send_to_self(false) || !send_to_self(true))
        tap_skip_all("no IPv6 on the loopback");
    for (int i = 0; i < 100 && sockets_moved_bytes(-1) < 4000; i++)
        usleep(10000); /* until the acknowledgements are there */
    ok(sockets_moved_bytes(-1) >= 4000, "what a process sends and receives is counted");
    ok(sockets_sent_bytes() == 0, "... but not as sent to other hosts, if it stays on this one");
    return tap_done();
}
