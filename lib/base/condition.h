/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONDITION_H
#define MUSTER_CONDITION_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/* Waits with a deadline on the clock of lib/base/clock.h. pthread's default is the time of day:
 * when somebody sets it, the deadline moves. */

/* Use it instead of PTHREAD_COND_INITIALIZER. Returns 0 or an error number. */
static inline int condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    int rv = pthread_condattr_init(&attributes);

    if (rv != 0)
        return rv;
    rv = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    if (rv == 0)
        rv = pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
    return rv;
}

/* Returns whether it was woken (perhaps spuriously) before until_s of clock_s(). */
static inline bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double until_s)
{
    struct timespec until = {.tv_sec = (time_t)until_s};

    until.tv_nsec = (long)(1e9 * (until_s - (double)until.tv_sec));

    return pthread_cond_timedwait(condition, lock, &until) == 0;
}

#endif
