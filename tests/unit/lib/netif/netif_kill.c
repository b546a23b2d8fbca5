/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/netif/netif_apply.h"
#include "tests/unit/lib/netif/netif_fake.h"
#include "tests/unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that sets interfaces is killed before each of its steps in turn (each read of the
 * machine, each setting, each system call on the journal), or each step fails in turn. In every
 * case the next epilog restores all settings. */

static char directory[64];
static char path[96];

static struct steps {
    unsigned count;
    unsigned at; /* the step to be killed before, or to fail; 0: none */
    bool is_failure;
    bool is_reached;
} * steps;

/* Counts a step. Returns whether it is to fail; exits if the process is to be killed here. */
static bool step(void)
{
    if (++steps->count != steps->at)
        return false;
    steps->is_reached = true;
    if (!steps->is_failure)
        _exit(42);
    errno = EIO;
    return true;
}

/* The linker replaces the C library's functions by these (-Wl,--wrap). */
int __real_open(const char *name, int flags, ...);
ssize_t __real_write(int fd, const void *data, size_t size);
int __real_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __real_unlink(const char *name);

static bool is_counted;
static unsigned *synced; /* calls of fsync() in all processes */

int __wrap_open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    va_list arguments;

    if (flags & O_CREAT) {
        va_start(arguments, flags);
        mode = (mode_t)va_arg(arguments, int);
        va_end(arguments);
    }
    return is_counted && step() ? -1 : __real_open(name, flags, mode);
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    /* a failed write leaves half of the data */
    if (is_counted && step()) {
        (void)!__real_write(fd, data, size / 2);
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, data, size);
}

int __wrap_fsync(int fd)
{
    (*synced)++;
    return __real_fsync(fd);
}

int __wrap_rename(const char *from, const char *to)
{
    return is_counted && step() ? -1 : __real_rename(from, to);
}

int __wrap_unlink(const char *name)
{
    return is_counted && step() ? -1 : __real_unlink(name);
}

/* ---------------------------------------------------------------- */

struct call {
    const char *line; /* to apply; NULL: to restore */
    uint32_t job;
};

static void run_call(const struct call *call)
{
    struct netif_report report = {0};

    if (call->line)
        fake_apply(path, call->line, call->job, &report);
    else
        netif_restore(path, 1000, &fake_machine, RESTORE_JOB, call->job, &report);
}

/* Runs the call in a child, up to step `at`. Returns whether the child reached that step. */
static bool run_call_until(const struct call *call, unsigned at, bool is_failure)
{
    pid_t child;

    *steps = (struct steps){.at = at, .is_failure = is_failure};
    child = fork();
    if (child == 0) {
        is_counted = true;
        fake_step = step;
        run_call(call);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return steps->is_reached;
}

/* Returns whether the journal can be read and has an entry for each changed value. */
static bool is_in_journal(void)
{
    static const char *const names[] = {"eth1", "eth2"};
    static const enum netif_setting settings[] = {NETIF_MTU, NETIF_TXQUEUELEN,  NETIF_RP_FILTER,
                                                  NETIF_UP,  NETIF_ROCE_CONFIG, NETIF_ROCE_MODE};
    static const long before[] = {1500, 1000, 1, 0, 0, 1};
    struct netif_journal journal;
    bool is_complete = journal_load(path, &journal, NULL) >= 0;

    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < sizeof before / sizeof *before; j++) {
            struct netif_entry *entry = journal_find(&journal, 3 + (int)i, settings[j]);

            if (fake_value(names[i], settings[j]) != before[j] &&
                (!entry || entry->was != before[j]))
                is_complete = false;
        }
    journal_clear(&journal);
    return is_complete;
}

/* Runs the calls in `before`, then `killed`, which is killed or fails at each of its steps in
 * turn, then the calls in `after`. */
static void all_is_restored(const char *name, bool is_failure, const struct call *before,
                            const struct call *killed, const struct call *after)
{
    unsigned at, lost = 0, left = 0;

    for (at = 1;; at++) {
        bool is_reached;

        fake_reset();
        for (const struct call *call = before; call->job; call++)
            run_call(call);
        is_reached = run_call_until(killed, at, is_failure);
        if (!is_in_journal())
            lost++;
        for (const struct call *call = after; call->job; call++)
            run_call(call);
        if (!fake_has_initial_values() || access(path, F_OK) == 0) {
            left++;
            tap_diag("step %u of %s", at, name);
        }
        unlink(path);
        if (!is_reached || at > 500)
            break;
    }
    ok(at > 5 && at < 500, "%s, %s at each of %u steps", name, is_failure ? "failing" : "killed",
       at - 1);
    is_int(lost, 0, "... each changed value is in the journal");
    is_int(left, 0, "... and all values are restored at the end");
}

#define A "eth[1-2] mtu=9000 txqueuelen=5000 rp_filter=2 up=yes"
#define B "eth[1-2] mtu=4000 up=yes roce-mode=v2"

static void killed_and_failing(bool is_failure)
{
    const struct call none[] = {{NULL, 0}};
    const struct call one[] = {{A, 12}, {NULL, 0}};
    const struct call two[] = {{A, 12}, {B, 13}, {NULL, 0}};
    const struct call end_12[] = {{NULL, 12}, {NULL, 0}};
    const struct call end_13[] = {{NULL, 13}, {NULL, 0}};
    const struct call end_both[] = {{NULL, 12}, {NULL, 13}, {NULL, 0}};
    const struct call end_other[] = {{NULL, 13}, {NULL, 12}, {NULL, 0}};

    all_is_restored("a prolog", is_failure, none, &one[0], end_12);
    all_is_restored("a prolog with RoCE", is_failure, none, &two[1], end_13);
    all_is_restored("a second prolog", is_failure, one, &two[1], end_both);
    all_is_restored("a second prolog, the other order", is_failure, one, &two[1], end_other);
    all_is_restored("an epilog that Slurm runs again", is_failure, one, &end_12[0], end_12);
    all_is_restored("the first of two epilogs", is_failure, two, &end_12[0], end_both);
    all_is_restored("the last of two epilogs", is_failure, two, &end_12[0], end_other);
}

/* If an epilog is killed after it has written the journal, the next job completes it. */
static void next_job_completes_it(void)
{
    struct call prolog = {A, 12}, epilog = {NULL, 12}, next = {"eth1 arp_ignore=1", 14};
    struct call next_end = {NULL, 14};
    unsigned ended = 0, at;

    for (at = 1; at < 500; at++) {
        struct netif_journal journal;
        bool is_noted;

        fake_reset();
        run_call(&prolog);
        if (!run_call_until(&epilog, at, false))
            break;
        is_noted = journal_load(path, &journal, NULL) == 0 && journal.count > 0 &&
                   journal.entries[0].job_count == 0;
        journal_clear(&journal);
        run_call(&next);
        run_call(&next_end);
        if (is_noted && fake_has_initial_values())
            ended++;
        else if (is_noted)
            tap_diag("step %u", at);
        run_call(&epilog);
    }
    ok(ended > 10, "an epilog killed at %u later steps is completed by the next job", ended);
}

/* Prologs and epilogs of several jobs at once, on one node. */
static void many_at_once(void)
{
    enum { JOBS = 4, ROUNDS = 25 };
    pid_t children[JOBS];
    int failed = 0, status;

    fake_reset();
    for (uint32_t job = 0; job < JOBS; job++) {
        children[job] = fork();
        if (children[job] == 0) {
            struct call prolog = {job % 2 ? A : B, 20 + job}, epilog = {NULL, 20 + job};

            for (int round = 0; round < ROUNDS; round++) {
                run_call(&prolog);
                if (fake_value("eth1", NETIF_UP) != 1)
                    _exit(1); /* another job's epilog restored it */
                run_call(&epilog);
            }
            _exit(0);
        }
    }
    for (int job = 0; job < JOBS; job++) {
        waitpid(children[job], &status, 0);
        failed += status != 0;
    }
    is_int(failed, 0, "%d jobs at once, %d times: none restores a setting of another", JOBS,
           ROUNDS);
    ok(fake_has_initial_values() && access(path, F_OK) != 0, "... and all is restored");
}

static void waits_for_the_lock(void)
{
    struct netif_report report = {0};
    int lock = journal_lock(path, 0, NULL);

    netif_restore(path, 20, &fake_machine, RESTORE_ORPHANS, 0, &report);
    has_str(report.lines[0].text, "locked by another prolog or epilog for 20 ms",
            "the wait for a lock ends at its limit");
    close(lock);
}

int main(void)
{
    char name[128];

    snprintf(directory, sizeof directory, "%s/muster-netif-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(directory))
        return 99;
    snprintf(path, sizeof path, "%s/interfaces", directory);
    steps = mmap(NULL, sizeof *steps, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    synced = mmap(NULL, sizeof *synced, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    killed_and_failing(false);
    killed_and_failing(true);
    next_job_completes_it();
    many_at_once();
    waits_for_the_lock();
    is_int(*synced, 0, "no job calls fsync()");
    snprintf(name, sizeof name, "%s.lock", path);
    unlink(name);
    snprintf(name, sizeof name, "%s.new", path);
    unlink(name);
    is_int(rmdir(directory), 0, "no file is left behind");
    return tap_done();
}
