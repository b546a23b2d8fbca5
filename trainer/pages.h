/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PAGES_H
#define MUSTER_PAGES_H

#include <stdint.h>
#include <sys/mman.h>

/* Asks the kernel for large pages under memory that was just got and not yet touched: parameters
 * and activations are walked through from end to end several times a step, and looking up a small
 * page for each 4 KiB costs more than many a loop. A hint: it may come to nothing. */
static inline void pages_prefer_large(void *memory, size_t size_bytes)
{
    const uintptr_t large = 2u << 20;
    uintptr_t first = ((uintptr_t)memory + large - 1) / large * large;
    uintptr_t end = ((uintptr_t)memory + size_bytes) / large * large;

    if (end > first)
        madvise((char *)memory + (first - (uintptr_t)memory), end - first, MADV_HUGEPAGE);
}

#endif
