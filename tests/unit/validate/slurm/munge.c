/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/munge.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/fake_clock.h"
#include "tests/unit/tap.h"

/* The clock advances by sleeps only. munged restarts at restart_s. */
static double restart_s;
static int listener = -1;
static struct sockaddr_un socket_address = {.sun_family = AF_UNIX};

static void munged_start(void)
{
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    unlink(socket_address.sun_path);
    if (bind(listener, (struct sockaddr *)&socket_address, sizeof socket_address) != 0 ||
        listen(listener, 1) != 0)
        tap_skip_all("no socket: %m");
}

static void munged_kill(void)
{
    close(listener);
    listener = -1;
}

int __wrap_usleep(useconds_t microseconds)
{
    now_s += microseconds / 1e6;
    if (restart_s > 0 && now_s >= restart_s && listener < 0)
        munged_start();
    return 0;
}

int main(void)
{
    char directory[] = "/tmp/muster-munge-XXXXXX", info[200];
    struct error err = {""};

    if (!mkdtemp(directory))
        tap_skip_all("no directory: %m");
    snprintf(socket_address.sun_path, sizeof socket_address.sun_path, "%s/socket", directory);
    snprintf(info, sizeof info, "ttl=60,socket=%s,x", socket_address.sun_path);
    munge_set_socket("auth/munge", info);
    is_int(munge_wait(&err), 0, "a munged that never ran is not waited for");
    munged_start();
    munge_set_socket("auth/slurm", info);
    munged_kill();
    is_int(munge_wait(&err), 0, "nor is one that Slurm does not use");
    munged_start();
    munge_set_socket("auth/munge", info);
    is_int(munge_wait(&err), 0, "requests are made while munged runs");
    is_int((long)now_s, 0, "... without a wait");
    munged_kill();
    restart_s = 5;
    is_int(munge_wait(&err), 0, "a munged that restarts is waited for");
    ok(now_s >= 5 && now_s < 6, "... until it runs again");
    munged_kill();
    restart_s = 0;
    is_int(munge_wait(&err), -1, "one that stays away is an error");
    has_str(err.text, socket_address.sun_path, "... with its socket in the message");
    ok(now_s >= 5 + MUNGE_WAIT_S && now_s < 7 + MUNGE_WAIT_S, "... after a limited time");
    is_int(munge_wait(NULL), -1, "the next request fails");
    ok(now_s < 7 + MUNGE_WAIT_S, "... at once");
    munged_start();
    is_int(munge_wait(&err), 0, "requests are made again when it is back");
    munged_kill();
    unlink(socket_address.sun_path);
    is_int(munge_wait(&err), -1, "a removed socket is the same");
    rmdir(directory);
    return tap_done();
}
