/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool path_directory(const char *path, char *directory, size_t size)
{
    const char *slash = strrchr(path, '/');

    return slash && slash != path &&
           snprintf(directory, size, "%.*s", (int)(slash - path), path) < (int)size;
}

bool path_beside(const char *path, const char *name, char *beside, size_t size)
{
    const char *slash = strrchr(path, '/');

    return slash && snprintf(beside, size, "%.*s/%s", (int)(slash - path), path, name) < (int)size;
}

void path_make_directory(const char *path)
{
    char directory[PATH_MAX];
    int fd;

    if (!path_directory(path, directory, sizeof directory) || mkdir(directory, 0755) != 0 ||
        geteuid() != 0)
        return;
    fd = open(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0) {
        (void)!fchmod(fd, 0755);
        close(fd);
    }
}
