/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sysfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/base_name.h"
#include "lib/base/deferred_error.h"
#include "lib/base/grow.h"
#include "lib/base/read_all.h"
#include "lib/base/regular_file.h"
#include "lib/base/text.h"

static int make_path(const char *root, char *path, size_t size, const char *format,
                     va_list arguments)
{
    size_t length = root ? strlen(root) : 0;
    int written;

    while (length > 0 && root[length - 1] == '/')
        length--;
    if (length + 2 > size)
        goto too_long;
    if (length > 0)
        memcpy(path, root, length);
    path[length++] = '/';
    written = vsnprintf(path + length, size - length, format, arguments);
    if (written >= 0 && (size_t)written < size - length)
        return 0;
too_long:
    path[0] = '\0';
    errno = ENAMETOOLONG;
    return -1;
}

/* Makes path[size] from the arguments after format; result is make_path()'s. */
#define MAKE_PATH(result, root, path, size, format)                                                \
    do {                                                                                           \
        va_list arguments;                                                                         \
        va_start(arguments, format);                                                               \
        result = make_path(root, path, size, format, arguments);                                   \
        va_end(arguments);                                                                         \
    } while (0)

int sysfs_path(const char *root, char *path, size_t size, const char *format, ...)
{
    int result;

    MAKE_PATH(result, root, path, size, format);
    return result;
}

/* Reads at most size bytes. Returns the number of bytes, or -1 with errno. */
static ssize_t read_regular(const char *path, char *buffer, size_t size)
{
    int fd = regular_file_open(path, NULL), saved_errno;
    ssize_t length = fd < 0 ? -1 : read_all(fd, buffer, size);

    if (length < 0)
        deferred_error_note();
    saved_errno = errno;
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    return length;
}

static int read_line(const char *path, char *text, size_t size)
{
    ssize_t length = read_regular(path, text, size - 1);
    char *end, *begin = text;

    text[length < 0 ? 0 : length] = '\0';
    if (length < 0)
        return -1;
    while (*begin == ' ' || *begin == '\t')
        begin++;
    end = begin + strcspn(begin, "\n");
    while (end > begin && isspace((unsigned char)end[-1]))
        end--;
    *end = '\0';
    memmove(text, begin, (size_t)(end - begin) + 1);
    text_make_ascii(text);
    return 0;
}

int sysfs_line(const char *root, char *text, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH];
    int result;

    text[0] = '\0';
    MAKE_PATH(result, root, path, sizeof path, format);
    return result < 0 ? -1 : read_line(path, text, size);
}

const char *sysfs_stat(const char *root, char *text, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH], *end;
    ssize_t length;
    int result;

    MAKE_PATH(result, root, path, sizeof path, format);
    if (result < 0 || (length = read_regular(path, text, size - 1)) < 0)
        return NULL;
    text[length] = '\0';
    end = strrchr(text, ')');
    if (end && end[1] == ' ' && end[2])
        return end + 2;
    errno = EINVAL;
    return NULL;
}

char *sysfs_file(const char *root, size_t size_max, const char *format, ...)
{
    char path[SYSFS_PATH], *buffer;
    ssize_t length;
    int result;

    MAKE_PATH(result, root, path, sizeof path, format);
    if (result < 0)
        return NULL;
    buffer = malloc(size_max + 1);
    if (!buffer) {
        deferred_error_note();
        return NULL;
    }
    length = read_regular(path, buffer, size_max);
    if (length < 0) {
        free(buffer);
        return NULL;
    }
    buffer[length] = '\0';
    return buffer;
}

long long sysfs_number(const char *root, const char *format, ...)
{
    char path[SYSFS_PATH], text[64], *end;
    long long number;
    int result;

    MAKE_PATH(result, root, path, sizeof path, format);
    if (result < 0 || read_line(path, text, sizeof text) < 0)
        return -1;
    errno = 0;
    number = strtoll(text, &end, strncmp(text, "0x", 2) == 0 ? 16 : 10);
    return end == text || errno || number < 0 ? -1 : number;
}

bool sysfs_exists(const char *root, const char *format, ...)
{
    char path[SYSFS_PATH];
    struct stat status;
    int result;

    MAKE_PATH(result, root, path, sizeof path, format);
    if (result < 0)
        return false;
    result = stat(path, &status);
    if (result < 0)
        deferred_error_note();
    return result == 0;
}

int sysfs_link(const char *root, char *text, size_t size, const char *format, ...)
{
    char path[SYSFS_PATH], target[SYSFS_PATH];
    const char *name;
    ssize_t length;
    int result;

    text[0] = '\0';
    MAKE_PATH(result, root, path, sizeof path, format);
    if (result < 0)
        return -1;
    length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        deferred_error_note();
    if (length <= 0)
        return -1;
    target[length] = '\0';
    name = base_name(target);
    if (strlen(name) >= size) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(text, name);
    return 0;
}

int sysfs_compare_names(const void *a, const void *b)
{
    return sysfs_compare(*(char *const *)a, *(char *const *)b);
}

/* Lists the names in a directory that do not begin with a dot, sorted. *error: 0, or the errno for
 * which it is not known whether there are more. Returns their number. */
static size_t list_names(const char *path, char ***names, int *error)
{
    DIR *directory = opendir(path);
    char **list = NULL;
    size_t count = 0;
    struct dirent *entry;

    *error = directory ? 0 : errno;
    while (*error == 0) {
        errno = 0;
        entry = readdir(directory);
        if (entry && entry->d_name[0] == '.')
            continue;
        if (!entry || !GROW(list, count) || !(list[count] = strdup(entry->d_name))) {
            *error = errno;
            break;
        }
        count++;
    }
    if (directory)
        closedir(directory);
    if (count > 1)
        qsort(list, count, sizeof *list, sysfs_compare_names);
    *names = list;
    return count;
}

size_t sysfs_names(const char *root, char ***names, const char *format, ...)
{
    char path[SYSFS_PATH];
    size_t count;
    int error, result;

    *names = NULL;
    MAKE_PATH(result, root, path, sizeof path, format);
    if (result < 0) {
        deferred_error_set(errno);
        return 0;
    }
    count = list_names(path, names, &error);
    if (error != ENOENT && error != ENOTDIR)
        deferred_error_set(error); /* the rest of the names is not known */
    return count;
}

void sysfs_names_free(char **names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

ssize_t sysfs_processes(const char *root, pid_t **pids)
{
    char path[SYSFS_PATH], **names = NULL;
    int error = sysfs_path(root, path, sizeof path, "proc") == 0 ? 0 : errno;
    size_t all = error == 0 ? list_names(path, &names, &error) : 0, count = 0;

    *pids = error == 0 ? calloc(all + 1, sizeof **pids) : NULL;
    if (!*pids && error == 0)
        error = errno;
    for (size_t i = 0; i < all && *pids; i++)
        if (isdigit((unsigned char)*names[i]))
            (*pids)[count++] = (pid_t)strtol(names[i], NULL, 10);
    sysfs_names_free(names, all);
    if (error == 0)
        return (ssize_t)count;
    errno = error;
    deferred_error_note();
    return -1;
}

int sysfs_compare(const char *a, const char *b)
{
    const char *whole_a = a, *whole_b = b;

    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            size_t length_a, length_b;
            int difference;

            a += strspn(a, "0");
            b += strspn(b, "0");
            length_a = strspn(a, "0123456789");
            length_b = strspn(b, "0123456789");
            if (length_a != length_b)
                return length_a < length_b ? -1 : 1;
            difference = strncmp(a, b, length_a);
            if (difference)
                return difference;
            a += length_a;
            b += length_b;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    if (*a != *b)
        return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
    return strcmp(whole_a, whole_b); /* eth01 and eth1 are different names */
}
