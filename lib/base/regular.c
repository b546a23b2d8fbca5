/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

int regular_open(const char *path, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    struct stat status;

    if (fd < 0)
        return error_set(err, "%s: %m", path);
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
        return fd;
    close(fd);
    errno = EINVAL;
    return error_set(err, "%s: is no regular file", path);
}

FILE *regular_fopen(const char *path, struct error *err)
{
    int fd = regular_open(path, err);
    FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;

    if (fd >= 0 && !stream) {
        error_set(err, "%s: %m", path);
        close(fd);
    }
    return stream;
}

bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}
