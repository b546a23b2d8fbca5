/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ATOMIC_FILE_H
#define MUSTER_ATOMIC_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* A file that is written beside its place under a name of its own, and takes its name when all of
 * it is on the disk: a reader, or who comes after a crash, finds the old one or the new one whole.
 *
 *     if (atomic_file_begin(&file, path, 0666, err) != 0)
 *         return -1;
 *     return text_write(file.stream) == 0 ? atomic_file_commit(&file, err)
 *                                         : atomic_file_discard(&file, err);
 */
struct atomic_file {
    FILE *stream; /* to be written to, or its descriptor, but not to both */
    int fd;

    /* As begin sets them; its caller may set others before the end. */
    mode_t mode;      /* permissions of what was there, else what umask leaves of begin's */
    bool is_unsynced; /* false. True: the end does not wait for the disk */
    bool is_new;      /* false. True: the end takes nobody's name, not even of one who came since */

    bool is_ours;         /* it could not be given the owner or the group of what was there */
    const char *path;     /* the caller's */
    char aside[PATH_MAX]; /* its name until the end; "" when there is none. A signal's handler may
                             unlink() that one */
};

/* Makes the file. Where it takes another's place it has that one's owner and group, as far as they
 * may be given it (is_ours), and none but the owner's permissions until the end. A group that is
 * not that one's gets no permission that not all have. A link is replaced itself, not what it links
 * to. What is there and no regular file, as /dev/null, is left as it is: EINVAL. Returns 0, or -1
 * with errno and err "PATH: ..." and nothing to be ended. */
int atomic_file_begin(struct atomic_file *file, const char *path, mode_t mode, struct error *err);

/* Gives it its permissions and its name, and syncs both, the name as well as the file system can:
 * what the file is made from may be removed. Returns 0, or -1 with errno and err "PATH: ..."; then
 * what was there before is there still, and nothing else. */
int atomic_file_commit(struct atomic_file *file, struct error *err);

/* Takes the file away again. Returns -1 with errno as it was and err "PATH: " and what that errno
 * means. */
int atomic_file_discard(struct atomic_file *file, struct error *err);

/* Removes what processes left that were killed while they wrote the file of that name in the
 * directory, whose path is absolute; with NULL any file there. What is younger than ASIDE_S stays:
 * it may be written now. Best effort. */
void atomic_file_asides_remove(const char *directory, const char *name);

#endif
