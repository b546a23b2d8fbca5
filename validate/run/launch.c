/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/read_all.h"
#include "lib/constants/run_constants.h"

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127, STATUS_SIGNALED = 128 };

volatile sig_atomic_t launch_stop;
static volatile sig_atomic_t running; /* the command's process; 0: none */

static const int passed_on[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static void pass_on(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (number != SIGUSR1 && number != SIGUSR2)
        launch_stop = number;
    if (running > 0 && info->si_code != SI_KERNEL) /* the kernel's: a key of the terminal */
        kill((pid_t)running, number);
    errno = saved;
}

void launch_catch_signals(void)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART}, saved;

    for (int i = 0; i < PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &saved) == 0 && saved.sa_handler != SIG_IGN)
            sigaction(passed_on[i], &action, NULL);
}

/* Runs in the child, up to exec. A failure is reported over the pipe, which exec closes. */
static void __attribute__((noreturn))
child_run(const struct launch *launch, pid_t parent, const sigset_t *mask, int failed)
{
    struct sigaction caught;
    int reason;

    /* a signal since the fork ends the child instead of being lost in our handler */
    for (int i = 0; i < PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &caught) == 0 && caught.sa_flags & SA_SIGINFO)
            signal(passed_on[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(STATUS_NOT_FOUND);
    sigprocmask(SIG_SETMASK, mask, NULL);
    for (int i = 0; launch->environment && launch->environment[i]; i++)
        putenv(launch->environment[i]);
    execvp(launch->argv[0], launch->argv);
    reason = errno;
    while (write(failed, &reason, sizeof reason) < 0 && errno == EINTR)
        ;
    _exit(STATUS_NOT_FOUND);
}

/* Waits until the command has ended, and reaps it. Returns its wait status. *is_cut: on_tick()
 * ended it. */
static int wait_for_end(const struct launch *launch, pid_t pid, bool *is_cut)
{
    double term_at = 0;
    bool is_killed = false;
    int status = 0;

    for (;;) {
        pid_t ended = waitpid(pid, &status, WNOHANG);
        bool has_to_end;

        if (ended == pid)
            return status;
        has_to_end = launch->on_tick && launch->on_tick(launch->context);
        if (term_at == 0 && (has_to_end || launch_stop)) {
            term_at = clock_s();
            *is_cut = !launch_stop; /* a signal from outside was passed on */
            if (*is_cut)
                kill(pid, SIGTERM);
        }
        if (term_at > 0 && !is_killed && clock_s() - term_at > RUN_TERM_S) {
            is_killed = true;
            kill(pid, SIGKILL);
        }
        nanosleep(&(struct timespec){.tv_nsec = RUN_TICK_MS * 1000000L}, NULL);
    }
}

int launch_run(const struct launch *launch, int *status, struct error *err)
{
    pid_t pid, parent = getpid();
    int failed[2], reason = 0, ended;
    sigset_t all, before;
    bool is_cut = false;

    *status = STATUS_NOT_EXECUTABLE;
    if (pipe2(failed, O_CLOEXEC) != 0)
        return error_set(err, "cannot start %s: %m", launch->argv[0]);
    /* no signal between the fork and the assignment of running: it would not be passed on */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid = fork();
    if (pid == 0)
        child_run(launch, parent, &before, failed[1]);
    reason = errno;
    running = pid > 0 ? pid : 0;
    if (pid > 0 && launch_stop) /* a signal came when there was no command to pass it on to */
        kill(pid, launch_stop);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(failed[1]);
    if (pid > 0 && read_all(failed[0], &reason, sizeof reason) != (ssize_t)sizeof reason)
        reason = 0;
    close(failed[0]);
    if (pid < 0 || reason != 0) {
        running = 0;
        if (pid > 0)
            waitpid(pid, NULL, 0);
        if (pid > 0 && reason == ENOENT)
            *status = STATUS_NOT_FOUND;
        errno = reason;
        return error_set(err, "cannot start %s: %m", launch->argv[0]);
    }
    ended = wait_for_end(launch, pid, &is_cut);
    running = 0;
    *status = WIFSIGNALED(ended) ? STATUS_SIGNALED + WTERMSIG(ended) : WEXITSTATUS(ended);
    if (is_cut && *status == 0)
        *status = STATUS_SIGNALED + SIGTERM;
    return 0;
}
