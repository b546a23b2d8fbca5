/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SYSFS_H
#define MUSTER_SYSFS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Readers of the small files in /sys and /proc. Each takes the root of the tree first ("", "/" or
 * NULL is this machine), so that a recorded machine is a test case, and then a printf format that
 * makes the path below it, without a leading slash. Nothing is ever opened but regular files, and
 * of those no more is read than asked for: a file that is odd, huge or a pipe hurts nobody. What
 * cannot be read for want of memory or descriptors, or a directory whose names end in an error, is
 * noted in deferred_error.h. */

enum { SYSFS_PATH = PATH_MAX };

/* root + "/" + path. Returns 0, or -1 when it does not fit (path is then ""). */
int sysfs_path(const char *root, char *path, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The first line, without white space at its ends, cut at size; bytes that do not print become
 * '?'. Returns 0; -1 with errno and "" when the file cannot be read (EINVAL is what a downed NIC
 * says of its speed). */
int sysfs_line(const char *root, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What stands behind the name of the program, which may hold anything, in the stat of a process or
 * thread: its state first, "S 1 2 ...". text is its storage. NULL with errno: it cannot be read. */
const char *sysfs_stat(const char *root, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The whole file, at most size_max bytes of it, with a NUL behind. malloc'd; NULL with errno. */
char *sysfs_file(const char *root, size_t size_max, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The number that the first line begins with, decimal or 0x...; -1 when there is none, when it is
 * negative, or when it does not fit. */
long long sysfs_number(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

bool sysfs_exists(const char *root, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The last part of a symbolic link's target ("" and -1 when it is none). */
int sysfs_link(const char *root, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The names in a directory, without those that begin with a dot, in natural order. Returns how
 * many, 0 also when there is no such directory. *names is malloc'd, to be released with
 * sysfs_names_free(). */
size_t sysfs_names(const char *root, char ***names, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void sysfs_names_free(char **names, size_t count);

/* The IDs of all processes in root's /proc, however many, in their order. Returns how many; -1 with
 * errno when they cannot be read to the end. *pids is malloc'd. */
ssize_t sysfs_processes(const char *root, pid_t **pids);

/* Natural order: digits compare as numbers, so that eth2 < eth10. As strcmp(). */
int sysfs_compare(const char *a, const char *b);
/* The same of two char *, for qsort(). */
int sysfs_compare_names(const void *a, const void *b);

#endif
