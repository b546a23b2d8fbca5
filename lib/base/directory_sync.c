/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/directory_sync.h"

#include <fcntl.h>
#include <unistd.h>

int directory_sync(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), rv = 0;

    if (fd < 0 || fsync(fd) != 0)
        rv = error_set(err, "%s: %m", path);
    if (fd >= 0)
        close(fd);
    return rv;
}
