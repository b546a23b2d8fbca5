/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PATH_H
#define MUSTER_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* Formats the directory of an absolute path: "/a/b" for "/a/b/c". Returns false if the directory is
 * "/", or if it does not fit. */
bool path_directory(const char *path, char *directory, size_t size);

/* Formats the path of a file in the same directory: "/a/b/name" for "/a/b/c". Returns false if it
 * does not fit. */
bool path_beside(const char *path, const char *name, char *beside, size_t size);

/* Makes the directory of an absolute path. As root, it gets mode 0755 whatever the umask, as the
 * directory may have other files of muster: users leave suspect reports below /run/muster. If this
 * fails, the caller notices it when it makes the file. */
void path_make_directory(const char *path);

#endif
