/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_HUNG_MOUNT_H
#define MUSTER_TESTS_HUNG_MOUNT_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "tests/unit/tap.h"

/* Mounts a FUSE file system that no process serves: a process that accesses it waits in the kernel,
 * as if a file server did not answer. For a test in its own mount namespace. Returns the device, to
 * be closed after umount2(), or -1. */
static int hung_mount(const char *path)
{
    char options[96];
    int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
    if (fd >= 0 && mount("nobody", path, "fuse", 0, options) == 0)
        return fd;
    tap_diag("fuse: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

#endif
