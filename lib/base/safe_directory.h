/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SAFE_DIRECTORY_H
#define MUSTER_SAFE_DIRECTORY_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Two checks of directories.
 * - For an existing file that is to be trusted: could others have put it there? All directories
 *   above it count. A sticky directory such as /tmp is safe, as nobody can replace another user's
 *   file there.
 * - For a file that is to be made: could others have put a link in its place? A sticky directory is
 *   not safe, as others can make any name there first. Directories above do not count: the opened
 *   directory itself is checked, and a user's directories above may be writable by a group. */

/* Returns 1 if only root and owner can replace a file in directory, 0 with err if others can, or -1
 * with err and errno if that is not known. real gets the resolved path. */
int safe_directory(const char *directory, uid_t owner, char real[PATH_MAX], struct error *err);

/* Finds `name` in the first of the directories of path ("/a:/b") that has it. Returns 1 with its
 * path in file; 0 with the name alone, for another search, if no directory has it; -1 with err if
 * users other than root and this process's could change the file, its directory, or the directory
 * of a link's target. Then it must not be loaded. */
int safe_file_find(const char *path, const char *name, char *file, size_t size, struct error *err);

/* Writes text to the file `name` in directory, for names that others can predict. Makes the
 * directory if it does not exist. Refuses a directory that is a link, is not owned by this
 * process's user or is writable by others, and a file that is a link. Returns 0, or -1 with err. */
int safe_directory_write(const char *directory, const char *name, const char *text,
                         struct error *err);

#endif
