/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_INDEX_H
#define MUSTER_CERTIFY_INDEX_H

#include <stddef.h>

/* Where a name stands in a list, in O(log n). */
struct name_index {
    struct name_place {
        const char *name; /* borrowed */
        size_t place;
    } * places; /* by name */
    size_t count;
};

/* names[i] must stay where they are as long as the index is used. Returns 0, or -1 when memory is
 * out. */
int name_index_build(const char *const *names, size_t count, struct name_index *index);
void name_index_clear(struct name_index *index);

/* The place of the name, the first one of several; -1 when it is not there. */
long name_index_find(const struct name_index *index, const char *name);

#endif
