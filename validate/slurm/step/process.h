/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PROCESS_H
#define MUSTER_PROCESS_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "validate/slurm/step/error_line.h"

/* Starts, watches and reaps a program, without a shell. The program and its children are a process
 * group of their own: Ctrl-C at the terminal does not reach them, and a deadline ends them all. If
 * this process dies, the program gets SIGTERM: srun then cancels its job, even a pending one. */

/* A line of the program's output without its newline. A line over 64 KiB comes in pieces. */
typedef void process_line_fn(const char *line, bool is_error, void *context);

struct user;

struct process {
    char *const *argv;              /* argv[0] is looked up in PATH; ends with NULL */
    const char *const *environment; /* "NAME=VALUE" besides our own, ends with NULL; may be NULL */
    const struct user *user;        /* the user that it runs as (root only); NULL: our own */
    const char *input; /* written to its standard input, which is then closed; NULL: /dev/null */
    bool holds_input;  /* without input: its standard input stays open and empty */
    double deadline_s; /* from the start; then SIGTERM to the group, SIGKILL grace_s later */
    double grace_s;
    process_line_fn *on_line; /* may be NULL */
    /* Called about ten times a second; may be NULL. It may run a program itself: the output of this
     * one is read meanwhile. */
    void (*on_tick)(void *context);
    void *context;
    const volatile sig_atomic_t *stop; /* ended as by the deadline once not 0; may be NULL */
    /* The exit status in the program's output; negative until on_line has read it. It overrides the
     * launcher's status, and the launcher then has a few seconds to end. May be NULL. */
    const int *reported_status;
};

enum process_end {
    PROCESS_EXITED,   /* status is the exit status */
    PROCESS_SIGNALED, /* status is the signal */
    PROCESS_TIMED_OUT,
    PROCESS_STOPPED, /* because of *stop */
};

struct process_result {
    enum process_end end;
    int status;
    bool has_hung; /* it reported its status but did not end */
    double seconds;
    struct error_line error_line; /* from standard error */
};

/* An environment in which Slurm's commands print for programs: times in UTC as
 * "2026-11-25T17:16:01", whatever the user's SLURM_TIME_FORMAT and TZ, and messages in English. */
extern const char *const process_parse_environment[];

/* Runs the program to its end. A process that hangs in the kernel is abandoned. Returns 0 with
 * *result, or -1 with err if the program could not be started (not found, no memory, no more
 * processes, its user not available). */
int process_run(const struct process *process, struct process_result *result, struct error *err);

/* Runs a command, whose words end with NULL, in the environment process_parse_environment. Returns
 * 0 with what it wrote to standard output in *text, malloc'd, or -1 with err: its message if it
 * failed, or that it did not end within deadline_s. */
int process_output(const char *const *words, double deadline_s, char **text, struct error *err);
/* As process_output(), with the exit status; -1: there is none, as the command was not started or
 * had to be ended. */
int process_output_status(const char *const *words, double deadline_s, char **text, int *status,
                          struct error *err);

/* An argument vector that is put together piece by piece. */
struct arguments {
    char **argv; /* always ends with NULL once something was added */
    int count;
    bool out_of_memory;
};

void arguments_add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arguments_clear(struct arguments *arguments);

#endif
