/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CPU_TIME_H
#define MUSTER_CPU_TIME_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether a thread of this process was scheduled: time on a processor, and time in a run queue,
 * ready to run while others ran (/proc/PID/task/TID/schedstat). */

struct cpu_time {
    double ran_s, queued_s; /* since the thread's start */
    char state;             /* of /proc/PID/task/TID/stat: R, S, D, T, ...; '?' */
};

/* What cpu_time_read() remembers of a thread; zero at first. */
struct cpu_time_memory {
    double ran_s, since_s; /* since_s: ready to run, and did not */
    bool is_waiting;
};

/* now_s: clock_s(). The kernel counts a wait once it is over; one that still lasts is counted here,
 * from the second reading on. root is "" or where another /proc is, for tests. Returns 0, or -1
 * on a kernel without these figures (CONFIG_SCHED_INFO). */
int cpu_time_read(const char *root, pid_t thread, double now_s, struct cpu_time_memory *memory,
                  struct cpu_time *time);

/* How long this thread was in a run queue since its start; 0 where the kernel does not tell. */
double cpu_time_queued_s(void);

#endif
