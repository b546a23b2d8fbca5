/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/spank-host/watch.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/spank-host/host.h"

enum { FILES = 128, SIGNALS = 65 };

struct state {
    struct {
        dev_t device;
        ino_t inode;
    } files[FILES]; /* 0, 0: closed */
    mode_t umask;
    char directory[PATH_MAX];
    sigset_t mask;
    struct sigaction actions[SIGNALS];
    struct rlimit limits[RLIM_NLIMITS];
    uid_t uids[3];
    gid_t gids[3];
    unsigned long environ_hash;
    nlink_t threads;
    int has_alarm, has_children;
};

static struct state before;
static void (*complain_line)(const char *line);

static void complain(const char *hook, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void complain(const char *hook, const char *format, ...)
{
    char line[512];
    int length = snprintf(line, sizeof line, "%s: ", hook);
    va_list args;

    va_start(args, format);
    vsnprintf(line + length, sizeof line - (size_t)length, format, args);
    va_end(args);
    complain_line(line);
}

static unsigned long hash_environ(void)
{
    unsigned long hash = 5381;

    for (char **entry = environ; entry != NULL && *entry != NULL; entry++)
        for (const char *c = *entry; *c != '\0'; c++)
            hash = hash * 33 + (unsigned char)*c;
    return hash;
}

static void state_read(struct state *state)
{
    struct itimerval timer;
    struct stat status;
    siginfo_t child;

    memset(state, 0, sizeof *state);
    for (int fd = 0; fd < FILES; fd++) {
        if (fstat(fd, &status) < 0)
            continue;
        state->files[fd].device = status.st_dev;
        state->files[fd].inode = status.st_ino;
    }
    state->umask = umask(0);
    umask(state->umask);
    if (getcwd(state->directory, sizeof state->directory) == NULL)
        state->directory[0] = '\0';
    sigprocmask(SIG_SETMASK, NULL, &state->mask);
    for (int number = 1; number < SIGNALS; number++)
        sigaction(number, NULL, &state->actions[number]);
    for (int i = 0; i < (int)RLIM_NLIMITS; i++)
        getrlimit((__rlimit_resource_t)i, &state->limits[i]);
    getresuid(&state->uids[0], &state->uids[1], &state->uids[2]);
    getresgid(&state->gids[0], &state->gids[1], &state->gids[2]);
    state->environ_hash = hash_environ();
    state->threads = stat("/proc/self/task", &status) == 0 ? status.st_nlink : 0;
    getitimer(ITIMER_REAL, &timer);
    state->has_alarm = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
    state->has_children = waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* Waits for children that the plugin killed and that have not ended yet: these are not left behind.
 * Returns false if another child ended. */
static bool killed_children_are_gone(void)
{
    siginfo_t child = {0};

    while (waitid(P_ALL, 0, &child, WEXITED | WNOWAIT) == 0) {
        if (child.si_code != CLD_KILLED || child.si_status != SIGKILL)
            return false;
        waitpid(child.si_pid, NULL, 0);
    }
    return true;
}

static void before_hook(const char *hook)
{
    (void)hook;
    state_read(&before);
}

static int may_fail(const char *hook)
{
    spank_context_t context = host_job.context;
    int is_front = context == S_CTX_LOCAL || context == S_CTX_ALLOCATOR;

    if (strcmp(hook, "job_prolog") == 0)
        return context == S_CTX_JOB_SCRIPT;
    if (strcmp(hook, "init_post_opt") == 0 || strcmp(hook, "local_user_init") == 0)
        return is_front;
    /* callbacks of options, which may refuse a value */
    return strncmp(hook, "muster", strlen("muster")) == 0 || strcmp(hook, "preflight") == 0 ||
           strcmp(hook, "collectives") == 0;
}

static void after_hook(const char *hook, int status)
{
    static struct state after;

    state_read(&after);
    if (status != 0 && (status != -1 || !may_fail(hook)))
        complain(hook, "returned %d", status);
    for (int fd = 0; fd < FILES; fd++)
        if (memcmp(&before.files[fd], &after.files[fd], sizeof before.files[fd]) != 0)
            complain(hook, "descriptor %d %s", fd,
                     before.files[fd].inode == 0  ? "left open"
                     : after.files[fd].inode == 0 ? "closed"
                                                  : "replaced");
    if (before.umask != after.umask)
        complain(hook, "umask %o, was %o", (unsigned)after.umask, (unsigned)before.umask);
    if (strcmp(before.directory, after.directory) != 0)
        complain(hook, "working directory %s, was %s", after.directory, before.directory);
    if (memcmp(&before.mask, &after.mask, sizeof before.mask) != 0)
        complain(hook, "another signal mask");
    for (int i = 1; i < SIGNALS; i++)
        if (before.actions[i].sa_handler != after.actions[i].sa_handler ||
            before.actions[i].sa_flags != after.actions[i].sa_flags)
            complain(hook, "another action for signal %d", i);
    if (memcmp(before.limits, after.limits, sizeof before.limits) != 0)
        complain(hook, "other resource limits");
    if (memcmp(before.uids, after.uids, sizeof before.uids) != 0 ||
        memcmp(before.gids, after.gids, sizeof before.gids) != 0)
        complain(hook, "another user or group");
    if (before.environ_hash != after.environ_hash && host_job.context != S_CTX_LOCAL)
        complain(hook, "the process's environ changed");
    if (before.threads != after.threads)
        complain(hook, "a thread is left");
    if (before.has_alarm != after.has_alarm)
        complain(hook, "the alarm changed");
    if (!before.has_children && after.has_children && !killed_children_are_gone())
        complain(hook, "a child is left");
}

void watch_hooks(void (*complain_function)(const char *line))
{
    complain_line = complain_function;
    host_before_hook = before_hook;
    host_after_hook = after_hook;
}
