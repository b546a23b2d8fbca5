/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/segments.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/tap.h"

/* Connects over the loopback. Returns 0 with the two ends. */
static int connect_loopback(int *near, int *far)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    *near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *far = -1;
    if (listener >= 0 && bind(listener, (struct sockaddr *)&address, length) == 0 &&
        listen(listener, 1) == 0 &&
        getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
        connect(*near, (struct sockaddr *)&address, length) == 0)
        *far = accept(listener, NULL, NULL);
    close(listener);
    return *far < 0 ? -1 : 0;
}

int main(void)
{
    struct segments before, after, found;
    char data[1000];
    int near, far;

    memset(data, 1, sizeof data);
    segments_read("lo", &before);
    is_int((long)before.sent, 0, "no connection: nothing is sent");
    if (connect_loopback(&near, &far) != 0)
        tap_skip_all("no TCP on the loopback");
    for (int i = 0; i < 10; i++)
        if (write(near, data, sizeof data) != sizeof data ||
            read(far, data, sizeof data) != sizeof data)
            tap_diag("no data");
    segments_read("lo", &after);
    segments_between(&before, &after, &found);
    ok(found.sent >= 10, "ten writes are at least ten segments, found %g", found.sent);
    is_int((long)found.lost, 0, "none was lost");
    segments_read("no-such-interface", &found);
    is_int((long)found.sent, 0, "an interface that does not exist sent nothing");
    segments_read(NULL, &found);
    is_int((long)found.sent, 0, "no interface sent nothing");
    close(near);
    close(far);
    segments_read("lo", &found);
    segments_between(&after, &found, &found);
    is_int((long)found.sent, 0, "the counts of a closed connection are gone");
    return tap_done();
}
