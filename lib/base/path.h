/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PATH_H
#define MUSTER_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The directory in which an absolute path lies: "/a/b" of "/a/b/c". Returns false where there is no
 * directory but "/", or it does not fit. */
bool path_directory(const char *path, char *directory, size_t size);

/* The file of that name beside an absolute path: "/a/b/name" of "/a/b/c". Returns false where it
 * does not fit. */
bool path_beside(const char *path, const char *name, char *beside, size_t size);

/* Makes the directory in which the path lies, root's for all to read whatever the umask, as others
 * of muster's files are there, too: users leave their suspect reports below /run/muster. A failure
 * shows when the path itself is made. */
void path_make_directory(const char *path);

#endif
