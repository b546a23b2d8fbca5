// SPDX-License-Identifier: Apache-2.0
/*
 * enter - run a command inside a lab node, as if it had been started there.
 *
 *   enter PID COMMAND [ARG...]
 *
 * Joins the namespaces of process PID (a node's init) and runs COMMAND in them, with this
 * process's descriptors, environment and, where it exists in the node, working directory.
 * nsenter(1) leaves the command alone when it is itself killed; here the command
 *
 * - gets every signal somebody sends to this process (not those of the terminal, which the kernel
 *   already sends to the whole foreground group: srun counts interrupts),
 * - is killed when this process is killed,
 * - and this process ends the way the command did, by exit status or by signal.
 *
 * Exit status: the command's; 125 the node cannot be entered, 126 the command cannot be run,
 * 127 there is no such command.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_ENTER = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

// mnt is last: it changes what /proc means
static const char *const namespaces[] = {"cgroup", "ipc", "uts", "net", "pid", "mnt"};
enum { NAMESPACES = sizeof(namespaces) / sizeof(namespaces[0]) };

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
enum { PASSED_ON = sizeof(passed_on) / sizeof(passed_on[0]) };

static int enter(const char *pid)
{
    int fds[NAMESPACES];
    char path[64];

    for (int i = 0; i < NAMESPACES; i++) {
        snprintf(path, sizeof(path), "/proc/%s/ns/%s", pid, namespaces[i]);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0) {
            fprintf(stderr, "lab: cannot open %s: %m\n", path);
            return -1;
        }
    }
    for (int i = 0; i < NAMESPACES; i++) {
        if (setns(fds[i], 0) < 0) {
            fprintf(stderr, "lab: cannot join the %s namespace of process %s: %m\n", namespaces[i],
                    pid);
            return -1;
        }
        close(fds[i]);
    }
    return 0;
}

// Ends this process as the command ended.
static void end_like(int status)
{
    if (WIFSIGNALED(status)) {
        struct rlimit no_core = {0, 0};
        sigset_t set;
        int sig = WTERMSIG(status);

        setrlimit(RLIMIT_CORE, &no_core);
        signal(sig, SIG_DFL);
        sigemptyset(&set);
        sigaddset(&set, sig);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        kill(getpid(), sig);
        exit(128 + sig);
    }
    exit(WEXITSTATUS(status));
}

static void follow(pid_t child, const sigset_t *set)
{
    for (;;) {
        siginfo_t info;
        int status;
        int sig = sigwaitinfo(set, &info);

        if (sig < 0)
            continue;
        if (sig != SIGCHLD) {
            // by a process; or by the kernel to the leader of a session whose terminal has gone
            if (info.si_code <= 0 || sig == SIGHUP)
                kill(child, sig);
            continue;
        }
        if (waitpid(child, &status, WNOHANG | WUNTRACED) != child)
            continue;
        if (WIFSTOPPED(status))
            raise(SIGSTOP);
        else
            end_like(status);
    }
}

int main(int argc, char **argv)
{
    char cwd[PATH_MAX] = "/";
    sigset_t set, old;
    pid_t child;

    if (argc < 3) {
        fprintf(stderr, "usage: enter PID COMMAND [ARG...]\n");
        return CANNOT_ENTER;
    }
    if (!getcwd(cwd, sizeof(cwd)))
        strcpy(cwd, "/");
    if (enter(argv[1]) < 0)
        return CANNOT_ENTER;
    if (chdir(cwd) < 0 && chdir("/") < 0)
        return CANNOT_ENTER;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (int i = 0; i < PASSED_ON; i++)
        sigaddset(&set, passed_on[i]);
    sigprocmask(SIG_BLOCK, &set, &old);
    signal(SIGCHLD, SIG_DFL);

    child = fork();
    if (child < 0) {
        fprintf(stderr, "lab: cannot start a process in the node: %m\n");
        return CANNOT_ENTER;
    }
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != 0) // the parent, outside this PID namespace, has already gone
            _exit(CANNOT_ENTER);
        sigprocmask(SIG_SETMASK, &old, NULL);
        execvp(argv[2], argv + 2);
        fprintf(stderr, "lab: %s: %m\n", argv[2]);
        _exit(errno == ENOENT ? NOT_FOUND : CANNOT_RUN);
    }
    follow(child, &set);
}
