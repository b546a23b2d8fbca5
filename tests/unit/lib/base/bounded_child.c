/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/bounded_child.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/sysfs.h"
#include "tests/unit/tap.h"

enum { LIMIT_S = 60 /* for work that ends by itself */, ANY_AGE_S = -3600 /* always exceeded */ };

static void set_number(void *context)
{
    *(int *)context = 7;
}

static void leave(void *context)
{
    exit(0);
}

static void die(void *context)
{
    raise(SIGFPE);
}

static void hang(void *context)
{
    for (;;)
        pause();
}

/* As a library that turns the process into a daemon. */
static void close_all_and_hang(void *context)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
    hang(context);
}

/* Shares one processor with four busy processes, at the lowest priority: after the kill it takes
 * long to die. */
static void hang_without_processor(void *context)
{
    cpu_set_t one;
    pid_t parent = getpid();

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one);
    for (int i = 0; i < 4; i++)
        if (fork() == 0)
            while (getppid() == parent)
                ;
    if (getpid() != parent)
        _exit(0);
    if (nice(19) == -1)
        abort();
    for (;;)
        ;
}

static enum bounded_outcome outcome_of(void (*work)(void *state), int *state, double limit_s,
                                       struct bounded_end *end)
{
    struct error err = {{0}};

    if (bounded_run("muster-test", limit_s, work, state, sizeof *state, end, &err) < 0)
        tap_diag("%s", err.text);
    return end->outcome;
}

/* A process that waits for its vfork() child is in the same state as one that hangs in a driver. */
static void wait_as(const char *name)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, name);
    if (vfork() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sleep(LIMIT_S);
        _exit(0);
    }
    for (;;)
        pause();
}

/* is_copy: the process runs a copy of this program, as another program. */
static pid_t start_waiting(const char *name, bool is_copy)
{
    int from = open("/proc/self/exe", O_RDONLY), copy = memfd_create("copy", 0);
    char *argv[] = {(char *)"copy", (char *)(uintptr_t)name, NULL};
    pid_t child;

    while (is_copy && sendfile(copy, from, NULL, 1 << 20) > 0)
        ;
    child = fork();
    if (child == 0 && is_copy)
        fexecve(copy, argv, environ);
    if (child == 0)
        wait_as(name);
    close(from);
    close(copy);
    return child;
}

static bool waits_in_kernel(pid_t process)
{
    char line[256];
    const char *field = sysfs_stat("", line, sizeof line, "proc/%d/stat", (int)process);

    return field && *field == 'D';
}

static void other_program_is_no_child(void)
{
    pid_t other = start_waiting("muster-test", true);
    double begin_s = clock_s();

    while (!waits_in_kernel(other) && clock_s() - begin_s < LIMIT_S)
        usleep(1000);
    ok(waits_in_kernel(other), "another program with the name of a child waits in the kernel");
    is_int(bounded_find_stuck("muster-test", ANY_AGE_S), 0, "... and is no stuck child");
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
}

static void waiting_child_is_stuck(void)
{
    pid_t child = start_waiting("muster-test", false);
    double begin_s = clock_s();

    while (bounded_find_stuck("muster-test", ANY_AGE_S) == 0 && clock_s() - begin_s < LIMIT_S)
        usleep(1000);
    is_int(bounded_find_stuck("muster-test", ANY_AGE_S), child,
           "a child that is older than its limit and waits in the kernel is stuck");
    is_int(bounded_find_stuck("muster-test", LIMIT_S), 0,
           "... but not a younger one, which may work for another process");
    is_int(bounded_find_stuck("muster-other", ANY_AGE_S), 0, "... nor a child with another name");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* Calls bounded_run() while standard input, output and error are closed. */
static void runs_without_standard_files(void)
{
    struct bounded_end end = {.outcome = BOUNDED_LATE};
    int number = 0, saved[3], rv;

    fflush(stdout);
    for (int fd = 0; fd <= 2; fd++)
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
    rv = bounded_run("muster-test", LIMIT_S, set_number, &number, sizeof number, &end, NULL);
    for (int fd = 0; fd <= 2; fd++) {
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    is_int(rv, 0, "a child is started without standard input, output and error");
    is_int(end.outcome, BOUNDED_RETURNED, "... and returns");
    is_int(number, 7, "... with its result");
}

int main(int argc, char **argv)
{
    int number = 0;
    struct bounded_end end;
    double begin_s = clock_s();

    if (argc > 1)
        wait_as(argv[1]);
    is_int(outcome_of(set_number, &number, LIMIT_S, &end), BOUNDED_RETURNED,
           "work that returns is reported as returned");
    is_int(number, 7, "... and its result is copied back");
    is_int(outcome_of(leave, &number, LIMIT_S, &end), BOUNDED_EXITED,
           "work that calls exit() is reported as exited");
    is_int(outcome_of(die, &number, LIMIT_S, &end), BOUNDED_SIGNALED,
           "work that dies of a signal is reported as signaled");
    is_int(end.signal, SIGFPE, "... with this signal");
    is_int(outcome_of(hang, &number, 0.3, &end), BOUNDED_LATE,
           "work that hangs is killed at its limit");
    ok(!end.is_stuck, "... and has died");
    is_int(outcome_of(close_all_and_hang, &number, 0.3, &end), BOUNDED_LATE,
           "work that hangs with its files closed is killed too");
    ok(clock_s() - begin_s < 2 * bounded_longest_s(0.3), "... each within bounded_longest_s()");
    is_int(outcome_of(hang_without_processor, &number, 0.3, &end), BOUNDED_LATE,
           "work that gets hardly any processor time is killed too");
    ok(!end.is_stuck, "... and is not stuck, however late it dies: it does not wait in the kernel");
    ok(clock_s() - begin_s < LIMIT_S && bounded_find_stuck("muster-test", ANY_AGE_S) == 0,
       "no child is left");
    waiting_child_is_stuck();
    other_program_is_no_child();
    runs_without_standard_files();
    return tap_done();
}
