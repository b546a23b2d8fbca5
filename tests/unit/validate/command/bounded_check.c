/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/node/bounded_check.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "lib/base/bounded_child.h"
#include "lib/base/clock.h"
#include "tests/unit/capture.h"
#include "tests/unit/hung_mount.h"

enum {
    ANY_AGE_S = -3600 /* a limit long over */,
    ENDS_S = 60 /* a limit for work that ends by itself */
};

static char directory[64], file[96];

static int finish(void *context, const char **at)
{
    *at = "the end";
    printf("done");
    return 7;
}

static int read_file(void *context, const char **at)
{
    *at = "host.jobs";
    printf("%s fails\n", (const char *)context);
    return open(file, O_RDONLY);
}

static int exit_early(void *context, const char **at)
{
    exit(0);
}

/* Runs work. Returns what it printed, then "!" and the reason if it did not end. */
static const char *bounded_output(double limit_s, int (*work)(void *context, const char **at),
                                  int *status)
{
    static char part[] = "eth1", text[600];
    struct error err;
    int rv;

    capture_begin();
    rv = bounded_check(limit_s, work, part, status, &err);
    snprintf(text, sizeof text, "%s%s%s", capture_end(1), rv != 0 ? "!" : "",
             rv != 0 ? err.text : "");
    return text;
}

/* Starts an earlier check that was killed and still hangs. */
static pid_t start_earlier(void)
{
    pid_t child = fork();

    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "muster-health");
    (void)!open(file, O_RDONLY);
    _exit(0);
}

static void test_earlier_check(void)
{
    pid_t child = start_earlier();
    double begin_s = clock_s();
    char expected[200];
    int status;

    while (bounded_find_stuck("muster-health", ANY_AGE_S) == 0 && clock_s() - begin_s < ENDS_S)
        usleep(1000);
    snprintf(expected, sizeof expected,
             "!%s does not respond: process %d of an earlier check waits for it", file, (int)child);
    is_str(bounded_output(ANY_AGE_S, finish, &status), expected,
           "no check is started while an earlier one hangs");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

int main(void)
{
    char expected[200];
    int status, fd;

    is_str(bounded_output(ENDS_S, finish, &status), "done", "the output of a check");
    is_int(status, 7, "... and its status");
    is_str(bounded_output(ENDS_S, exit_early, &status),
           "!ended early in configuration and inventory", "a check that a library ends");

    snprintf(directory, sizeof directory, "/tmp/muster-check-XXXXXX");
    if (unshare(CLONE_NEWNS) < 0 || mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        !mkdtemp(directory) || (fd = hung_mount(directory)) < 0) {
        tap_skip("nothing that hangs can be mounted: %s", strerror(errno));
        rmdir(directory);
        return tap_done();
    }
    snprintf(file, sizeof file, "%s/certificate", directory);
    snprintf(expected, sizeof expected,
             "eth1 fails\n!%s does not respond: stopped after 1 s in host.jobs", file);
    is_str(bounded_output(1, read_file, &status), expected,
           "a check that hangs: its output, the file, and where");
    test_earlier_check();
    umount2(directory, MNT_DETACH);
    close(fd);
    rmdir(directory);
    return tap_done();
}
