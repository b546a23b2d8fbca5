/* SPDX-License-Identifier: Apache-2.0 */
#undef _FORTIFY_SOURCE /* it would define inline functions with the names defined here */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "tests/spank-host/fixture.h"
#include "tests/spank-host/host.h"
#include "tests/spank-host/watch.h"
#include "tests/unit/tap.h"
#include "tests/unit/tree.h"

/* A step on a node whose sysfs does not answer: the step starts with its environment unchanged, and
 * the user gets one message. A prolog ends even if /var/lib/muster does not answer. The plugin
 * calls the open() and access() that are defined here. */

static enum { ANSWERS, HANGS, DIES } driver;
static const char *hang_suffix; /* open() hangs for paths that end so */
static const char *hang_part;   /* open() and access() hang for paths that contain this */
static int *calls_in_test; /* number of such calls made in the test's process, not in a child */
static bool has_gpus;
static pid_t test;
static int kept = -1; /* a descriptor that is open in the process of the plugin */
static struct {
    int looks, held; /* number of examinations, and of wrong descriptors found by them */
} * child;           /* in memory shared with the child that reads /sys */
enum { SOON_MS = 30000 /* far above a deadline, to tell it from a hang without end */ };

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), end_length = strlen(end);

    return length >= end_length && strcmp(path + length - end_length, end) == 0;
}

/* The child should have /dev/null as standard files and its pipe to the plugin, no others. */
static void look_at_descriptors(void)
{
    struct stat null, found;

    stat("/dev/null", &null);
    child->looks++;
    child->held += fcntl(kept, F_GETFD) >= 0;
    for (int fd = 0; fd <= 2; fd++)
        child->held += fstat(fd, &found) != 0 || found.st_rdev != null.st_rdev;
}

/* Hangs in a child. In the test's process it only counts: there the call would never return. */
static void hang_if_matched(const char *path)
{
    if (hang_part == NULL || strstr(path, hang_part) == NULL)
        return;
    if (getpid() == test)
        ++*calls_in_test;
    while (getpid() != test)
        pause();
}

#pragma GCC visibility push(default)
int access(const char *path, int mode)
{
    hang_if_matched(path);
    return faccessat(AT_FDCWD, path, mode, 0);
}

int open(const char *path, int flags, ...)
{
    static __typeof__(&open) real;
    mode_t mode;
    va_list args;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (strstr(path, "/sys/class/net/eth1/mtu") != NULL && getpid() != test)
        look_at_descriptors();
    if (strstr(path, "/sys/class/net/eth1/mtu") != NULL && driver == DIES && getpid() != test)
        _exit(3);
    while (strstr(path, "/sys/class/net/eth1/mtu") != NULL && driver == HANGS)
        pause();
    while (hang_suffix != NULL && ends_with(path, hang_suffix))
        pause();
    hang_if_matched(path);
    if (real == NULL)
        real = (__typeof__(&open))dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

int __open_2(const char *path, int flags);
int __open_2(const char *path, int flags)
{
    return open(path, flags, 0);
}
#pragma GCC visibility pop

static void complain(const char *line)
{
    ok(0, "%s", line);
}

static void call(const char *local_rank)
{
    host_setenv("SLURM_LOCALID", local_rank);
    host_setenv("SLURM_PROCID", local_rank);
    is_int(host_call("task_init"), 0, "... task_init");
}

static void make_step(char *root)
{
    fixture_load(S_CTX_REMOTE, "");
    host_arguments[1] = root;
    host_setenv("SLURM_JOB_ID", "12");
    host_setenv("SLURM_STEP_ID", "3");
    host_setenv("SLURM_NTASKS", "4");
    host_setenv("SLURMD_NODENAME", "n2");
}

/* Returns the time of init_post_opt in ms. */
static long start_step(char *root, const char *local_rank)
{
    long begin_ms, taken_ms;

    make_step(root);
    if (has_gpus)
        host_setenv("SLURM_STEP_GPUS", "0");
    host_call("init");
    begin_ms = clock_ms();
    is_int(host_call("init_post_opt"), 0, "... init_post_opt");
    taken_ms = clock_ms() - begin_ms;
    call(local_rank);
    return taken_ms;
}

static int count(const char *text)
{
    int found = 0;

    for (const char *at = host_log; (at = strstr(at, text)) != NULL; at++)
        found++;
    return found;
}

static void end_step(void)
{
    ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "... no process is left");
    host_unload();
}

/* Runs a step that goes on despite the fault. lines: the number of messages to the task's user. */
static void step_goes_on(char *root, const char *local_rank, const char *name, bool has_rank,
                         const char *log, int lines)
{
    long taken_ms = start_step(root, local_rank);

    ok((driver == DIES) == (taken_ms < 2900) && taken_ms < SOON_MS, "%s: the step goes on (%ld ms)",
       name, taken_ms);
    is_int(host_getenv("RANK") != NULL, has_rank, "... %s",
           has_rank ? "and the task has its variables" : "with the environment as it was");
    has_str(host_log, log, "... with a message in the log of slurmd");
    is_int(count("tell: muster: n2: environment left unchanged: "), lines,
           "... and %d messages for the user", lines);
    end_step();
}

/* The library of --collectives=muster is on a file system that hangs: a step on one node does not
 * preload it; a step of several nodes does, because the others do. */
static void library_hangs(char *root, const char *nodes)
{
    bool is_alone = strcmp(nodes, "1") == 0;
    long begin_ms, taken_ms;

    fixture_load(S_CTX_REMOTE, "");
    host_arguments[1] = root;
    host_arguments[2] = (char *)"library=/stuck/a.so";
    host_setenv("SLURMD_NODENAME", "n2");
    host_setenv("SLURM_STEP_NUM_NODES", nodes);
    hang_part = "/stuck/";
    host_call("init");
    host_option("collectives", "muster");
    begin_ms = clock_ms();
    is_int(host_call("init_post_opt"), 0, "the preloaded library hangs, nodes: %s: init_post_opt",
           nodes);
    taken_ms = clock_ms() - begin_ms;
    ok(taken_ms >= 2900 && taken_ms < SOON_MS, "... the step goes on (%ld ms)", taken_ms);
    is_int(*calls_in_test, 0, "... slurmstepd itself accesses no such file");
    call("0");
    ok((host_getenv("LD_PRELOAD") == NULL) == is_alone, "... and %s preloaded",
       is_alone ? "nothing is" : "it is");
    has_str(host_log,
            is_alone ? "error: muster: collectives left to MPI: /stuck/a.so: not found within 3 s, "
                       "its file system hangs\n"
                     : "error: muster: collectives library preloaded anyway: "
                       "/stuck/a.so: not found within 3 s, its file system hangs\n",
            "... with a message in the log of slurmd");
    end_step();
    hang_part = NULL;
}

/* A slurmd that was started with standard input, output and error closed. */
static void standard_files_are_closed(char *root)
{
    int saved[3], status;

    make_step(root);
    host_call("init");
    fflush(stdout);
    for (int fd = 0; fd <= 2; fd++)
        saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
    status = host_call("init_post_opt");
    for (int fd = 0; fd <= 2; fd++) {
        dup2(saved[fd], fd);
        close(saved[fd]);
    }
    is_int(status, 0, "standard files are closed: init_post_opt");
    call("0");
    ok(host_getenv("RANK") != NULL, "... and the task has its variables");
    is_str(host_log, "", "... without a message");
    end_step();
}

static int hook(const char *name)
{
    int status = host_call(name);

    ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "... no process is left");
    return status;
}

static void prolog_hangs(void)
{
    char conf[4300];
    long begin_ms;

    if (geteuid() != 0 || !fixture_isolate()) {
        tap_skip("no namespaces to keep the prolog away from this machine");
        return;
    }
    snprintf(conf, sizeof conf, "CertificateFile=%s\nOnMissing=log\n", fixture_path("certificate"));
    hang_part = MUSTER_LOCALSTATEDIR "/lib/muster";
    fixture_load(S_CTX_JOB_SCRIPT, conf);
    begin_ms = clock_ms();
    is_int(hook("job_prolog"), 0, "/var/lib/muster hangs: job_prolog");
    is_int(hook("job_epilog"), 0, "... and job_epilog");
    ok(clock_ms() - begin_ms < SOON_MS, "... both end (%ld ms)", clock_ms() - begin_ms);
    is_int(*calls_in_test, 0, "... and access it only in child processes");
    host_unload();

    snprintf(conf, sizeof conf, "CertificateFile=%s\nOnMissing=refuse\nGateBrake=off\n",
             fixture_path("certificate"));
    hang_part = "/refused.";
    fixture_load(S_CTX_JOB_SCRIPT, conf);
    begin_ms = clock_ms();
    is_int(hook("job_prolog"), -1, "the note of a refusal hangs: the job is still refused");
    ok(clock_ms() - begin_ms < SOON_MS, "... in time (%ld ms)", clock_ms() - begin_ms);
    is_int(*calls_in_test, 0, "... and the note is written in a child process");
    host_unload();
    hang_part = NULL;
}

int main(int argc, char *argv[])
{
    char *machine, root[4300];
    long taken_ms;

    fixture_begin(argv);
    test = getpid();
    kept = memfd_create("kept", 0);
    child = mmap(NULL, sizeof *child, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    calls_in_test = mmap(NULL, sizeof *calls_in_test, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    watch_hooks(complain);
    machine = tree_unpack("lab-node");
    snprintf(root, sizeof root, "root=%s", machine);

    taken_ms = start_step(root, "0");
    ok(host_getenv("RANK") != NULL, "sysfs answers: the task has its variables (%ld ms)", taken_ms);
    is_str(host_log, "", "... without a message");
    end_step();

    standard_files_are_closed(root);

    driver = HANGS;
    step_goes_on(root, "0", "sysfs hangs", false,
                 "error: muster: environment left unchanged: /sys was not read within 3 s", 1);
    ok(child->looks > 0 && child->held == 0,
       "... and the process that hangs has no descriptor of slurmstepd");

    driver = DIES;
    step_goes_on(root, "1", "the process that reads /sys dies", false, "ended without an answer",
                 0);

    driver = ANSWERS;
    hang_suffix = "/muster.conf";
    step_goes_on(root, "0", "muster.conf hangs", false,
                 "environment left unchanged: muster.conf was not read within 3 s", 1);

    hang_suffix = "/gres.conf";
    has_gpus = true;
    step_goes_on(root, "0", "gres.conf hangs", true,
                 "not compared with gres.conf: gres.conf was not read within 3 s", 0);

    hang_suffix = NULL;
    library_hangs(root, "1");
    library_hangs(root, "2");
    prolog_hangs();
    tree_remove(machine);
    fixture_end();
    return tap_done();
}
