/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/node/device.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/sysfs.h"

int device_access(const char *root, const char *file)
{
    char path[SYSFS_PATH];
    struct stat status;

    if (root && root[0] && root[1] && !sysfs_exists(root, "dev"))
        return -1;
    if (sysfs_path(root, path, sizeof path, "%s", file + (file[0] == '/')) < 0)
        return -1;
    if (stat(path, &status) == 0) {
        if (!S_ISCHR(status.st_mode))
            return ENODEV;
        if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS) == 0)
            return 0;
    }
    switch (errno) {
    case EACCES:
    case EPERM:
    case ENOENT:
    case ENOTDIR:
    case ENXIO:
    case ENODEV:
    case EROFS:
        return errno;
    default:
        return -1;
    }
}
