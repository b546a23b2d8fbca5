/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_LAUNCH_H
#define MUSTER_RUN_LAUNCH_H

#include <signal.h>
#include <stdbool.h>

#include "lib/base/error.h"

/* Runs the command of `muster run` with our own standard input, output and error, in our process
 * group: it has the terminal as if it were started directly. */

/* The signal that asked for the end, SIGINT, SIGTERM, SIGHUP or SIGQUIT; 0: none. */
extern volatile sig_atomic_t launch_stop;

/* From here on passes these signals, SIGUSR1 and SIGUSR2 on to the command, if one runs; signals of
 * a terminal's keys reach it anyhow. */
void launch_catch_signals(void);

struct launch {
    char *const *argv;
    char *const *environment; /* "NAME=VALUE" besides our own, ends with NULL; may be NULL */
    /* Called some times a second. Returns whether the command has to end: SIGTERM, and SIGKILL
     * RUN_TERM_S later, as after launch_stop. */
    bool (*on_tick)(void *context);
    void *context;
};

/* Runs the command to its end. Returns 0 with *status: its exit status, or 128 + the signal that
 * ended it, which is SIGTERM also if on_tick() ended it and its status was 0. Returns -1 with err
 * and *status 126 or 127, as a shell's, if it cannot be started. */
int launch_run(const struct launch *launch, int *status, struct error *err);

#endif
