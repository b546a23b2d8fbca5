/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_HOST_H
#define MUSTER_SPANK_HOST_H

#include <stdint.h>
#include <sys/types.h>

/* The plugin's interface to Slurm: only host.c and the hooks in plugin.c include spank.h. Each
 * message is one line that starts with "muster: ". */

/* Writes to the daemon's log, and to the user if Slurm has connected one. */
void host_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes to the log only. */
void host_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes to the user's standard error. */
void host_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A step on this node, or one task of it. environment is a copy that host_task_free() frees,
 * because Slurm's own array may move with each host_setenv(). argv belongs to Slurm. */
struct host_task {
    void *handle;             /* the hook's spank_t */
    char *const *environment; /* "NAME=value", ends with NULL */
    int argc;
    char *const *argv;
    long local_size; /* tasks of the step on this node; -1 unknown */
};

/* Fills task for the step or task of a hook; handle is the hook's spank_t. Returns 0, or -1 after
 * it has logged which item Slurm does not report, or that memory is out. Free task with
 * host_task_free() in either case. */
int host_task_get(void *handle, struct host_task *task);
void host_task_free(struct host_task *task);

enum host_step {
    HOST_STEP_OTHER, /* the extern step, which has no tasks, or no step */
    HOST_STEP_TASKS, /* tasks of the user's program */
    HOST_STEP_SHELL, /* a batch script, or the shell of salloc */
};

/* Returns the kind of the step with this ID. */
enum host_step host_step(uint32_t step_id);

/* Sets a variable of the step; in the hook task_init, of this task only. Returns 0 or -1. */
int host_setenv(const struct host_task *task, const char *name, const char *value);
int host_unsetenv(const struct host_task *task, const char *name);

/* An envplan_getenv_fn over a NULL-ended array of "NAME=value" (the context). */
const char *host_lookup(const char *name, void *environment);

#endif
