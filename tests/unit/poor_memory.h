/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_POOR_MEMORY_H
#define MUSTER_TESTS_POOR_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* Allocations of a test that fail, those of the C library's own among them. Included by one file of
 * it. Under AddressSanitizer, whose own they are, none does. */

#ifdef __SANITIZE_ADDRESS__
static inline void memory_fails_at(unsigned number)
{
    (void)number;
}

static inline bool memory_has_failed(void)
{
    return false;
}
#else
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

static unsigned memory_left;
static bool has_memory_failed;

/* The allocation of that number from here on, counted from 1; 0: none. */
static void memory_fails_at(unsigned number)
{
    memory_left = number;
    has_memory_failed = false;
}

/* Whether there were so many since then. */
static bool memory_has_failed(void)
{
    return has_memory_failed;
}

static bool memory_fails(void)
{
    if (memory_left == 0 || --memory_left > 0)
        return false;
    has_memory_failed = true;
    errno = ENOMEM;
    return true;
}

#pragma GCC visibility push(default)
void *malloc(size_t size);
void *malloc(size_t size)
{
    return memory_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size);
void *calloc(size_t count, size_t size)
{
    return memory_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size);
void *realloc(void *memory, size_t size)
{
    return memory_fails() ? NULL : __libc_realloc(memory, size);
}
#pragma GCC visibility pop
#endif

#endif
