/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PAGES_H
#define MUSTER_PAGES_H

#include <stdint.h>
#include <sys/mman.h>

/* Asks the kernel for large pages for memory that was just allocated and not yet touched: a step
 * reads parameters and activations from end to end several times, and the look-ups of small pages,
 * one for each 4 KiB, cost more than many of its loops. The kernel may ignore this. */
static inline void pages_prefer_large(void *memory, size_t size_bytes)
{
    const uintptr_t large = 2u << 20;
    uintptr_t first = ((uintptr_t)memory + large - 1) / large * large;
    uintptr_t end = ((uintptr_t)memory + size_bytes) / large * large;

    if (end > first)
        madvise((char *)memory + (first - (uintptr_t)memory), end - first, MADV_HUGEPAGE);
}

#endif
