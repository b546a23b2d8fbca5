/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SYSFS_H
#define MUSTER_SYSFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Readers of the small files in /sys and /proc. Each takes the root of the tree first ("", "/" or
 * NULL is this machine), so that a recorded machine is a test case, and then a printf format of the
 * path below it, without a leading slash. They open only regular files and read no more than asked
 * for, so an odd or huge file or a pipe does no harm. If memory or descriptors are out, or the
 * names of a directory cannot be read to the end, they note it in deferred_error.h. */

enum { SYSFS_PATH = PATH_MAX };

/* Formats root + "/" + path. Returns 0, or -1 with path "" if it does not fit. */
int sysfs_path(const char *root, char *path, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Reads the first line, without white space at its ends, cut at size, with '?' for unprintable
 * bytes. Returns 0, or -1 with errno and "" if the file cannot be read (EINVAL for the speed of a
 * NIC that is down). */
int sysfs_line(const char *root, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the part of a process's or thread's stat file after the program's name, which may contain
 * any character: its state first, "S 1 2 ...". text is the buffer. NULL with errno if it cannot be
 * read. */
const char *sysfs_stat(const char *root, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Returns the file, at most its first size_max bytes, and a NUL, malloc'd; NULL with errno. */
char *sysfs_file(const char *root, size_t size_max, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns the number at the beginning of the first line, decimal or 0x...; -1 if there is none, if
 * it is negative, or if it is too large. */
long long sysfs_number(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool sysfs_exists(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads the last component of a symbolic link's target. Returns 0, or -1 with "" if it is not a
 * link or does not fit. */
int sysfs_link(const char *root, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Lists the names in a directory in natural order, except names that begin with a dot. Returns
 * their number, 0 also if there is no such directory. Release *names with sysfs_names_free(). */
size_t sysfs_names(const char *root, char ***names, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sysfs_names_free(char **names, size_t count);

/* Lists the IDs of all processes in root's /proc, sorted; *pids is malloc'd. Returns their number,
 * or -1 with errno if they cannot be read to the end. */
ssize_t sysfs_processes(const char *root, pid_t **pids);

/* As strcmp(), in natural order: digits compare as numbers, so eth2 < eth10. */
int sysfs_compare(const char *a, const char *b);
/* As sysfs_compare(), for qsort() of char *. */
int sysfs_compare_names(const void *a, const void *b);

#endif
