/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_DEADLINE_H
#define MUSTER_SPANK_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Work in a process of its own, which is given up at a deadline: what hangs inside the kernel (a
 * driver behind sysfs, a file system) or a library cannot be interrupted otherwise. The answer
 * comes through a pipe.
 *
 * slurmstepd has threads when it forks here. The work may allocate and use stdio, whose locks the C
 * library sets right in the child, and must not call Slurm. */

struct deadline {
    pid_t child; /* -1: there is none */
    int fd;      /* the answer */
    long at_ms;  /* clock_ms() */
};

/* Runs in the child: writes the answer to fd. What it leaves of the process's state is lost. */
typedef void deadline_work(int fd, void *context);

/* Starts the work. Returns false with errno when there is no pipe or no process for it; then
 * nothing is to be ended. The child dies with this process and keeps none of its descriptors open.
 */
bool deadline_start(struct deadline *deadline, long limit_ms, deadline_work *work, void *context);

/* The next size bytes of the answer. Returns false when they do not come in time, or at all. */
bool deadline_read(const struct deadline *deadline, void *bytes, size_t size);

/* Ends the work if need be. Returns whether the deadline was what ended it. No child is left but
 * one that cannot die yet; only this child is waited for. has_answer: the whole answer is there. */
bool deadline_end(struct deadline *deadline, bool has_answer);

/* Best effort: does the work in a process of its own, and returns when it is done, given up at the
 * deadline, or when there is no process for it. */
void deadline_try(long limit_ms, void (*work)(void *context), void *context);

#endif
