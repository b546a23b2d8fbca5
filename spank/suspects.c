/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "spank/suspects.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char
    above[] = "/run/muster",
    path[] = "/run/muster/suspects",
    /* the mode is for its root: anybody may leave a file, nobody but root lists them */
    options[] = "mode=1733,size=1m,nr_inodes=1024";

void suspects_directory_make(void)
{
    struct stat outer, inner;

    if (access(MUSTER_LOCALSTATEDIR "/lib/muster", F_OK) != 0)
        return;
    /* Nobody can put anything else there in between: the directory above is root's. */
    mkdir(above, 0755);
    mkdir(path, 0700);
    if (lstat(above, &outer) == 0 && lstat(path, &inner) == 0 && S_ISDIR(inner.st_mode) &&
        outer.st_dev == inner.st_dev)
        mount("muster-suspects", path, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, options);
}
