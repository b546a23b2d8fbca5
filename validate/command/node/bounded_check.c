/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/node/bounded_check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/bounded_child.h"
#include "lib/base/read_all.h"
#include "lib/base/write_all.h"

static const char child_name[] = "muster-health";

struct child {
    int (*work)(void *context, const char **at);
    void *context;
    int output[2]; /* its standard output and error, in memory, so that it keeps no pipe open */
    int status;
    const char *at;
};

/* Returns a file in memory with a descriptor above 2, even if a standard file is closed; or -1. */
static int make_output(void)
{
    int made = memfd_create("muster-check", MFD_CLOEXEC), fd = fcntl(made, F_DUPFD_CLOEXEC, 3);

    if (made >= 0)
        close(made);
    return fd;
}

static void work(void *state)
{
    struct child *child = state;

    dup2(child->output[0], STDOUT_FILENO);
    dup2(child->output[1], STDERR_FILENO);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* so that lines before a hang are printed */
    child->status = child->work(child->context, &child->at);
    fflush(stdout);
}

static void print_output(int from, int to)
{
    char bytes[4096];
    ssize_t count;

    lseek(from, 0, SEEK_SET);
    while ((count = read_all(from, bytes, sizeof bytes)) > 0)
        (void)write_all(to, bytes, (size_t)count);
    close(from);
}

static int report_stuck(pid_t process, struct error *err)
{
    char file[BOUNDED_FILE];

    bounded_file(process, file);
    if (*file)
        return error_set(err, "%s does not respond: process %d of an earlier check waits for it",
                         file, (int)process);
    return error_set(err, "process %d of an earlier check waits in the kernel", (int)process);
}

static int report_end(const struct bounded_end *end, double limit_s, const char *at,
                      struct error *err)
{
    switch (end->outcome) {
    case BOUNDED_RETURNED:
        return 0;
    case BOUNDED_LATE:
        return error_set(err, "%s%sstopped after %g s in %s", end->file,
                         *end->file ? " does not respond: " : "", limit_s, at);
    case BOUNDED_SIGNALED:
        return error_set(err, "killed by signal %d in %s", end->signal, at);
    default:
        return error_set(err, "ended early in %s", at);
    }
}

int bounded_check(double limit_s, int (*work_)(void *context, const char **at), void *context,
                  int *status, struct error *err)
{
    struct child child = {.work = work_,
                          .context = context,
                          .output = {make_output(), make_output()},
                          .at = "configuration and inventory"};
    pid_t stuck = bounded_find_stuck(child_name, limit_s);
    struct bounded_end end;
    int rv;

    if (child.output[0] < 0 || child.output[1] < 0)
        rv = error_set(err, "no file in memory or no descriptor for what the check prints");
    else if (stuck > 0)
        rv = report_stuck(stuck, err);
    else
        rv = bounded_run(child_name, limit_s, work, &child, sizeof child, &end, err);
    print_output(child.output[0], STDOUT_FILENO);
    print_output(child.output[1], STDERR_FILENO);
    if (rv == 0)
        rv = report_end(&end, limit_s, child.at, err);
    *status = child.status;
    return rv;
}
