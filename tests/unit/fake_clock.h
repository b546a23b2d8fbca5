/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_FAKE_CLOCK_H
#define MUSTER_TESTS_FAKE_CLOCK_H

#include <time.h>

/* Replaces clock_gettime() for all clocks, in a test linked with --wrap=clock_gettime. The test
 * sets now_s. Include it in only one file of the test. */

static double now_s;

int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    *time = (struct timespec){(time_t)now_s, (long)((now_s - (double)(time_t)now_s) * 1e9)};
    return 0;
}

#endif
