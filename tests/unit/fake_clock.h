/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_FAKE_CLOCK_H
#define MUSTER_TESTS_FAKE_CLOCK_H

#include <time.h>

/* All clocks of a test that is linked with --wrap=clock_gettime. It sets them. Included by one file
 * of it. */

static double now_s;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){(time_t)now_s, (long)((now_s - (double)(time_t)now_s) * 1e9)};
    return 0;
}

#endif
