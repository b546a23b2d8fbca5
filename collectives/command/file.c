/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/command/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/atomic_file.h"
#include "lib/base/clock.h"
#include "lib/base/regular_file.h"

#define EXISTS "%s: exists already; -f overwrites it"

/* The file that is being written. A signal handler reads its name. */
static struct atomic_file written;

void file_abandon(void)
{
    if (written.temporary[0] != '\0')
        unlink(written.temporary);
}

/* ---------------------------------------------------------------------------------- progress */

struct progress {
    const char *name;
    uint64_t size; /* of the input; 0: not known */
    double begin_s;
    double shown_s;
    bool visible;
};

static void progress_show(void *argument, uint64_t in, uint64_t out)
{
    struct progress *progress = argument;
    double elapsed_s = clock_s() - progress->begin_s;

    if (elapsed_s < 2 || elapsed_s < progress->shown_s + 0.5)
        return;
    progress->shown_s = elapsed_s;
    progress->visible = true;
    fprintf(stderr, "\r%s: ", progress->name);
    if (progress->size > 0)
        fprintf(stderr, "%3.0f %%, ", 100.0 * (double)in / (double)progress->size);
    fprintf(stderr, "%.1f MiB read, %.1f MiB written, %.0f s ", (double)in / 1048576,
            (double)out / 1048576, elapsed_s);
}

static void progress_clear(struct progress *progress)
{
    if (progress->visible)
        fputs("\r\033[K", stderr);
    progress->visible = false;
}

/* ------------------------------------------------------------------------------------- names */

static bool has_suffix(const char *name)
{
    size_t length = strlen(name), suffix = strlen(FILE_SUFFIX);

    return length > suffix && strcmp(name + length - suffix, FILE_SUFFIX) == 0 &&
           name[length - suffix - 1] != '/';
}

/* Sets output to the file's name; "-": standard output, "": no output. */
static int name_output(const struct file_job *job, const char *input, char output[PATH_MAX],
                       struct error *err)
{
    int length;

    if (job->action == FILE_TEST)
        length = snprintf(output, PATH_MAX, "%s", "");
    else if (job->output || strcmp(input, "-") == 0)
        length = snprintf(output, PATH_MAX, "%s", job->output ? job->output : "-");
    else if (job->action == FILE_ENCODE && has_suffix(input) && !job->force)
        return error_set(
            err, "%s: its name already ends in " FILE_SUFFIX "; -f compresses it again", input);
    else if (job->action == FILE_ENCODE)
        length = snprintf(output, PATH_MAX, "%s%s", input, FILE_SUFFIX);
    else if (has_suffix(input))
        length =
            snprintf(output, PATH_MAX, "%.*s", (int)(strlen(input) - strlen(FILE_SUFFIX)), input);
    else
        return error_set(
            err, "%s: its name does not end in " FILE_SUFFIX "; use -o FILE or --stdout", input);
    return length < PATH_MAX ? 0 : error_set(err, "%s: its name is too long", input);
}

/* ------------------------------------------------------------------------------------ output */

/* Begins the output file. While it is incomplete only its owner may read it if the input is a
 * regular file, which may be private. */
static int output_begin(const char *output, const struct stat *like, struct error *err)
{
    sigset_t all, before;
    int status;

    /* blocks signals: a handler must not run while the file exists and its name is not set */
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    status = atomic_file_begin(&written, output, S_ISREG(like->st_mode) ? 0600 : 0666, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* Gives the file the permissions and times of its input, and its name. Without force it replaces no
 * existing file, even one created meanwhile. */
static int output_end(const struct file_job *job, const struct stat *like, struct error *err)
{
    if (S_ISREG(like->st_mode)) {
        const struct timespec times[2] = {like->st_atim, like->st_mtim};

        (void)futimens(written.fd, times);
        written.mode = like->st_mode & 0777;
    }
    written.is_unsynced = !job->remove;
    written.is_new = !job->force;
    if (atomic_file_commit(&written, err) == 0)
        return 0;
    return errno == EEXIST ? error_set(err, EXISTS, written.path) : -1;
}

static int convert_open(const struct file_job *job, struct stream *stream, const char *input,
                        struct stream_totals *totals, struct error *err)
{
    if (stream_convert(stream, job->action != FILE_ENCODE, job->type, totals, err) == 0)
        return 0;
    return error_prefix(err, "%s", strcmp(input, "-") == 0 ? "stdin" : input);
}

static int convert_to_file(const struct file_job *job, struct stream *stream, const char *input,
                           const char *output, const struct stat *like,
                           struct stream_totals *totals, struct error *err)
{
    struct stat there;

    if (!job->force && faccessat(AT_FDCWD, output, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        return error_set(err, EXISTS, output);
    if (is_special(output))
        return error_set(err, "%s: is not a regular file; use --stdout to write elsewhere", output);
    /* --rm would remove the file just written */
    if (stat(output, &there) == 0 && there.st_dev == like->st_dev && there.st_ino == like->st_ino)
        return error_set(err, "%s: is also the input file", output);
    if (output_begin(output, like, err) != 0)
        return -1;
    stream->out = written.fd;
    if (convert_open(job, stream, input, totals, err) != 0)
        return atomic_file_discard(&written, NULL);
    return output_end(job, like, err);
}

/* --------------------------------------------------------------------------------------- all */

static int open_input(const char *input, struct stat *about, struct error *err)
{
    int fd = 0;

    if (strcmp(input, "-") != 0)
        fd = open(input, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 || fstat(fd, about) != 0)
        return error_set(err, "%s: %m", input);
    if (S_ISDIR(about->st_mode)) {
        close(fd);
        return error_set(err, "%s: is a directory", input);
    }
    return fd;
}

int file_convert(const struct file_job *job, const char *input, struct stream_totals *totals,
                 struct error *err)
{
    struct progress progress = {.name = input};
    struct stream stream = {.path = job->path, .out = -1};
    char output[PATH_MAX];
    struct stat about;
    int status;

    if (name_output(job, input, output, err) != 0)
        return -1;
    if (job->action == FILE_ENCODE && strcmp(output, "-") == 0 && !job->force && isatty(1))
        return error_set(err, "refusing to write compressed data to a terminal; -f forces it");
    stream.in = open_input(input, &about, err);
    if (stream.in < 0)
        return -1;
    progress.begin_s = clock_s();
    progress.size = S_ISREG(about.st_mode) ? (uint64_t)about.st_size : 0;
    if (job->progress) {
        stream.progress = progress_show;
        stream.progress_argument = &progress;
    }
    if (strcmp(output, "") != 0 && strcmp(output, "-") != 0) {
        status = convert_to_file(job, &stream, input, output, &about, totals, err);
    } else {
        stream.out = strcmp(output, "-") == 0 ? 1 : -1;
        status = convert_open(job, &stream, input, totals, err);
    }
    progress_clear(&progress);
    if (stream.in != 0)
        close(stream.in);
    if (status == 0 && job->remove && strcmp(input, "-") != 0 && job->action != FILE_TEST &&
        strcmp(output, "-") != 0 && unlink(input) != 0)
        status = error_set(err, "%s: cannot remove it: %m", input);
    return status;
}
