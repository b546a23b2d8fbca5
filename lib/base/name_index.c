/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/name_index.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

/* Returns the slot of the name, or the empty slot for it. */
static struct name_slot *find_slot(const struct name_index *index, const char *name)
{
    uint64_t hash = hash_text(HASH_BEGIN, name);
    size_t at = (hash ^ hash >> 29) & (index->size - 1);

    while (index->slots[at].name && strcmp(index->slots[at].name, name) != 0)
        at = (at + 1) & (index->size - 1);
    return &index->slots[at];
}

int name_index_build(const char *const *names, size_t count, struct name_index *index)
{
    *index = (struct name_index){.size = 16};
    while (index->size < 2 * count)
        index->size *= 2;
    index->slots = calloc(index->size, sizeof *index->slots);
    if (!index->slots) {
        index->size = 0;
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        struct name_slot *slot = find_slot(index, names[i]);

        index->count += !slot->name;
        if (!slot->name)
            *slot = (struct name_slot){names[i], i};
    }
    return 0;
}

void name_index_clear(struct name_index *index)
{
    free(index->slots);
    *index = (struct name_index){0};
}

long name_index_find(const struct name_index *index, const char *name)
{
    const struct name_slot *slot = name && index->size > 0 ? find_slot(index, name) : NULL;

    return slot && slot->name ? (long)slot->position : -1;
}
