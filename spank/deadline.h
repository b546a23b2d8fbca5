/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_DEADLINE_H
#define MUSTER_SPANK_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Runs work in a child process and kills it at a deadline. A call that hangs in the kernel (a
 * driver behind sysfs, a file system) or in a library cannot be interrupted otherwise. The answer
 * comes through a pipe.
 *
 * slurmstepd has threads when it forks here. The work may allocate and use stdio, because the C
 * library resets their locks in the child. It must not call Slurm. */

struct deadline {
    pid_t child; /* -1: there is none */
    int fd;      /* the answer */
    long at_ms;  /* clock_ms() */
};

/* Runs in the child and writes the answer to fd. Its changes to the process's memory are lost. */
typedef void deadline_work(int fd, void *context);

/* Starts the work. Returns false with errno if no pipe or no process can be made; then do not call
 * deadline_end(). The child dies with this process and keeps none of its descriptors open. */
bool deadline_start(struct deadline *deadline, long limit_ms, deadline_work *work, void *context);

/* Reads the next size bytes of the answer. Returns false if they do not come by the deadline. */
bool deadline_read(const struct deadline *deadline, void *bytes, size_t size);

/* Closes the pipe and reaps the child. Kills the child first unless has_answer: the whole answer
 * was read. Returns whether the deadline passed without the answer. Waits 50 ms at most for a
 * child that hangs in the kernel. Reaps no other child. */
bool deadline_end(struct deadline *deadline, bool has_answer);

/* Best effort: runs the work in a child process. Returns when the work is done, when it is killed
 * at the deadline, or when no process can be made. */
void deadline_try(long limit_ms, void (*work)(void *context), void *context);

#endif
