/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/safe_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/write_all.h"

int safe_directory(const char *directory, uid_t owner, char real[PATH_MAX], struct error *err)
{
    char above[PATH_MAX];
    struct stat status;

    if (!realpath(directory, real))
        return error_set(err, "%s: %m", directory);
    strcpy(above, real);
    for (;;) {
        char *slash = strrchr(above, '/');

        if (stat(above, &status) != 0)
            return error_set(err, "%s: %m", above);
        if (status.st_uid != 0 && status.st_uid != owner) {
            error_set(err, "the directory %s belongs to uid %lu, expected root's", above,
                      (unsigned long)status.st_uid);
            return 0;
        }
        if (status.st_mode & (S_IWGRP | S_IWOTH) && !(status.st_mode & S_ISVTX)) {
            error_set(err, "the directory %s is writable by others (mode %04o)", above,
                      (unsigned)status.st_mode & 07777);
            return 0;
        }
        if (strcmp(above, "/") == 0)
            return 1;
        slash[slash == above ? 1 : 0] = '\0';
    }
}

/* Checks an existing file. Returns 1, or -1 with err, as safe_file_find(). */
static int check_file(const char *directory, const char *file, struct error *err)
{
    char real[PATH_MAX], target[PATH_MAX];
    struct stat status;
    uid_t owner = geteuid();

    if (safe_directory(directory, owner, real, err) != 1)
        return -1;
    if (!realpath(file, target) || stat(target, &status) != 0)
        return error_set(err, "%s: %m", file);
    if ((status.st_uid != 0 && status.st_uid != owner) || status.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(err, "%s belongs to uid %lu and has mode %04o, expected root's", target,
                         (unsigned long)status.st_uid, (unsigned)status.st_mode & 07777);
    *strrchr(target, '/') = '\0';
    return safe_directory(*target ? target : "/", owner, real, err) == 1 ? 1 : -1;
}

int safe_file_find(const char *path, const char *name, char *file, size_t size, struct error *err)
{
    char directory[PATH_MAX];

    for (const char *rest = path; *rest; rest += strspn(rest, ":")) {
        size_t length = strcspn(rest, ":");

        snprintf(directory, sizeof directory, "%.*s", (int)length, rest);
        rest += length;
        if (snprintf(file, size, "%s/%s", directory, name) < (int)size && access(file, F_OK) == 0)
            return check_file(directory, file, err);
    }
    snprintf(file, size, "%s", name);
    return 0;
}

/* Opens the directory, which must be this user's own, and makes it if it does not exist. Returns a
 * descriptor, or -1 with err. */
static int open_own(const char *directory, struct error *err)
{
    char path[PATH_MAX];
    size_t length = strlen(directory);
    struct stat status;
    int fd;

    /* with a trailing slash open() would follow a link */
    while (length > 1 && directory[length - 1] == '/')
        length--;
    snprintf(path, sizeof path, "%.*s", (int)length, directory);
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return error_set(err, "%s: %m", path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &status) != 0)
        error_set(err, "%s: %m", path);
    else if (status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))
        error_set(err, "%s: belongs to uid %lu and has mode %04o, expected uid %lu and mode 0755",
                  path, (unsigned long)status.st_uid, (unsigned)status.st_mode & 07777,
                  (unsigned long)geteuid());
    else
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int safe_directory_write(const char *directory, const char *name, const char *text,
                         struct error *err)
{
    int at = open_own(directory, err), fd, rv;

    if (at < 0)
        return -1;
    fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    rv = fd < 0 ? -1 : write_all(fd, text, strlen(text));
    if (fd >= 0 && close(fd) != 0)
        rv = -1;
    if (rv != 0)
        error_set(err, "%s/%s: %m", directory, name);
    close(at);
    return rv;
}
