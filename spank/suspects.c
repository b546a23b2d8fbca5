/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/suspects.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/path.h"
#include "lib/constants/node_constants.h"
#include "spank/deadline.h"

static const char
    parent[] = "/run/muster",
    path[] = "/run/muster/suspects",
    /* the mode of the mount's root directory: anybody may leave a file, only root lists them */
    options[] = "mode=1733,size=1m,nr_inodes=1024";

/* The state of the directory: not there, a plain directory, or a mounted file system. */
enum directory_state { ABSENT, PLAIN, MOUNTED };

static enum directory_state directory_state_read(void)
{
    struct stat outer, inner;

    if (lstat(parent, &outer) != 0 || lstat(path, &inner) != 0 || !S_ISDIR(inner.st_mode))
        return ABSENT;
    return outer.st_dev == inner.st_dev ? PLAIN : MOUNTED;
}

static void make_directory(void *unused)
{
    (void)unused;
    if (access(MUSTER_LOCALSTATEDIR "/lib/muster", F_OK) != 0)
        return;
    /* No race with a user between the calls: the directory above belongs to root. */
    path_make_directory(path);
    mkdir(path, 0700);
    if (directory_state_read() == PLAIN)
        mount("muster-suspects", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
}

void suspects_directory_make(void)
{
    if (directory_state_read() != MOUNTED)
        deadline_try(SUSPECTS_DEADLINE_MS, make_directory, NULL);
}
