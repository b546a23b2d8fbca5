/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CLOCK_H
#define MUSTER_CLOCK_H

#include <time.h>

/* The clock of durations and deadlines: it goes on evenly when the time of day is set, and counts
 * from some moment that is the same for all processes of a machine. */

/* In seconds. */
static inline double clock_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In seconds, by a clock that no time service corrects. The kernel dates the entries of its log by
 * such a one: after months it is minutes away from the one above. */
static inline double clock_raw_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The processor time of this thread, in seconds: what else the machine does costs others. */
static inline double clock_thread_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* In whole milliseconds. */
static inline long clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000L + now.tv_nsec / 1000000;
}

/* The time of day, in seconds since 1970: what is written down, and what clocks of nodes are
 * compared by. */
static inline double clock_epoch_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds since this node's boot. */
static inline double clock_up_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
