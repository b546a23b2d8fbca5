/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BOUNDED_CHILD_H
#define MUSTER_BOUNDED_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Runs work that may crash, or hang in the kernel (a vendor's driver, a file system whose server is
 * gone), in a child process that is killed at a deadline. */

enum {
    BOUNDED_NAME = 16, /* bytes of a child's name in /proc, with the NUL */
    BOUNDED_FILE = 256,
};

enum bounded_outcome {
    BOUNDED_RETURNED, /* the work returned */
    BOUNDED_EXITED,   /* the work ended the process */
    BOUNDED_SIGNALED, /* the child died of a signal */
    BOUNDED_LATE,     /* the child was killed at the deadline */
};

struct bounded_end {
    enum bounded_outcome outcome;
    int signal;              /* BOUNDED_SIGNALED */
    bool is_stuck;           /* BOUNDED_LATE: the child hangs in the kernel and outlives SIGKILL */
    char file[BOUNDED_FILE]; /* BOUNDED_LATE: bounded_file() of the child at the deadline */
};

/* Calls work() in a child with this name. The child has its standard files at /dev/null, leaves no
 * core and dies with its parent. work() gets a copy of state, size bytes; at the child's end,
 * whatever its outcome, the copy's content is copied back. Returns 0 with *end, or -1 with err if
 * no child could be started. */
int bounded_run(const char *name, double limit_s, void (*work)(void *state), void *state,
                size_t size, struct bounded_end *end, struct error *err);

/* Returns the longest time that bounded_run() takes with this limit, including the wait for a
 * killed child. */
double bounded_longest_s(double limit_s);

/* Returns the process ID of a stuck child of an earlier run with this name, of this user, or 0.
 * Such a child waits uninterruptibly in the kernel; a caller that does not check would add one
 * more at each run. Ignores a child younger than bounded_longest_s(limit_s): it may work for
 * another process, or be dying. */
pid_t bounded_find_stuck(const char *name, double limit_s);

/* Copies the path of the file or directory for which a process waits in the kernel, by the first
 * arguments of its system call (proc_pid_syscall(5)), a descriptor or a path. "" if there is none,
 * or if it cannot be read. */
void bounded_file(pid_t process, char file[BOUNDED_FILE]);

#endif
