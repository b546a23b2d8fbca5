/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_REGULAR_FILE_H
#define MUSTER_REGULAR_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Opens and reads only regular files. A path may also be a FIFO, on which an open would wait, a
 * device or a directory. */

/* Opens a regular file for reading. Returns the descriptor, or -1 with errno (EINVAL: not a regular
 * file) and err "PATH: ...". */
int regular_file_open(const char *path, struct error *err);

/* Reads a regular file of at most size_max bytes without a NUL byte. *text is malloc'd and ends
 * with a NUL. Returns 0, 1 with err if there is no such file, or -1 with errno (EINVAL: it is
 * another kind of file) and err "PATH: ...". */
int regular_file_read(const char *path, size_t size_max, char **text, struct error *err);

/* As regular_file_read(), but only for a file of owner that nobody else may write to, and that is
 * not a symbolic link. Returns 1 also if the path's directory is not a directory. */
int regular_file_read_trusted(const char *path, uid_t owner, size_t size_max, char **text,
                              struct error *err);

/* Returns whether the path exists, after links, and is not a regular file. */
bool is_special(const char *path);

#endif
