/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GROW_H
#define MUSTER_GROW_H

#include <stdbool.h>
#include <stdlib.h>

/* Returns the table of `count` elements of `size` bytes with room for one more. Doubles a full
 * table: it is full if count is a power of two or 0. NULL if memory is out; the table is unchanged
 * then. */
static inline void *grow(void *table, size_t count, size_t size)
{
    if (count & (count - 1))
        return table;
    return realloc(table, (count ? 2 * count : 1) * size);
}

/* Makes room in the table for one more element than count, as grow() does. False if memory is out;
 * the table is unchanged then. */
#define GROW(table, count)                                                                         \
    ({                                                                                             \
        void *grown_ = grow(table, count, sizeof *(table));                                        \
                                                                                                   \
        if (grown_)                                                                                \
            (table) = grown_;                                                                      \
        grown_ != NULL;                                                                            \
    })

#endif
