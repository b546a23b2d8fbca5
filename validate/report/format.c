/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/format.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/clock.h"
#include "lib/constants/command_constants.h"

const struct report_format report_formats[] = {
    {"table", "a readable table", overview_write},
    {"html", "one self-contained HTML page; needs no network", html_write},
    {"junit", "JUnit XML, for CI systems", junit_write},
    {"prometheus", "metrics for node_exporter's textfile collector", prometheus_write},
    {"csv", "one line per record, for spreadsheets", csv_write},
    {"json", "the records as JSON lines", json_write},
    {0},
};

const struct report_format *format_find(const char *name)
{
    for (const struct report_format *format = report_formats; format->name; format++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

/* Returns the descriptor that the path names, as /dev/stdout; -1 if none. */
static int descriptor_of(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        size_t length = strlen(folders[i]), digits;

        if (strncmp(path, folders[i], length) != 0)
            continue;
        digits = strspn(path + length, "0123456789");
        if (digits > 0 && digits < 10 && !path[length + digits])
            return atoi(path + length);
    }
    return -1;
}

/* Checks that this program inherited the descriptor: its own descriptors are close-on-exec. Returns
 * 0, or -1 with err. */
static int descriptor_check(int number, const char *path, struct error *err)
{
    int flags = fcntl(number, F_GETFD);

    if (flags >= 0 && !(flags & FD_CLOEXEC))
        return 0;
    errno = EBADF;
    return error_set(err, "%s: %m", path);
}

/* Whether the name is in /dev or a folder below it. */
static bool is_in_dev(const char *path)
{
    char *copy = strdup(path), *folder = copy ? realpath(dirname(copy), NULL) : NULL;
    bool is_in = folder && strncmp(folder, "/dev", 4) == 0 && (!folder[4] || folder[4] == '/');

    free(folder);
    free(copy);
    return is_in;
}

/* Finds a pipe or a character device, which is written directly. The path may be in a folder of
 * other users, who may replace it at any time: so its type is checked by descriptor before it is
 * opened for writing, and no link is followed. Returns the descriptor (O_PATH); -1 if there is
 * nothing, or something for atomic_file_begin() to accept or refuse; -2 with err. */
static int special_find(const char *path, struct error *err)
{
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode)))
        return fd;
    close(fd);
    if (!S_ISLNK(status.st_mode) || !is_in_dev(path))
        return -1;
    error_set(err, "%s: is a link of the system", path);
    return -2;
}

/* As special_find(), but returns a descriptor for writing, which does not block. */
static int special_open(const char *path, struct error *err)
{
    int found = special_find(path, err), fd;
    char opened[32];

    if (found < 0)
        return found;
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", found);
    fd = open(opened, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 && errno == ENXIO)
        error_set(err, "%s: nobody reads from it", path);
    else if (fd < 0)
        error_set(err, "%s: %m", path);
    close(found);
    return fd < 0 ? -2 : fd;
}

struct special {
    int fd;
    int failure;  /* errno of a failed write: nothing is written after it */
    double until; /* clock_s() */
};

/* Waits for the reader, but not forever. Writes at most PIPE_BUF bytes at a time, which a pipe with
 * room accepts at once, even if the descriptor blocks. */
static ssize_t special_write(void *cookie, const char *bytes, size_t length)
{
    struct special *special = cookie;
    size_t done = 0;

    while (special->failure == 0 && done < length) {
        size_t part = length - done < PIPE_BUF ? length - done : PIPE_BUF;
        double left = special->until - clock_s();
        int ready = left <= 0 ? 0
                              : poll(&(struct pollfd){.fd = special->fd, .events = POLLOUT}, 1,
                                     (int)(left * 1000) + 1);
        ssize_t written = ready > 0 ? write(special->fd, bytes + done, part) : -1;

        if (written > 0)
            done += (size_t)written;
        else if (ready == 0)
            special->failure = ETIMEDOUT;
        else if (errno != EAGAIN && errno != EINTR)
            special->failure = errno;
    }
    errno = special->failure;
    return done == length ? (ssize_t)length : 0;
}

static int write_straight(const struct report_format *format, const struct survey *survey,
                          FILE *stream, const char *name, struct error *err)
{
    if (!stream)
        return error_set(err, "%s: %m", name);
    if (format->write(stream, survey) != 0 || fflush(stream) != 0)
        return error_set(err, "%s: %m", name);
    return 0;
}

static int write_special(const struct report_format *format, const struct survey *survey, int fd,
                         const char *path, struct error *err)
{
    struct special special = {.fd = fd, .until = clock_s() + REPORT_PIPE_S};
    FILE *stream = fopencookie(&special, "w", (cookie_io_functions_t){.write = special_write});
    int rv = write_straight(format, survey, stream, path, err);

    if (stream && fclose(stream) != 0 && rv == 0)
        rv = error_set(err, "%s: %m", path);
    close(fd);
    return rv;
}

/* Writes to an inherited descriptor, at its position if it is a file. */
static int write_descriptor(const struct report_format *format, const struct survey *survey,
                            int number, const char *path, struct error *err)
{
    int fd;

    if (descriptor_check(number, path, err) != 0)
        return -1;
    fflush(stdout);
    fd = fcntl(number, F_DUPFD_CLOEXEC, 0);
    return fd < 0 ? error_set(err, "%s: %m", path) : write_special(format, survey, fd, path, err);
}

int format_can_save(const char *path, struct error *err)
{
    int number = descriptor_of(path), fd;
    struct atomic_file file;

    if (strcmp(path, "-") == 0)
        return 0;
    if (number >= 0)
        return descriptor_check(number, path, err);
    fd = special_find(path, err);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (fd == -2 || atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    atomic_file_discard(&file, NULL);
    return 0;
}

int format_save(const struct report_format *format, const struct survey *survey, const char *path,
                struct error *err)
{
    int number = descriptor_of(path), fd;
    struct atomic_file file;

    if (strcmp(path, "-") == 0)
        return write_straight(format, survey, stdout, "standard output", err);
    if (number >= 0)
        return write_descriptor(format, survey, number, path, err);
    fd = special_open(path, err);
    if (fd >= 0)
        return write_special(format, survey, fd, path, err);
    if (fd == -2 || atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    return format->write(file.stream, survey) == 0 ? atomic_file_commit(&file, err)
                                                   : atomic_file_discard(&file, err);
}
