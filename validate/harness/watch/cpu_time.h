/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CPU_TIME_H
#define MUSTER_CPU_TIME_H

#include <stdbool.h>
#include <sys/types.h>

/* The scheduling of a thread of this process: its time on a processor, and its time in a run queue,
 * ready to run while others ran (/proc/PID/task/TID/schedstat). */

struct cpu_time {
    double ran_s, queued_s; /* since the thread's start */
    char state;             /* of /proc/PID/task/TID/stat: R, S, D, T, ...; '?' */
};

/* What cpu_time_read() remembers of a thread between calls; zero at first. */
struct cpu_time_memory {
    double ran_s, since_s; /* since_s: since when it is ready to run and does not run */
    bool is_waiting;
};

/* now_s: clock_s(). The kernel adds a wait to the queue time when the wait ends; this function adds
 * a current wait too, from the second reading on. root: "", or in tests the directory of another
 * /proc. Returns 0, or -1 on a kernel without these figures (CONFIG_SCHED_INFO). */
int cpu_time_read(const char *root, pid_t thread, double now_s, struct cpu_time_memory *memory,
                  struct cpu_time *time);

/* Returns how long this thread was in a run queue since its start; 0 if the kernel does not know.
 */
double cpu_time_queued_s(void);

#endif
