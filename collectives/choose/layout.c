/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/name_index.h"
#include "lib/base/parse_name.h"

static const char *const class_names[LINK_CLASSES] = {"node", "leaf", "across"};

const char *link_class_name(enum link_class class)
{
    return class_names[class];
}

PARSE_NAME(link_class_parse, enum link_class, link_class_name, LINK_CLASSES)

/* Numbers the names, equal ones alike, in the order of their lowest ranks. Returns the number of
 * different names, or -1 if memory is out. */
static int number_names(int ranks, const char *names, int stride, int *number)
{
    const char **each = calloc((size_t)ranks, sizeof *each);
    struct name_index index = {0};
    int count = -1;

    for (int rank = 0; each != NULL && rank < ranks; rank++)
        each[rank] = names + (size_t)rank * (size_t)stride;
    if (each != NULL && name_index_build(each, (size_t)ranks, &index) == 0) {
        count = 0;
        for (int rank = 0; rank < ranks; rank++) {
            int first = (int)name_index_find(&index, each[rank]);

            number[rank] = first == rank ? count++ : number[first];
        }
    }
    name_index_clear(&index);
    free(each);
    return count;
}

struct layout *layout_make(int ranks, const char *nodes, const char *leaves, int stride)
{
    struct layout *layout = calloc(1, sizeof *layout);
    int *lowest = calloc((size_t)ranks * 2, sizeof *lowest), *size;
    bool has_memory;

    if (layout != NULL) {
        layout->ranks = ranks;
        layout->node_of_rank = calloc((size_t)ranks, sizeof *layout->node_of_rank);
        layout->leaf_of_rank = calloc((size_t)ranks, sizeof *layout->leaf_of_rank);
    }
    has_memory = layout != NULL && lowest != NULL && layout->node_of_rank != NULL &&
                 layout->leaf_of_rank != NULL;
    if (has_memory)
        layout->nodes = number_names(ranks, nodes, stride, layout->node_of_rank);
    if (!has_memory || layout->nodes < 0 ||
        number_names(ranks, leaves, stride, layout->leaf_of_rank) < 0) {
        free(lowest);
        layout_free(layout);
        return NULL;
    }
    size = lowest + ranks;
    for (int rank = ranks - 1; rank >= 0; rank--) {
        lowest[layout->node_of_rank[rank]] = rank;
        if (++size[layout->node_of_rank[rank]] > layout->most_on_node)
            layout->most_on_node = size[layout->node_of_rank[rank]];
    }
    for (int rank = 0; rank < ranks; rank++)
        layout->leaf_of_rank[rank] = layout->leaf_of_rank[lowest[layout->node_of_rank[rank]]];
    free(lowest);
    return layout;
}

void layout_free(struct layout *layout)
{
    if (layout == NULL)
        return;
    free(layout->node_of_rank);
    free(layout->leaf_of_rank);
    free(layout);
}

enum link_class layout_link(const struct layout *layout, int left, int right)
{
    if (layout->node_of_rank[left] == layout->node_of_rank[right])
        return LINK_NODE;
    return layout->leaf_of_rank[left] == layout->leaf_of_rank[right] ? LINK_LEAF : LINK_ACROSS;
}

static int compare_places(const void *left, const void *right, void *context)
{
    const struct layout *layout = context;
    int a = *(const int *)left, b = *(const int *)right;
    int leaf = layout->leaf_of_rank[a] - layout->leaf_of_rank[b];
    int node = layout->node_of_rank[a] - layout->node_of_rank[b];

    return leaf != 0 ? leaf : node != 0 ? node : (a > b) - (a < b);
}

enum link_class layout_farthest(const struct layout *layout)
{
    enum link_class farthest = LINK_NODE;

    /* of any two ranks, one is at least as far from rank 0 as they are from each other */
    for (int rank = 1; rank < layout->ranks; rank++) {
        enum link_class class = layout_link(layout, 0, rank);

        if (class > farthest)
            farthest = class;
    }
    return farthest;
}

void layout_ring(const struct layout *layout, int *ring)
{
    for (int rank = 0; rank < layout->ranks; rank++)
        ring[rank] = rank;
    qsort_r(ring, (size_t)layout->ranks, sizeof *ring, compare_places, (void *)layout);
}

void layout_leaf_name(const char *address, const char *pattern, char *leaf, int size)
{
    const char *node = address != NULL ? strrchr(address, '.') : NULL;

    *leaf = '\0';
    /* a block topology names no switch, nor does a cluster without a topology plugin */
    if (node == NULL || pattern == NULL || strncmp(pattern, "switch", 6) != 0)
        return;
    snprintf(leaf, (size_t)size, "%.*s", (int)(node - address), address);
}
