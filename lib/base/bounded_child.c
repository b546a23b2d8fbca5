/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/bounded_child.h"

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
#include "lib/base/utf8.h"
#include "lib/constants/node_constants.h"

/* Prepares the child: no output, no core file, its name, default signal handlers, and death with
 * its parent. */
static void prepare_child(const char *name, pid_t parent)
{
    int null = open("/dev/null", O_RDWR);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NAME, name);
    /* 1, not 0: the kernel does not pipe the core to a program either (core(5)) */
    setrlimit(RLIMIT_CORE, &(struct rlimit){1, 1});
    for (int signal = 1; signal < NSIG; signal++)
        (void)!sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
    for (int fd = 0; null >= 0 && fd <= 2; fd++)
        dup2(null, fd);
    if (null > 2)
        close(null);
}

/* Waits for one byte from the child: the work has returned. Returns 1; 0 if the child closed the
 * pipe without a byte; -1 at the deadline. */
static int wait_for_end(int fd, double end_s)
{
    for (;;) {
        double left_s = end_s - clock_s();
        char byte;
        int rv = poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1,
                      left_s > 0 ? (int)(left_s * 1000) + 1 : 0);

        if (rv > 0)
            return read(fd, &byte, 1) == 1;
        if ((rv < 0 && errno != EINTR) || left_s <= 0)
            return -1;
    }
}

static bool reap_until(pid_t child, double end_s, int *status)
{
    for (;;) {
        pid_t rv = waitpid(child, status, WNOHANG);

        if (rv == child || (rv < 0 && errno != EINTR))
            return rv == child;
        if (clock_s() >= end_s)
            return false;
        usleep(500);
    }
}

/* Returns whether the process waits uninterruptibly in the kernel. start_s: gets its start in
 * seconds since boot; may be NULL. */
static bool waits_in_kernel(pid_t process, double *start_s)
{
    char line[1024];
    const char *field = sysfs_stat("", line, sizeof line, "proc/%d/stat", (int)process);

    if (!field || *field != 'D')
        return false;
    for (int i = 3; i < 22 && field; i++)
        field = strchr(field + 1, ' ');
    if (field && start_s)
        *start_s = strtod(field, NULL) / (double)sysconf(_SC_CLK_TCK);
    return field != NULL;
}

/* Reads a text from the memory of another process; "" if it cannot be read. */
static void read_text(pid_t process, unsigned long address, char *text, size_t size)
{
    char path[32];
    ssize_t length = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/mem", (int)process);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        length = pread(fd, text, size - 1, (off_t)address);
        close(fd);
    }
    text[length > 0 ? length : 0] = '\0';
}

void bounded_file(pid_t process, char file[BOUNDED_FILE])
{
    char line[256], path[64];
    unsigned long first, second;
    ssize_t length;

    *file = '\0';
    /* the number is -1 if it waits outside of a system call, as for a page of its program */
    if (!waits_in_kernel(process, NULL) ||
        sysfs_line("", line, sizeof line, "proc/%d/syscall", (int)process) != 0 || *line == '-' ||
        sscanf(line, "%*u %lx %lx", &first, &second) != 2)
        return;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)process, (int)first);
    if ((int)first == AT_FDCWD)
        read_text(process, second, file, BOUNDED_FILE);
    else if ((length = readlink(path, file, BOUNDED_FILE - 1)) > 0)
        file[length] = '\0';
    else
        read_text(process, first, file, BOUNDED_FILE);
    if (*file != '/')
        *file = '\0';
    utf8_clean(file);
}

/* Kills the child and waits for its death. Returns whether it died. Waits BOUNDED_KERNEL_WAIT_S
 * for a child that hangs in the kernel, else BOUNDED_DYING_WAIT_S, because a busy machine may
 * schedule the child late. */
static bool kill_and_reap(pid_t child, int *status)
{
    double begin_s = clock_s(), wait_s;

    kill(child, SIGKILL);
    if (reap_until(child, begin_s + BOUNDED_KILL_WAIT_S, status))
        return true;
    wait_s = waits_in_kernel(child, NULL) ? BOUNDED_KERNEL_WAIT_S : BOUNDED_DYING_WAIT_S;
    return reap_until(child, begin_s + wait_s, status);
}

static int run_child(const char *name, double limit_s, void (*work)(void *state), void *state,
                     struct bounded_end *end, struct error *err)
{
    double end_s = clock_s() + limit_s;
    int pipe_fds[2], status = 0, returned;
    pid_t parent = getpid(), child;
    char file[BOUNDED_FILE] = "";
    bool is_reaped, is_late;

    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return error_set(err, "pipe: %m");
    child = fork();
    if (child == 0) {
        /* if this process has no standard files, the pipe gets a descriptor below 3, which
         * prepare_child() would replace */
        int answer = fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, 3);

        close(pipe_fds[0]);
        close(pipe_fds[1]);
        prepare_child(name, parent);
        work(state);
        _exit(write(answer, "", 1) == 1 ? 0 : 1);
    }
    close(pipe_fds[1]);
    if (child < 0) {
        close(pipe_fds[0]);
        return error_set(err, "fork: %m");
    }
    returned = wait_for_end(pipe_fds[0], end_s);
    close(pipe_fds[0]);
    /* a child that closes its files but continues to run is late too */
    is_reaped = reap_until(child, end_s, &status);
    is_late = returned < 0 || (returned == 0 && !is_reaped);
    if (is_late)
        bounded_file(child, file);
    if (!is_reaped)
        is_reaped = kill_and_reap(child, &status);
    *end = (struct bounded_end){.outcome = is_late               ? BOUNDED_LATE
                                           : returned > 0        ? BOUNDED_RETURNED
                                           : WIFSIGNALED(status) ? BOUNDED_SIGNALED
                                                                 : BOUNDED_EXITED,
                                .is_stuck = !is_reaped && waits_in_kernel(child, NULL)};
    strcpy(end->file, file);
    if (end->outcome == BOUNDED_SIGNALED)
        end->signal = WTERMSIG(status);
    return 0;
}

double bounded_longest_s(double limit_s)
{
    return limit_s + (BOUNDED_KERNEL_WAIT_S > BOUNDED_DYING_WAIT_S ? BOUNDED_KERNEL_WAIT_S
                                                                   : BOUNDED_DYING_WAIT_S);
}

int bounded_run(const char *name, double limit_s, void (*work)(void *state), void *state,
                size_t size, struct bounded_end *end, struct error *err)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rv;

    if (shared == MAP_FAILED)
        return error_set(err, "out of memory for a child process: %m");
    memcpy(shared, state, size);
    rv = run_child(name, limit_s, work, shared, end, err);
    if (rv == 0)
        memcpy(state, shared, size);
    munmap(shared, size);
    return rv;
}

/* Returns whether the process may run this program: a user chooses the name of any other one, also
 * of a program with the set-user-ID bit, by a link to it. A process that is dying has none. */
static bool may_be_this_program(pid_t process)
{
    char path[32];
    struct stat its, own;

    snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
    return stat(path, &its) != 0 || (stat("/proc/self/exe", &own) == 0 &&
                                     its.st_ino == own.st_ino && its.st_dev == own.st_dev);
}

static bool is_child(pid_t process, const char *name)
{
    char path[32], line[64];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%d", (int)process);
    return sysfs_line("", line, sizeof line, "proc/%d/comm", (int)process) == 0 &&
           strcmp(line, name) == 0 && stat(path, &status) == 0 && status.st_uid == geteuid() &&
           may_be_this_program(process);
}

/* Returns whether the process still waits in the kernel, although its parent must have killed it
 * by now. */
static bool is_stuck(pid_t process, double limit_s)
{
    double start_s, later_s;

    if (!waits_in_kernel(process, &start_s) || clock_up_s() - start_s < bounded_longest_s(limit_s))
        return false;
    usleep((useconds_t)(BOUNDED_KILL_WAIT_S * 1e6));
    return waits_in_kernel(process, &later_s) && later_s == start_s;
}

pid_t bounded_find_stuck(const char *name, double limit_s)
{
    pid_t *processes, found = 0;
    ssize_t count = sysfs_processes("", &processes);

    for (ssize_t i = 0; i < count && found == 0; i++)
        if (is_child(processes[i], name) && is_stuck(processes[i], limit_s))
            found = processes[i];
    free(processes);
    return found;
}
