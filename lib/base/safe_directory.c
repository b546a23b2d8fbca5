/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/safe_directory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Of a file that is there: as safe_file_find() returns it. */
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
