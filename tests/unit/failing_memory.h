/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_FAILING_MEMORY_H
#define MUSTER_TESTS_FAILING_MEMORY_H

#include <errno.h>
#include <stdbool.h>

/* Decides which allocation of a test fails, for the functions that the test puts in place of the
 * allocating ones. Included by one file of it. */

static unsigned memory_left;
static bool has_memory_failed;

/* The allocation of that number from here on, counted from 1; 0: none. */
static inline void memory_fails_at(unsigned number)
{
    memory_left = number;
    has_memory_failed = false;
}

/* Whether there were so many since then. */
static inline bool memory_has_failed(void)
{
    return has_memory_failed;
}

/* Counts an allocation, and returns whether it fails. */
static inline bool memory_fails(void)
{
    if (memory_left == 0 || --memory_left > 0)
        return false;
    has_memory_failed = true;
    errno = ENOMEM;
    return true;
}

#endif
