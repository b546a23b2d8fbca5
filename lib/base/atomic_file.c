/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/directory_sync.h"
#include "lib/base/sysfs.h"
#include "lib/constants/node_constants.h"

/* As mkostemp(3), but with permissions by the umask. Only the kernel knows the umask; to read it, a
 * process must change it for all threads. */
static int open_temporary(struct atomic_file *file, mode_t mode)
{
    unsigned number;

    do {
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return -1;
        snprintf(file->temporary, sizeof file->temporary, "%s.%08x", file->path, number);
        file->fd = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    } while (file->fd < 0 && errno == EEXIST);
    return file->fd;
}

/* Gives the file the owner and group of the old file. Without permission for that, sets the group
 * only, or neither. */
static void copy_owner(struct atomic_file *file, const struct stat *was, const struct stat *own)
{
    file->mode = was->st_mode & 0777;
    if ((was->st_uid == own->st_uid && was->st_gid == own->st_gid) ||
        fchown(file->fd, was->st_uid, was->st_gid) == 0)
        return;
    file->has_new_owner = true;
    if (was->st_gid != own->st_gid && fchown(file->fd, (uid_t)-1, was->st_gid) != 0)
        file->mode &= 0707 | (was->st_mode & 07) << 3;
}

int atomic_file_begin(struct atomic_file *file, const char *path, mode_t mode, struct error *err)
{
    struct stat status, own;
    bool is_there = stat(path, &status) == 0;

    *file = (struct atomic_file){.fd = -1, .path = path};
    if (is_there && !S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return error_set(err, "%s: is not a regular file", path);
    }
    if (strlen(path) + sizeof ".12345678" > sizeof file->temporary) {
        errno = ENAMETOOLONG;
        return error_set(err, "%.64s...: the path is too long", path);
    }
    if (open_temporary(file, is_there ? 0600 : mode) < 0) {
        file->temporary[0] = '\0';
        return error_set(err, "%s: %m", path);
    }
    if (fstat(file->fd, &own) != 0)
        return atomic_file_discard(file, err);
    copy_owner(file, is_there ? &status : &own, &own);
    file->stream = fdopen(file->fd, "w");
    return file->stream ? 0 : atomic_file_discard(file, err);
}

static int rename_to_path(const struct atomic_file *file)
{
    if (!file->is_new)
        return rename(file->temporary, file->path);
    if (renameat2(AT_FDCWD, file->temporary, AT_FDCWD, file->path, RENAME_NOREPLACE) == 0)
        return 0;
    /* the file system does not support RENAME_NOREPLACE; link(2) does not replace a file either */
    if (errno != EINVAL || link(file->temporary, file->path) != 0)
        return -1;
    unlink(file->temporary);
    return 0;
}

/* Best effort: this process may lack read permission, and some file systems cannot sync
 * directories. */
static void sync_name(const char *path)
{
    char directory[PATH_MAX];

    snprintf(directory, sizeof directory, "%s", path);
    directory_sync(dirname(directory), NULL);
}

int atomic_file_commit(struct atomic_file *file, struct error *err)
{
    FILE *stream = file->stream;
    int failed;

    if (fflush(stream) != 0 || fchmod(file->fd, file->mode) != 0 ||
        (!file->is_unsynced && fsync(file->fd) != 0))
        return atomic_file_discard(file, err);
    if (ferror(stream)) { /* an earlier write failed, and the caller did not check its result */
        errno = EIO;
        return atomic_file_discard(file, err);
    }
    failed = fclose(stream);
    file->stream = NULL;
    file->fd = -1;
    if (failed || rename_to_path(file) != 0)
        return atomic_file_discard(file, err);
    file->temporary[0] = '\0';
    if (!file->is_unsynced)
        sync_name(file->path);
    return 0;
}

int atomic_file_discard(struct atomic_file *file, struct error *err)
{
    int saved = errno;

    error_set(err, "%s: %m", file->path);
    if (file->stream)
        fclose(file->stream);
    else if (file->fd >= 0)
        close(file->fd);
    unlink(file->temporary);
    file->temporary[0] = '\0';
    errno = saved;
    return -1;
}

/* Returns whether candidate is a temporary name of the file `name`; NULL: of any file. */
static bool is_temporary(const char *candidate, const char *name)
{
    const char *dot = strrchr(candidate, '.');

    return dot && strlen(dot) == 9 && strspn(dot + 1, "0123456789abcdef") == 8 &&
           (!name || (strlen(name) == (size_t)(dot - candidate) &&
                      strncmp(candidate, name, strlen(name)) == 0));
}

void atomic_file_remove_temporaries(const char *directory, const char *name)
{
    char **names, path[SYSFS_PATH];
    size_t count = sysfs_names("", &names, "%s", directory + 1);
    time_t now = time(NULL);
    struct stat status;

    for (size_t i = 0; i < count; i++)
        if (is_temporary(names[i], name) &&
            snprintf(path, sizeof path, "%s/%s", directory, names[i]) < (int)sizeof path &&
            lstat(path, &status) == 0 && status.st_mtime < now - ASIDE_S)
            unlink(path);
    sysfs_names_free(names, count);
}
