/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/accelerator/library.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"

/* The child's name in /proc, by which a later run finds one that could not be killed. */
#define CHILD_NAME "muster-gpu"

enum { KILL_WAIT_MS = 200 /* a killed process that is not stuck in the driver ends at once */ };

static const struct accelerator_reader *const readers[GPU_VENDORS] = {
    [GPU_NVIDIA] = &accelerator_nvml,
};

const char *accelerator_library(enum gpu_vendor vendor)
{
    const struct accelerator_reader *reader =
        (unsigned)vendor < GPU_VENDORS ? readers[vendor] : NULL;

    return reader ? reader->library : NULL;
}

/* What parent and child share. The strings are the program's own: one address in both. */
struct shared {
    struct accelerator_report report;
    const char *function;
    int device;
};

/* ---------------------------------------------------------------- the child */

/* Nothing of the child is seen or left: no output, no core file, no life after its parent. */
static void child_prepare(pid_t parent)
{
    int null = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NAME, CHILD_NAME);
    /* 1: as 0, and no program that the kernel would hand a core to is started (core(5)) */
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
    for (int signal = 1; signal < NSIG; signal++)
        (void)!sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

static void child_run(const struct accelerator_reader *reader, struct shared *shared)
{
    struct reading reading = {&shared->report, NULL, &shared->function, &shared->device};
    const char *reason;

    shared->function = "dlopen";
    reading.library = dlopen(shared->report.library, RTLD_NOW | RTLD_LOCAL);
    if (!reading.library) {
        reason = dlerror();
        reading_end(&reading, OUTCOME_NO_LIBRARY, "%s", reason ? reason : "dlopen failed");
        return;
    }
    if (reader->read(&reading) == 0)
        shared->report.outcome = OUTCOME_READ;
}

/* ---------------------------------------------------------------- the parent */

/* A child of an earlier run that hangs in the driver, where no signal reaches it: another one
 * would hang beside it, a new one at each check. */
static pid_t stuck_child(void)
{
    char **names;
    size_t count = sysfs_names("", &names, "proc");
    pid_t found = 0;

    for (size_t i = 0; i < count && !found; i++) {
        char path[300], line[512];
        struct stat status;
        const char *rest;

        if (names[i][0] < '0' || names[i][0] > '9' ||
            sysfs_line("", line, sizeof line, "proc/%s/comm", names[i]) < 0 ||
            strcmp(line, CHILD_NAME) != 0 ||
            sysfs_line("", line, sizeof line, "proc/%s/stat", names[i]) < 0)
            continue;
        snprintf(path, sizeof path, "/proc/%s", names[i]);
        rest = strrchr(line, ')');
        if (rest && rest[1] == ' ' && rest[2] == 'D' && stat(path, &status) == 0 &&
            status.st_uid == geteuid())
            found = (pid_t)strtol(names[i], NULL, 10);
    }
    sysfs_names_free(names, count);
    return found;
}

/* Waits until the child has closed its end. */
static bool wait_closed(int fd, double end_s)
{
    for (;;) {
        double left_s = end_s - clock_s();
        int rv = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1,
                      left_s > 0 ? (int)(left_s * 1000) + 1 : 0);

        if (rv > 0)
            return true;
        if ((rv < 0 && errno != EINTR) || left_s <= 0)
            return false;
    }
}

/* Reaps the child; false when it does not end, which only a driver can do to a killed process. */
static bool child_reap(pid_t child, bool is_over, int *status)
{
    if (!is_over)
        kill(child, SIGKILL);
    for (int ms = 0; ms <= KILL_WAIT_MS; ms += 5) {
        pid_t rv = waitpid(child, status, is_over ? 0 : WNOHANG);

        if (rv == child)
            return true;
        if (rv < 0 && errno != EINTR)
            break;
        usleep(5000);
    }
    return false;
}

static void report_end(struct shared *shared, const char *what)
{
    char of[32] = "";

    if (shared->device >= 0)
        snprintf(of, sizeof of, " of device %d", shared->device);
    snprintf(shared->report.reason, sizeof shared->report.reason, "%s in %s%s", what,
             shared->function ? shared->function : "its start", of);
}

static void child_watch(pid_t child, int fd, double deadline_s, struct shared *shared)
{
    bool is_over = wait_closed(fd, clock_s() + deadline_s);
    int status = 0;
    char what[96];
    bool is_reaped = child_reap(child, is_over, &status);

    if (!is_over) {
        shared->report.outcome = OUTCOME_HUNG;
        snprintf(what, sizeof what, "no answer within %g s%s", deadline_s,
                 is_reaped ? "" : ", and the process cannot be killed:");
        report_end(shared, what);
    } else if (is_reaped && WIFSIGNALED(status)) {
        shared->report.outcome = OUTCOME_CRASHED;
        snprintf(what, sizeof what, "the library died of signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
        report_end(shared, what);
    } else if (shared->report.outcome == OUTCOME_CRASHED) {
        report_end(shared, "the library ended its process");
    }
}

static int child_start(const struct accelerator_reader *reader, double deadline_s,
                       struct shared *shared, struct error *err)
{
    int pipe_fds[2];
    pid_t parent = getpid(), child;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return error_set(err, "pipe: %m");
    child = fork();
    if (child == 0) {
        close(pipe_fds[0]);
        child_prepare(parent);
        child_run(reader, shared);
        _exit(0);
    }
    close(pipe_fds[1]);
    if (child > 0)
        child_watch(child, pipe_fds[0], deadline_s, shared);
    else
        error_set(err, "fork: %m");
    close(pipe_fds[0]);
    return child > 0 ? 0 : -1;
}

struct accelerator_report *accelerator_read(enum gpu_vendor vendor, const char *path,
                                            double deadline_s, struct error *err)
{
    const char *library = accelerator_library(vendor);
    struct accelerator_report *report = NULL;
    struct shared *shared;
    pid_t stuck;

    if (!library) {
        error_set(err, "no library of %s is known", gpu_vendor_name(vendor));
        return NULL;
    }
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        error_set(err, "memory for the accelerators: %m");
        return NULL;
    }
    shared->device = -1;
    shared->report.vendor = vendor;
    shared->report.outcome = OUTCOME_CRASHED; /* until the child says otherwise */
    snprintf(shared->report.library, sizeof shared->report.library, "%s%s%s", path,
             *path ? "/" : "", library);
    stuck = stuck_child();
    if (stuck > 0) {
        shared->report.outcome = OUTCOME_HUNG;
        snprintf(shared->report.reason, sizeof shared->report.reason,
                 "process %d of an earlier check hangs in the driver", (int)stuck);
    }
    if (stuck > 0 || child_start(readers[vendor], deadline_s, shared, err) == 0) {
        report = malloc(sizeof *report);
        if (report)
            *report = shared->report;
        else
            error_set(err, "memory for the accelerators: %m");
        if (report && report->count > ACCELERATOR_MAX)
            report->count = ACCELERATOR_MAX; /* a library that writes where it should not */
    }
    munmap(shared, sizeof *shared);
    return report;
}
