/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NAME_INDEX_H
#define MUSTER_NAME_INDEX_H

#include <stdbool.h>
#include <stddef.h>

/* An index of a list of names, for lookups in constant time. */
struct name_index {
    struct name_slot {
        const char *name; /* borrowed; NULL: the slot is empty */
        size_t position;
    } * slots;    /* by a hash of the name */
    size_t size;  /* number of slots: a power of two; 0: there is no index */
    size_t count; /* different names */
};

/* Builds the index, which borrows the names. Returns 0, or -1 if memory is out. */
int name_index_build(const char *const *names, size_t count, struct name_index *index);
void name_index_clear(struct name_index *index);

/* Returns the position of the name in the list, the first of several; -1 if it is not there. */
long name_index_find(const struct name_index *index, const char *name);

static inline bool name_index_has(const struct name_index *index, const char *name)
{
    return name_index_find(index, name) >= 0;
}

#endif
