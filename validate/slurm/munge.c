/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/munge.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/clock.h"

static const char default_socket[] = "/run/munge/munge.socket.2", key[] = "socket=";

static char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* "": not watched */
static bool is_gone; /* munged did not return within the wait */

/* Returns whether munged listens. A busy munged counts as listening, and so does one that this user
 * cannot access. */
static bool listens(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool is_there = true;

    memcpy(address.sun_path, path, sizeof path);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        is_there = errno != ENOENT && errno != ECONNREFUSED;
    if (fd >= 0)
        close(fd);
    return is_there;
}

void munge_set_socket(const char *auth_type, const char *auth_info)
{
    const char *named = auth_info ? strstr(auth_info, key) : NULL;

    named = named ? named + strlen(key) : default_socket;
    path[0] = '\0';
    if (!auth_type || strcmp(auth_type, "auth/munge") != 0 || strcspn(named, ",") >= sizeof path)
        return;
    snprintf(path, sizeof path, "%.*s", (int)strcspn(named, ","), named);
    is_gone = false;
    if (!listens())
        path[0] = '\0';
}

int munge_wait(struct error *err)
{
    double begin = clock_s();

    if (!*path)
        return 0;
    while (!listens()) {
        if (is_gone || clock_s() - begin > MUNGE_WAIT_S) {
            is_gone = true;
            return error_set(err,
                             "MUNGE is not running on this host (nothing listens at %s): Slurm "
                             "cannot be queried; next: systemctl start munge",
                             path);
        }
        usleep(100000);
    }
    is_gone = false;
    return 0;
}
