/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_HOST_H
#define MUSTER_SPANK_HOST_H

#include <stdint.h>
#include <sys/types.h>

/* What the rooms of the plugin know of Slurm; only host.c and the hooks in plugin.c include
 * spank.h. Each message is one line that starts with "muster: ". */

/* To the log of the daemon, and to the user wherever Slurm has connected one. */
void host_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* To the log only. */
void host_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* To the user's standard error. */
void host_print(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A step on this node, or one task of it. The arrays end with NULL and are the caller's: Slurm's
 * own may move with each host_setenv(). */
struct host_task {
    void *handle;             /* Slurm's */
    char *const *environment; /* "NAME=value" */
    int argc;
    char *const *argv;
    long local_size; /* tasks of the step on this node; -1 unknown */
};

/* Of the step, or task, that a hook was called for: handle is the hook's spank_t. Returns 0, or -1
 * after it has logged what Slurm does not tell, or that memory is out. host_task_free() it either
 * way. */
int host_task_get(void *handle, struct host_task *task);
void host_task_free(struct host_task *task);

enum host_step {
    HOST_STEP_OTHER, /* the extern step, which has no tasks; none */
    HOST_STEP_TASKS, /* of the user's program */
    HOST_STEP_SHELL, /* a batch script, or the shell of salloc */
};

/* What the step with this ID is for. */
enum host_step host_step(uint32_t step_id);

/* Sets a variable of the step, or in task_init of this task only. Returns 0 or -1. */
int host_setenv(const struct host_task *task, const char *name, const char *value);
int host_unsetenv(const struct host_task *task, const char *name);

/* An envplan_getenv_fn over a NULL-ended array of "NAME=value" (the context). */
const char *host_lookup(const char *name, void *environment);

#endif
