// SPDX-License-Identifier: Apache-2.0
/*
 * enter - run a command inside a lab node, as if it had been started there.
 *
 *   enter LAB NODE COMMAND [ARG...]
 *
 * LAB is the directory of the lab's state. Joins the cgroups and namespaces of NODE and runs
 * COMMAND there, with this process's descriptors, environment (with the tree's prefix first in
 * PATH) and, if it exists in the node, working directory. nsenter(1) leaves the command running
 * when nsenter is killed. Here
 *
 * - the command gets every signal that a process sends to this one (not those of the terminal,
 *   which the kernel already sends to the whole foreground group: srun counts interrupts),
 * - the command is killed when this process is killed,
 * - and this process ends the way the command did, by exit status or by signal.
 *
 * Exit status: the command's; 125 if the node cannot be entered (for instance because it is
 * frozen), 126 if the command cannot be run, 127 if there is no such command.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT_ENTER = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

// mnt is last: joining it replaces /proc
static const char *const namespaces[] = {"cgroup", "ipc", "uts", "net", "pid", "mnt"};
enum { NAMESPACES = sizeof(namespaces) / sizeof(namespaces[0]) };

static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
enum { PASSED_ON = sizeof(passed_on) / sizeof(passed_on[0]) };

// Reads the file at the formatted path into text, without newlines at its end. Returns 0, or -1.
static int read_file(char *text, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list arguments;
    ssize_t length;
    int fd;

    va_start(arguments, format);
    vsnprintf(path, sizeof(path), format, arguments);
    va_end(arguments);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    length = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    if (length < 0)
        return -1;
    while (length > 0 && text[length - 1] == '\n')
        length--;
    text[length] = 0;
    return 0;
}

// Returns the PID, outside the node, of the node's process 1. Returns -1 if it no longer runs: the
// node's file has its start time, too.
static int init_of(const char *lab, const char *node)
{
    char text[64], now[1024];
    unsigned long long start, since;
    const char *after_name;
    int pid;

    if (read_file(text, sizeof(text), "%s/%s/pid", lab, node) ||
        sscanf(text, "%d %llu", &pid, &start) != 2 ||
        read_file(now, sizeof(now), "/proc/%d/stat", pid))
        return -1;
    after_name = strrchr(now, ')'); // fields 3 to 21 follow, then the start time
    if (!after_name ||
        sscanf(after_name + 1,
               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu",
               &since) != 1)
        return -1;
    return since == start ? pid : -1;
}

// Joins the node's cgroup of each hierarchy that the lab has. Returns 0, or -1 with a line.
static int join_cgroups(const char *lab, const char *node)
{
    char roots[4 * PATH_MAX], frozen[32], path[PATH_MAX], pid[16];
    int has_freezer = 0, length = snprintf(pid, sizeof(pid), "%d", getpid());

    if (read_file(roots, sizeof(roots), "%s/cgroups", lab))
        roots[0] = 0;
    for (char *root = strtok(roots, "\n"); root; root = strtok(NULL, "\n")) {
        if (read_file(frozen, sizeof(frozen), "%s/%s/freezer.state", root, node) == 0) {
            has_freezer = 1;
            if (strcmp(frozen, "THAWED") != 0) {
                fprintf(stderr, "lab: %s is frozen, nothing runs on it; its files are in %s/%s\n",
                        node, lab, node);
                return -1;
            }
        }
    }
    if (!has_freezer) {
        fprintf(stderr,
                "lab: %s has no freezer that can be seen here, was lab up run in another mount "
                "namespace?\n",
                node);
        return -1;
    }
    read_file(roots, sizeof(roots), "%s/cgroups", lab);
    for (char *root = strtok(roots, "\n"); root; root = strtok(NULL, "\n")) {
        snprintf(path, sizeof(path), "%s/%s/cgroup.procs", root, node);
        int fd = open(path, O_WRONLY | O_CLOEXEC);

        if (fd < 0 || write(fd, pid, (size_t)length) != length) {
            fprintf(stderr, "lab: cannot join %s: %m\n", path);
            return -1;
        }
        close(fd);
    }
    return 0;
}

static int join_namespaces(int pid)
{
    int fds[NAMESPACES];
    char path[64];

    for (int i = 0; i < NAMESPACES; i++) {
        snprintf(path, sizeof(path), "/proc/%d/ns/%s", pid, namespaces[i]);
        fds[i] = open(path, O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0) {
            fprintf(stderr, "lab: cannot open %s: %m\n", path);
            return -1;
        }
    }
    for (int i = 0; i < NAMESPACES; i++) {
        if (setns(fds[i], 0) < 0) {
            fprintf(stderr, "lab: cannot join the %s namespace of process %d: %m\n", namespaces[i],
                    pid);
            return -1;
        }
        close(fds[i]);
    }
    return 0;
}

static int enter(const char *lab, const char *node)
{
    int pid = init_of(lab, node);

    if (pid < 0) {
        fprintf(stderr, "lab: %s is not running; try: lab down, lab up\n", node);
        return -1;
    }
    return join_cgroups(lab, node) || join_namespaces(pid) ? -1 : 0;
}

// Sets PATH and the lab's name, and lets root start mpirun by hand.
static void set_environment(const char *lab)
{
    const char *name = strrchr(lab, '/');
    char prefix[PATH_MAX], path[3 * PATH_MAX];

    if (read_file(prefix, sizeof(prefix), "%s/prefix", lab) == 0) {
        snprintf(path, sizeof(path),
                 "%s/bin:%s/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                 prefix, prefix);
        setenv("PATH", path, 1);
    }
    setenv("MUSTER_LAB", name ? name + 1 : lab, 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    unsetenv("TMPDIR");
    unsetenv("SLURM_CONF");
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

static void forward_signals(pid_t child, const sigset_t *set)
{
    for (;;) {
        siginfo_t info;
        int status;
        int sig = sigwaitinfo(set, &info);

        if (sig < 0)
            continue;
        if (sig != SIGCHLD) {
            // sent by a process, or by the kernel to a session leader whose terminal has gone
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

    if (argc < 4) {
        fprintf(stderr, "usage: enter LAB NODE COMMAND [ARG...]\n");
        return CANNOT_ENTER;
    }
    if (!getcwd(cwd, sizeof(cwd)))
        strcpy(cwd, "/");
    set_environment(argv[1]);
    if (enter(argv[1], argv[2]) < 0)
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
        execvp(argv[3], argv + 3);
        fprintf(stderr, "lab: %s: %m\n", argv[3]);
        _exit(errno == ENOENT ? NOT_FOUND : CANNOT_RUN);
    }
    forward_signals(child, &set);
}
