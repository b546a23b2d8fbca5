/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/index.h"

#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const struct name_place *left = a, *right = b;
    int order = strcmp(left->name, right->name);

    return order ? order : (left->place > right->place) - (left->place < right->place);
}

int name_index_build(const char *const *names, size_t count, struct name_index *index)
{
    *index = (struct name_index){.places = calloc(count + 1, sizeof *index->places)};
    if (!index->places)
        return -1;
    for (size_t i = 0; i < count; i++)
        index->places[i] = (struct name_place){names[i], i};
    index->count = count;
    qsort(index->places, count, sizeof *index->places, by_name);
    return 0;
}

void name_index_clear(struct name_index *index)
{
    free(index->places);
    *index = (struct name_index){0};
}

long name_index_find(const struct name_index *index, const char *name)
{
    size_t low = 0, high = index->count;

    while (name && low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(index->places[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return name && low < index->count && strcmp(index->places[low].name, name) == 0
               ? (long)index->places[low].place
               : -1;
}
