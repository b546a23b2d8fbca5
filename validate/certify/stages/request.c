/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"

static int compare_results(const void *a, const void *b)
{
    const struct request_node *one = a, *other = b;

    return strcmp(one->results, other->results) ?: strcmp(one->name, other->name);
}

/* Returns how many of the nodes, from the first on, are one block. */
static size_t block_length(const struct request_node *nodes, size_t count)
{
    size_t length = 1;

    while (length < count && length < REQUEST_BLOCK_NODES &&
           strcmp(nodes[length].results, nodes[0].results) == 0)
        length++;
    return length;
}

/* Returns the text of a block, malloc'd; NULL if memory is out. */
static char *block_text(const struct request_node *nodes, size_t count)
{
    struct hostlist names = {0};
    char *folded = NULL, *text = NULL;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < count; i++)
        rv = hostlist_append(&names, nodes[i].name);
    if (rv == 0)
        folded = hostlist_fold(&names);
    if (folded && asprintf(&text, "node: %s\n%s", folded, nodes[0].results) < 0)
        text = NULL;
    free(folded);
    hostlist_clear(&names);
    return text;
}

/* Adds the block to the last part, or to a new one where that would become too long. Returns 0, or
 * -1 when memory is out. */
static int block_add(struct request_parts *parts, const char *head, const char *block, size_t most,
                     const struct request_node *nodes, size_t count)
{
    struct request_part *part = parts->count > 0 ? &parts->items[parts->count - 1] : NULL;
    size_t length = part ? strlen(part->text) : 0, more = strlen(block);
    char *text;

    if (!part || length + more > most) {
        if (!GROW(parts->items, parts->count))
            return -1;
        part = &parts->items[parts->count];
        *part = (struct request_part){.text = strdup(head)};
        if (!part->text)
            return -1;
        parts->count++;
        length = strlen(head);
    }
    text = realloc(part->text, length + more + 1);
    if (!text)
        return -1;
    part->text = text;
    memcpy(text + length, block, more + 1);
    for (size_t i = 0; i < count; i++)
        if (hostlist_append(&part->nodes, nodes[i].name) != 0)
            return -1;
    return 0;
}

int request_parts_make(const char *head, struct request_node *nodes, size_t count, size_t most,
                       struct request_parts *parts, struct error *err)
{
    *parts = (struct request_parts){0};
    if (count > 1)
        qsort(nodes, count, sizeof *nodes, compare_results);
    for (size_t i = 0, length; i < count; i += length) {
        char *block;
        int rv;

        length = block_length(&nodes[i], count - i);
        block = block_text(&nodes[i], length);
        rv = block ? block_add(parts, head, block, most, &nodes[i], length) : -1;
        free(block);
        if (rv != 0) {
            request_parts_clear(parts);
            return error_set(err, "out of memory for the certificates of %zu nodes", count);
        }
    }
    return 0;
}

void request_parts_clear(struct request_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        hostlist_clear(&parts->items[i].nodes);
        free(parts->items[i].text);
    }
    free(parts->items);
    *parts = (struct request_parts){0};
}
