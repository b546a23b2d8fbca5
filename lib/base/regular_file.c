/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/read_all.h"

static int open_regular(const char *path, int flags, struct error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
    struct stat status;
    int saved_errno;

    if (fd < 0)
        return error_set(err, "%s: %m", path);
    if (fstat(fd, &status) != 0) {
        error_set(err, "%s: %m", path);
    } else if (S_ISREG(status.st_mode)) {
        return fd;
    } else {
        errno = EINVAL;
        error_set(err, "%s: is not a regular file", path);
    }
    saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return -1;
}

int regular_file_open(const char *path, struct error *err)
{
    return open_regular(path, 0, err);
}

static int read_text(int fd, const char *path, size_t size_max, char **text, struct error *err)
{
    struct stat status;
    ssize_t length;

    if (fstat(fd, &status) != 0)
        return error_set(err, "%s: %m", path);
    if (status.st_size > (off_t)size_max) {
        errno = EINVAL;
        return error_set(err, "%s: found %lld bytes, allowed %zu", path, (long long)status.st_size,
                         size_max);
    }
    *text = malloc((size_t)status.st_size + 1);
    if (!*text)
        return error_set(err, "%s: no memory", path);
    length = read_all(fd, *text, (size_t)status.st_size);
    if (length < 0)
        return error_set(err, "%s: %m", path);
    (*text)[length] = '\0';
    if (strlen(*text) != (size_t)length) {
        errno = EINVAL;
        return error_set(err, "%s: found a NUL byte: not a text file", path);
    }
    return 0;
}

static int read_and_close(int fd, const char *path, size_t size_max, char **text, struct error *err)
{
    int result = read_text(fd, path, size_max, text, err);

    close(fd);
    if (result != 0) {
        free(*text);
        *text = NULL;
    }
    return result;
}

int regular_file_read(const char *path, size_t size_max, char **text, struct error *err)
{
    int fd = regular_file_open(path, err);

    *text = NULL;
    if (fd < 0)
        return errno == ENOENT ? 1 : -1;
    return read_and_close(fd, path, size_max, text, err);
}

int regular_file_read_trusted(const char *path, uid_t owner, size_t size_max, char **text,
                              struct error *err)
{
    int fd = open_regular(path, O_NOFOLLOW, err);
    struct stat status;

    *text = NULL;
    if (fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 1 : -1;
    if (fstat(fd, &status) == 0 && status.st_uid == owner &&
        !(status.st_mode & (S_IWGRP | S_IWOTH)))
        return read_and_close(fd, path, size_max, text, err);
    close(fd);
    return error_set(err, "%s: expected a file owned by uid %lu and writable by nobody else", path,
                     (unsigned long)owner);
}

bool is_special(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}
