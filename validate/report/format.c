/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/report/format.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/clock.h"
#include "lib/base/regular_file.h"
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

/* What is no file is written to as it is. The path may be in others' folders: what it names may be
 * another thing a moment later, so that the descriptor decides. A link is followed where it is
 * root's or ours, as /dev/stdout. Returns the descriptor, which does not block; -1 where there is
 * nothing, or what atomic_file_begin() takes or refuses; -2 with err. */
static int special_open(const char *path, struct error *err)
{
    const int flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    int fd = open(path, flags | O_NOFOLLOW);
    struct stat status;

    if (fd < 0 && errno == ELOOP && lstat(path, &status) == 0 &&
        (status.st_uid == 0 || status.st_uid == geteuid()))
        fd = open(path, flags);
    if (fd >= 0) {
        if (fstat(fd, &status) == 0 && !S_ISREG(status.st_mode))
            return fd;
        close(fd);
    } else if (errno == ENXIO) {
        error_set(err, "%s: nobody reads from it", path);
        return -2;
    } else if (errno != ENOENT && errno != ELOOP) {
        int saved = errno;

        if (is_special(path)) {
            errno = saved;
            error_set(err, "%s: %m", path);
            return -2;
        }
    }
    return -1;
}

struct special {
    int fd;
    int failure;  /* errno of what was not written: nothing more is then */
    double until; /* clock_s() */
};

/* Writes to a descriptor that does not block: waits for who reads there, but not for ever. */
static ssize_t special_write(void *cookie, const char *bytes, size_t length)
{
    struct special *special = cookie;
    size_t done = 0;

    while (special->failure == 0 && done < length) {
        ssize_t written = write(special->fd, bytes + done, length - done);
        double left = special->until - clock_s();

        if (written > 0)
            done += (size_t)written;
        else if (written < 0 && errno != EAGAIN && errno != EINTR)
            special->failure = errno;
        else if (left <= 0)
            special->failure = ETIMEDOUT;
        else
            poll(&(struct pollfd){.fd = special->fd, .events = POLLOUT}, 1, (int)(left * 1000) + 1);
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

int format_can_save(const char *path, struct error *err)
{
    struct atomic_file file;

    if (strcmp(path, "-") == 0 || is_special(path))
        return 0;
    if (atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    atomic_file_discard(&file, NULL);
    return 0;
}

int format_save(const struct report_format *format, const struct survey *survey, const char *path,
                struct error *err)
{
    struct atomic_file file;
    int fd;

    if (strcmp(path, "-") == 0)
        return write_straight(format, survey, stdout, "standard output", err);
    fd = special_open(path, err);
    if (fd >= 0)
        return write_special(format, survey, fd, path, err);
    if (fd == -2 || atomic_file_begin(&file, path, 0666, err) != 0)
        return -1;
    return format->write(file.stream, survey) == 0 ? atomic_file_commit(&file, err)
                                                   : atomic_file_discard(&file, err);
}
