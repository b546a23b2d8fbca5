/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REGULAR_FILE_H
#define MUSTER_REGULAR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Regular files, where a name may stand for something else: a FIFO, which would be waited for, a
 * device, a directory. */

/* Opens a regular file to be read. Returns the descriptor, or -1 with errno (EINVAL: no regular
 * file) and err "PATH: ...". */
int regular_file_open(const char *path, struct error *err);

/* The whole of a regular file of at most size_max bytes without a NUL, malloc'd with one behind.
 * Returns 0; 1 when there is no such file (err says so); -1 with errno (EINVAL: it is another kind
 * of file) and err "PATH: ...". */
int regular_file_read(const char *path, size_t size_max, char **text, struct error *err);

/* The same of a file that nobody but its owner can have written, and no link to one; 1 also when
 * its directory is none. */
int regular_file_read_trusted(const char *path, uid_t owner, size_t size_max, char **text,
                              struct error *err);

/* Whether the path, or what it links to, is there and no regular file. */
bool is_special(const char *path);

#endif
