/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CLOCK_H
#define MUSTER_CLOCK_H

#include <time.h>

/* Returns the time of a clock (clock_gettime(2)) in seconds. */
static inline double clock_read_s(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the seconds of the clock of durations and deadlines. It is not affected when the time of
 * day is set, and has the same origin for all processes of a machine. */
static inline double clock_s(void)
{
    return clock_read_s(CLOCK_MONOTONIC);
}

/* Returns the seconds of a clock that no time service corrects. The kernel's log uses such a clock;
 * after months it differs from clock_s() by minutes. */
static inline double clock_raw_s(void)
{
    return clock_read_s(CLOCK_MONOTONIC_RAW);
}

/* Returns the processor time of this thread in seconds, which other work of the machine does not
 * increase. */
static inline double clock_thread_s(void)
{
    return clock_read_s(CLOCK_THREAD_CPUTIME_ID);
}

/* Returns the time of clock_s() in whole milliseconds. */
static inline long clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* Returns the time of day, in seconds since 1970: for files and records, and to compare the clocks
 * of nodes. */
static inline double clock_epoch_s(void)
{
    return clock_read_s(CLOCK_REALTIME);
}

/* Returns the seconds since this node's boot. */
static inline double clock_up_s(void)
{
    return clock_read_s(CLOCK_BOOTTIME);
}

#endif
