/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BOUNDED_CHILD_H
#define MUSTER_BOUNDED_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Work that may crash, or hang in the kernel (a vendor's driver, a file system whose server is
 * gone), is done by a child process and killed at a deadline. */

enum {
    BOUNDED_NAME = 16, /* bytes of a child's name in /proc, with the NUL */
    BOUNDED_FILE = 256,
};

enum bounded_outcome {
    BOUNDED_RETURNED, /* the work returned */
    BOUNDED_EXITED,   /* something in it ended the process */
    BOUNDED_SIGNALED, /* it died of a signal */
    BOUNDED_LATE,     /* it was killed at the deadline */
};

struct bounded_end {
    enum bounded_outcome outcome;
    int signal;    /* BOUNDED_SIGNALED */
    bool is_stuck; /* BOUNDED_LATE: it did not die, as it waits in the kernel; it is left */
    char file[BOUNDED_FILE]; /* BOUNDED_LATE: bounded_file() of it at the deadline */
};

/* Calls work() in a child of that name, which has the standard files at /dev/null, leaves no core
 * and dies with its parent. state, size bytes of it, is what work() is given and what it left there
 * when it ended, however that was. Returns 0 with *end, or -1 with err when no child could be
 * started. */
int bounded_run(const char *name, double limit_s, void (*work)(void *state), void *state,
                size_t size, struct bounded_end *end, struct error *err);

/* How many seconds bounded_run() takes at most with that limit: until what cannot be killed at once
 * has been given up. */
double bounded_longest_s(double limit_s);

/* A child of that name, limit and user, of an earlier run, that waits in the kernel where no signal
 * reaches it: who starts another each time gets more and more of them. One that is young enough to
 * be at work for another process, or to be dying, is none, though it waits. 0: there is none. */
pid_t bounded_stuck(const char *name, double limit_s);

/* The file or directory for which a process waits in the kernel, by the first arguments of its
 * system call (proc_pid_syscall(5)): a descriptor, or a path. "": it waits for none, or that cannot
 * be read. */
void bounded_file(pid_t process, char file[BOUNDED_FILE]);

#endif
