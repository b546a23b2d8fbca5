/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GROW_H
#define MUSTER_GROW_H

#include <stdbool.h>
#include <stdlib.h>

/* The table of `count` places of `size` bytes, with room for one more: it is doubled where it is
 * full, which is where count is a power of two or 0. NULL: out of memory, and the table as it
 * was. */
static inline void *grow(void *table, size_t count, size_t size)
{
    if (count & (count - 1))
        return table;
    return realloc(table, (count ? 2 * count : 1) * size);
}

/* Makes room in the table for one more than count, as grow() does. False: out of memory, and the
 * table as it was. */
#define GROW(table, count)                                                                         \
    ({                                                                                             \
        void *grown_ = grow(table, count, sizeof *(table));                                        \
                                                                                                   \
        if (grown_)                                                                                \
            (table) = grown_;                                                                      \
        grown_ != NULL;                                                                            \
    })

#endif
