/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

/* repeat N [--cold] PROGRAM [ARGUMENT...]: runs a program N times as slurmd runs its prolog (fork,
 * exec, wait), without a shell. Prints the time of each run in us, one line each.
 *
 * hook N [--cold] PLUGIN CONFIG: loads the plugin N times, each time in a new process. Prints the
 * time of job_prolog alone, which includes loading libmunge.
 *
 * --cold empties the page cache before each run. Exit status: 0; 1 a run failed; 2 usage. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef HOOK
#include "tests/spank-host/host.h"
#endif

static double now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static void empty_cache(void)
{
    FILE *stream = fopen("/proc/sys/vm/drop_caches", "w");

    sync();
    if (stream == NULL || fputs("3\n", stream) < 0 || fclose(stream) != 0) {
        fprintf(stderr, "the page cache cannot be emptied: %m\n");
        exit(1);
    }
}

#ifdef HOOK
/* Runs job_prolog; called in a new process. Returns its time in us, -1 if it failed or logged a
 * message. */
static double run(char *argv[])
{
    static char config[4200];
    double begin;
    int status;

    host_load(argv[0], S_CTX_JOB_SCRIPT);
    snprintf(config, sizeof config, "config=%s", argv[1]);
    host_arguments[0] = config;
    begin = now_us();
    status = host_call("job_prolog");
    begin = now_us() - begin;
    if (status != 0 || *host_log != '\0')
        fprintf(stderr, "job_prolog returned %d: %s", status, host_log);
    return status == 0 && *host_log == '\0' ? begin : -1;
}
#endif

/* Runs the program or the hook once. Returns the time in us, -1 if the run failed. */
static double time_one(char *argv[])
{
    double begin, time_us = -1;
    int ends[2], status;
    pid_t child;

    if (pipe(ends) < 0)
        return -1;
    begin = now_us();
    child = fork();
    if (child == 0) {
        close(ends[0]);
#ifdef HOOK
        time_us = run(argv);
        _exit(write(ends[1], &time_us, sizeof time_us) != sizeof time_us);
#else
        fcntl(ends[1], F_SETFD, FD_CLOEXEC);
        execv(argv[0], argv);
        fprintf(stderr, "%s: %m\n", argv[0]);
        _exit(127);
#endif
    }
    close(ends[1]);
#ifdef HOOK
    (void)begin;
    if (read(ends[0], &time_us, sizeof time_us) != sizeof time_us)
        time_us = -1;
#endif
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        time_us = -1;
#ifndef HOOK
    else
        time_us = now_us() - begin;
#endif
    close(ends[0]);
    return time_us;
}

int main(int argc, char *argv[])
{
    int at = 2, is_cold = argc > 2 && strcmp(argv[2], "--cold") == 0;
    long count = argc > 1 ? strtol(argv[1], NULL, 10) : 0;

    at += is_cold;
    if (count < 1 || argc <= at) {
        fprintf(stderr, "usage: %s N [--cold] PROGRAM [ARGUMENT...]\n", argv[0]);
        return 2;
    }
    for (long i = 0; i < count; i++) {
        double time_us;

        if (is_cold)
            empty_cache();
        time_us = time_one(argv + at);
        if (time_us < 0)
            return 1;
        printf("%.1f\n", time_us);
    }
    return 0;
}
