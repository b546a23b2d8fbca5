/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TRAINER_CLOCK_H
#define MUSTER_TRAINER_CLOCK_H

#include <time.h>

/* Seconds since some moment, steady. */
static inline double clock_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
