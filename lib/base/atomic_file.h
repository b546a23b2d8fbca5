/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ATOMIC_FILE_H
#define MUSTER_ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* A file that is written under a temporary name in its directory and renamed when all of it is on
 * the disk. A reader, also after a crash, finds the complete old file or the complete new one.
 *
 *     if (atomic_file_begin(&file, path, 0666, err) != 0)
 *         return -1;
 *     return text_write(file.stream) == 0 ? atomic_file_commit(&file, err)
 *                                         : atomic_file_discard(&file, err);
 */
struct atomic_file {
    FILE *stream; /* write to stream or to fd, its descriptor, but not to both */
    int fd;

    /* atomic_file_begin() sets these; the caller may change them before the commit. */
    mode_t mode;      /* permissions of the old file; without one, begin's mode less the umask */
    bool is_unsynced; /* default false; true: the commit does not wait for the disk */
    bool is_new;      /* default false; true: the commit fails if the file exists by then */

    bool has_new_owner;       /* the file could not get the owner or the group of the old file */
    const char *path;         /* the caller's */
    char temporary[PATH_MAX]; /* the temporary name; "" if there is no file. A signal handler may
                             unlink() it */
};

/* Creates the temporary file. If it replaces another file, it gets that file's owner and group;
 * has_new_owner is set if this process may not do that. Until the commit only the owner has
 * access. If the group cannot be set, this process's own group gets only the permissions that
 * everybody has. Replaces a symbolic link itself, not its target. Replaces only regular files, and
 * not /dev/null: EINVAL. Returns 0, or -1 with errno and err "PATH: ..."; then call neither commit
 * nor discard. */
int atomic_file_begin(struct atomic_file *file, const char *path, mode_t mode, struct error *err);

/* Sets the permissions, syncs the file, renames it to path and syncs the directory (best effort);
 * syncs nothing if is_unsynced. After a success the source of the data may be removed. Returns 0,
 * or -1 with errno and err "PATH: ..."; then the old file is unchanged, and the new one is
 * removed. */
int atomic_file_commit(struct atomic_file *file, struct error *err);

/* Removes the file. Returns -1, with err "PATH: " and the text of errno, which it keeps. */
int atomic_file_discard(struct atomic_file *file, struct error *err);

/* Removes the temporary files that killed processes have left of the file `name` in directory, an
 * absolute path; name NULL: of any file. A temporary file younger than ASIDE_S stays, as it may be
 * in use. Best effort. */
void atomic_file_remove_temporaries(const char *directory, const char *name);

#endif
