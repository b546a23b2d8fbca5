/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "collectives/choose/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/parse_name.h"

static const char *const class_names[LINK_CLASSES] = {"node", "leaf", "across"};

const char *link_class_name(enum link_class class)
{
    return class_names[class];
}

PARSE_NAME(link_class_parse, enum link_class, link_class_name, LINK_CLASSES)

struct named {
    const char *name;
    int rank;
};

static int compare_names(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order != 0 ? order : (a->rank > b->rank) - (a->rank < b->rank);
}

/* Numbers equal names alike, in the order of their lowest ranks. Returns how many there are. */
static int number_names(int ranks, const char *names, int stride, struct named *sorted, int *number)
{
    int count = 0;

    for (int rank = 0; rank < ranks; rank++)
        sorted[rank] = (struct named){names + (size_t)rank * (size_t)stride, rank};
    qsort(sorted, (size_t)ranks, sizeof *sorted, compare_names);
    /* the lowest rank of each name, for now */
    for (int i = 0; i < ranks; i++) {
        bool is_first = i == 0 || strcmp(sorted[i].name, sorted[i - 1].name) != 0;

        number[sorted[i].rank] = is_first ? sorted[i].rank : number[sorted[i - 1].rank];
    }
    for (int rank = 0; rank < ranks; rank++)
        number[rank] = number[rank] == rank ? count++ : number[number[rank]];
    return count;
}

struct layout *layout_make(int ranks, const char *nodes, const char *leaves, int stride)
{
    struct layout *layout = calloc(1, sizeof *layout);
    struct named *sorted = calloc((size_t)ranks, sizeof *sorted);
    int *lowest = calloc((size_t)ranks, sizeof *lowest),
        *size = calloc((size_t)ranks, sizeof *size);

    if (layout != NULL) {
        layout->ranks = ranks;
        layout->node_of_rank = calloc((size_t)ranks, sizeof *layout->node_of_rank);
        layout->leaf_of_rank = calloc((size_t)ranks, sizeof *layout->leaf_of_rank);
    }
    if (layout == NULL || sorted == NULL || lowest == NULL || size == NULL ||
        layout->node_of_rank == NULL || layout->leaf_of_rank == NULL) {
        layout_free(layout);
        layout = NULL;
        goto end;
    }
    layout->nodes = number_names(ranks, nodes, stride, sorted, layout->node_of_rank);
    number_names(ranks, leaves, stride, sorted, layout->leaf_of_rank);
    for (int rank = ranks - 1; rank >= 0; rank--) {
        lowest[layout->node_of_rank[rank]] = rank;
        if (++size[layout->node_of_rank[rank]] > layout->most_on_node)
            layout->most_on_node = size[layout->node_of_rank[rank]];
    }
    for (int rank = 0; rank < ranks; rank++)
        layout->leaf_of_rank[rank] = layout->leaf_of_rank[lowest[layout->node_of_rank[rank]]];
end:
    free(sorted);
    free(lowest);
    free(size);
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

    /* two that are farther from each other than from the first are not both near it */
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
    /* a block topology, or none: no switch is named */
    if (node == NULL || pattern == NULL || strncmp(pattern, "switch", 6) != 0)
        return;
    snprintf(leaf, (size_t)size, "%.*s", (int)(node - address), address);
}
