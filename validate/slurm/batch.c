/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/batch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/base/hostlist.h"

int batch_add(struct batch *batch, const char *name, const char *text)
{
    struct batch_node node = {.order = batch->count};

    if (!GROW(batch->nodes, batch->count))
        return -1;
    node.name = strdup(name);
    node.text = strdup(text);
    if (!node.name || !node.text) {
        free(node.name);
        free(node.text);
        return -1;
    }
    batch->nodes[batch->count++] = node;
    return 0;
}

void batch_clear(struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        free(batch->nodes[i].name);
        free(batch->nodes[i].text);
    }
    free(batch->nodes);
    *batch = (struct batch){0};
}

static int compare_texts(const void *a, const void *b)
{
    const struct batch_node *one = a, *other = b;
    int order = strcmp(one->text, other->text);

    return order != 0 ? order : (one->order > other->order) - (one->order < other->order);
}

static int compare_orders(const void *a, const void *b)
{
    const struct batch_node *one = a, *other = b;

    return (one->order > other->order) - (one->order < other->order);
}

/* The state of batch_apply(). */
struct applying {
    batch_change_fn *change;
    struct error *why; /* of each node, by its order; "": it is changed */
    int failures;
    struct error last;
};

static int request(const struct batch_node *nodes, size_t count, batch_change_fn *change,
                   struct error *err)
{
    struct hostlist names = {0};
    char *folded;
    int rv = 0;

    for (size_t i = 0; rv == 0 && i < count; i++)
        rv = hostlist_append(&names, nodes[i].name);
    folded = rv == 0 ? hostlist_fold_for_slurm(&names) : NULL;
    rv = folded ? change(folded, nodes[0].text, err) : error_set(err, "no memory");
    free(folded);
    hostlist_clear(&names);
    return rv;
}

/* Changes nodes with the same text, in halves if that is refused. */
static void group_apply(struct applying *applying, const struct batch_node *nodes, size_t count)
{
    if (applying->failures < BATCH_FAILURES) {
        if (request(nodes, count, applying->change, &applying->last) == 0)
            return;
        applying->failures++;
    }
    if (count > 1 && applying->failures < BATCH_FAILURES) {
        group_apply(applying, nodes, count / 2);
        group_apply(applying, nodes + count / 2, count - count / 2);
        return;
    }
    for (size_t i = 0; i < count; i++)
        applying->why[nodes[i].order] = applying->last;
}

int batch_apply(struct batch *batch, batch_change_fn *change, batch_done_fn *done, void *context,
                struct error *err)
{
    struct applying applying = {.change = change,
                                .why = calloc(batch->count + 1, sizeof *applying.why)};
    int rv = 0;

    if (!applying.why)
        error_set(&applying.last, "no memory");
    else if (batch->count > 1)
        qsort(batch->nodes, batch->count, sizeof *batch->nodes, compare_texts);
    for (size_t i = 0, next; applying.why && i < batch->count; i = next) {
        for (next = i + 1; next < batch->count; next++)
            if (strcmp(batch->nodes[next].text, batch->nodes[i].text) != 0)
                break;
        group_apply(&applying, &batch->nodes[i], next - i);
    }
    if (applying.why && batch->count > 1)
        qsort(batch->nodes, batch->count, sizeof *batch->nodes, compare_orders);
    for (size_t i = 0; i < batch->count; i++) {
        const struct batch_node *node = &batch->nodes[i];
        const struct error *why = applying.why ? &applying.why[i] : &applying.last;
        bool is_changed = *why->text == '\0';

        if (!is_changed)
            rv = error_set(err, "%s", why->text);
        if (done)
            done(node->name, node->text, is_changed ? NULL : why, context);
    }
    free(applying.why);
    batch_clear(batch);
    return rv;
}
