/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TESTS_POOR_MEMORY_H
#define MUSTER_TESTS_POOR_MEMORY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/failing_memory.h"
#include "tests/unit/tap.h"

/* Makes allocations of a test fail, also those of the C library itself. Include it in only one file
 * of the test. Under AddressSanitizer, which replaces malloc() itself, no allocation fails. */

#ifndef __SANITIZE_ADDRESS__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

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

enum { MIN_BYTES = 20000 /* more than the first buffer of a stream in memory */ };

/* Tests that make() returns the complete text, or NULL, whichever of its allocations fails. The
 * text is longer than MIN_BYTES, so that its buffer grows. */
static inline void is_complete_or_null(const char *what, char *make(const void *of), const void *of)
{
    char *complete = make(of), *text;
    unsigned number = 0, incomplete = 0, null_count = 0;
    bool has_failed = true;

    ok(complete && strlen(complete) > MIN_BYTES, "%s: %zu bytes", what, strlen(complete));
    while (has_failed) {
        memory_fails_at(++number);
        text = make(of);
        has_failed = memory_has_failed();
        memory_fails_at(0);
        null_count += !text;
        incomplete += text && strcmp(text, complete) != 0;
        free(text);
    }
    is_int(incomplete, 0, "... complete or NULL, whichever allocation fails");
    if (number > 1)
        ok(null_count > 0, "... NULL for %u of %u failed allocations", null_count, number - 1);
    free(complete);
}

#endif
