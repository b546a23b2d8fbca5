/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/policy/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/tap.h"

static char directory[] = "/tmp/muster-testing-XXXXXX";

/* Opens a run's journal, which is locked while the run lives. */
static int journal_open(const char *run)
{
    char path[256];
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, run);
    fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    flock(fd, LOCK_EX);
    return fd;
}

static const char *nodes_of_others(const char *run)
{
    static char text[256];
    struct hostlist nodes;
    char *folded;

    if (testing_read(directory, run, &nodes, NULL) != 0)
        return "an error";
    folded = hostlist_fold(&nodes);
    snprintf(text, sizeof text, "%s", folded ? folded : "");
    free(folded);
    hostlist_clear(&nodes);
    return text;
}

enum { LOCKED = 7, NOT_LOCKED, NO_MOUNT };

/* Locks while the journals' file system is read-only. */
static int lock_read_only(void)
{
    struct error err;

    if ((unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount(directory, directory, NULL, MS_BIND, NULL) != 0 ||
        mount("none", directory, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return NO_MOUNT;
    return testing_lock(directory, &err) >= 0 ? LOCKED : NOT_LOCKED;
}

int main(void)
{
    struct hostlist nodes;
    struct error err;
    int a, b, lock, status, taken[4096], count = 0;
    char command[300];
    pid_t pid;

    ok(testing_lock("/tmp/muster-testing-none/runs", &err) < 0 && errno == ENOENT,
       "without a journal directory no other run is choosing");
    is_int(testing_read("/tmp/muster-testing-none", "c", &nodes, &err), 0, "... nor tests nodes");
    is_int(testing_read("/dev/null", "c", &nodes, &err), -1, "a file instead of it is an error");
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64});
    ok(mkdtemp(directory) != NULL, "a directory for journals is made");
    snprintf(command, sizeof command, "%s/first", directory);
    is_int(symlink("nowhere", command), 0, "a dangling link comes before the journals");
    a = journal_open("a");
    b = journal_open("b");
    is_str(nodes_of_others("b"), "", "no node is in tests yet");
    hostlist_expand("n[1-3]", &nodes, &err);
    is_int(dprintf(a, "\njob x\n") > 0, 1, "a journal has other lines, too");
    is_int(testing_write(a, &nodes, &err), 0, "run a takes three nodes");
    hostlist_clear(&nodes);
    is_str(nodes_of_others("b"), "n[1-3]", "run b reads these nodes");
    is_str(nodes_of_others("a"), "", "... and run a does not get its own");
    hostlist_expand("n7", &nodes, &err);
    testing_write(b, &nodes, &err);
    hostlist_clear(&nodes);
    is_str(nodes_of_others("c"), "n[1-3,7]", "a third run reads both");
    close(a);
    is_str(nodes_of_others("c"), "n7", "a run that has ended tests nothing");
    a = journal_open("a");
    flock(a, LOCK_SH);
    is_str(nodes_of_others("c"), "n7", "... also while another run has its journal open");
    close(a);
    is_int(testing_write(-1, &nodes, &err), 0, "without nodes nothing is written");

    snprintf(command, sizeof command, "%s/no-journal", directory);
    is_int(mkfifo(command, 0600), 0, "a FIFO without a writer");
    alarm(20);
    is_str(nodes_of_others("c"), "n7", "... is no journal and causes no wait");
    alarm(0);
    snprintf(command, sizeof command, "%s/no-file", directory);
    is_int(symlink("nowhere", command), 0, "a dangling link");
    is_str(nodes_of_others("c"), "n7", "... is no journal, like one that was just removed");

    for (lock = dup(0); lock >= 0 && count < 4096; lock = dup(0))
        taken[count++] = lock;
    close(taken[--count]); /* one is left to open the directory */
    is_int(testing_read(directory, "c", &nodes, &err), -1,
           "journals that cannot be opened are an error");
    has_str(err.text, "Too many open files",
            "... with the reason, since their nodes may be in tests");
    while (count > 0)
        close(taken[--count]);

    lock = testing_lock(directory, &err);
    ok(lock >= 0, "the choice of nodes is locked");
    pid = fork();
    if (pid == 0) { /* waits until the lock is free */
        int second;

        close(lock); /* else the child would hold it, too */
        second = testing_lock(directory, &err);
        _exit(second >= 0 ? 7 : 8);
    }
    usleep(300000);
    is_int(waitpid(pid, &status, WNOHANG), 0, "another run waits");
    close(lock);
    waitpid(pid, &status, 0);
    is_int(WEXITSTATUS(status), 7, "... and gets the lock");
    pid = fork();
    if (pid == 0)
        _exit(lock_read_only());
    waitpid(pid, &status, 0);
    if (WEXITSTATUS(status) == NO_MOUNT)
        tap_skip("nothing can be mounted here");
    else
        is_int(WEXITSTATUS(status), LOCKED, "a read-only file system does not prevent the lock");
    ok(testing_lock("/proc/nowhere", &err) < 0,
       "a directory that cannot hold the lock is an error");
    has_str(err.text, "/proc/nowhere/.turn", "... which names the path");
    close(b);
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    is_int(system(command), 0, "the directory is removed");
    return tap_done();
}
