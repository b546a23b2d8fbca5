/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/facts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

/* ---------------------------------------------------------------- texts to numbers */

/* Numbered pairs of texts, in the order of arrival. */
struct numbering {
    struct fact_key *texts;
    size_t count;
    unsigned *slots; /* number + 1, 0: free; slot_count is a power of two */
    size_t slot_count;
};

static int by_text(const void *left, const void *right)
{
    const struct fact_key *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : strcmp(a->part, b->part);
}

/* Returns the slot of the pair, or the free slot for it. */
static unsigned *slot_of(const struct numbering *numbering, const char *name, const char *part)
{
    uint64_t hash = hash_text(hash_text(hash_text(HASH_BEGIN, name), "\n"), part);
    size_t at = (hash ^ hash >> 32) & (numbering->slot_count - 1);
    const struct fact_key wanted = {name, part};

    while (numbering->slots[at] &&
           by_text(&numbering->texts[numbering->slots[at] - 1], &wanted) != 0)
        at = (at + 1) & (numbering->slot_count - 1);
    return &numbering->slots[at];
}

static int numbering_grow(struct numbering *numbering)
{
    size_t slot_count = numbering->slot_count ? 2 * numbering->slot_count : 64;
    unsigned *slots = calloc(slot_count, sizeof *slots);
    struct fact_key *texts = realloc(
        numbering->texts, slot_count / 2 * sizeof *numbering->texts); /* half full at most */

    if (texts)
        numbering->texts = texts;
    if (!texts || !slots) {
        free(slots);
        return -1;
    }
    free(numbering->slots);
    numbering->slots = slots;
    numbering->slot_count = slot_count;
    for (size_t i = 0; i < numbering->count; i++)
        *slot_of(numbering, texts[i].name, texts[i].part) = (unsigned)i + 1;
    return 0;
}

/* Sets *number to that of the pair, which is added if it is new. Returns 0, or -1 if memory is out.
 */
static int number_of(struct numbering *numbering, const char *name, const char *part,
                     unsigned *number)
{
    unsigned *slot;

    if (2 * numbering->count >= numbering->slot_count && numbering_grow(numbering) != 0)
        return -1;
    slot = slot_of(numbering, name, part);
    if (*slot == 0) {
        numbering->texts[numbering->count++] = (struct fact_key){name, part};
        *slot = (unsigned)numbering->count;
    }
    *number = *slot - 1;
    return 0;
}

static void numbering_clear(struct numbering *numbering)
{
    free(numbering->texts);
    free(numbering->slots);
}

/* ---------------------------------------------------------------- numbers in order */

/* Sorts the texts, and sets indexes[old number] to the new number. Returns 0, or -1 if memory is
 * out. */
static int numbering_sort(struct numbering *numbering, unsigned **indexes)
{
    struct fact_key *before = malloc((numbering->count + 1) * sizeof *before);

    *indexes = malloc((numbering->count + 1) * sizeof **indexes);
    if (!before || !*indexes) {
        free(before);
        return -1;
    }
    if (numbering->count > 0) {
        memcpy(before, numbering->texts, numbering->count * sizeof *before);
        qsort(numbering->texts, numbering->count, sizeof *before, by_text);
    }
    for (size_t i = 0; i < numbering->count; i++) {
        const struct fact_key *found =
            bsearch(&before[i], numbering->texts, numbering->count, sizeof *before, by_text);

        (*indexes)[i] = (unsigned)(found - numbering->texts);
    }
    free(before);
    return 0;
}

/* A stable counting sort, by key if is_by_key, else by node. begins: [bins + 1]. */
static void cells_sort(const struct fact_cell *from, size_t count, struct fact_cell *to,
                       int is_by_key, size_t bins, size_t *begins)
{
    memset(begins, 0, (bins + 1) * sizeof *begins);
    for (size_t i = 0; i < count; i++)
        begins[(is_by_key ? from[i].key : from[i].node) + 1]++;
    for (size_t i = 0; i < bins; i++)
        begins[i + 1] += begins[i];
    for (size_t i = 0; i < count; i++)
        to[begins[is_by_key ? from[i].key : from[i].node]++] = from[i];
    /* each begin has become its end, which is the begin of the next */
    memmove(begins + 1, begins, bins * sizeof *begins);
    begins[0] = 0;
}

/* Of several adjacent cells of one key and node, keeps the last. */
static void cells_deduplicate(struct fact_table *table)
{
    size_t kept = 0, next = 0;

    for (size_t key = 0; key < table->key_count; key++) {
        size_t begin = next;

        next = table->begins[key + 1];
        table->begins[key] = kept;
        for (size_t i = begin; i < next; i++)
            if (i + 1 == next || table->cells[i + 1].node != table->cells[i].node)
                table->cells[kept++] = table->cells[i];
    }
    table->begins[table->key_count] = kept;
    table->cell_count = kept;
}

static int cells_order(struct fact_table *table, size_t count)
{
    size_t bins = table->node_count > table->key_count ? table->node_count : table->key_count;
    struct fact_cell *by_node = malloc((count + 1) * sizeof *by_node);

    table->begins = malloc((bins + 2) * sizeof *table->begins);
    if (!by_node || !table->begins) {
        free(by_node);
        return -1;
    }
    cells_sort(table->cells, count, by_node, 0, table->node_count, table->begins);
    cells_sort(by_node, count, table->cells, 1, table->key_count, table->begins);
    cells_deduplicate(table);
    free(by_node);
    return 0;
}

int fact_table_make(const struct fact *facts, size_t count, struct fact_table *table)
{
    struct numbering nodes = {0}, keys = {0}, values = {0};
    unsigned *node_indexes = NULL, *key_indexes = NULL;
    int result = 0;

    *table = (struct fact_table){.cells = malloc((count + 1) * sizeof *table->cells)};
    for (size_t i = 0; i < count && table->cells && result == 0; i++) {
        struct fact_cell *cell = &table->cells[i];

        result |= number_of(&nodes, facts[i].node, "", &cell->node);
        result |= number_of(&keys, facts[i].name, facts[i].part, &cell->key);
        result |= number_of(&values, facts[i].value, "", &cell->value);
    }
    table->node_count = nodes.count;
    table->value_count = values.count;
    table->nodes = malloc((nodes.count + 1) * sizeof *table->nodes);
    table->values = malloc((values.count + 1) * sizeof *table->values);
    if (result != 0 || !table->cells || !table->nodes || !table->values ||
        numbering_sort(&nodes, &node_indexes) != 0 || numbering_sort(&keys, &key_indexes) != 0) {
        result = -1;
    } else {
        for (size_t i = 0; i < nodes.count; i++)
            table->nodes[i] = nodes.texts[i].name;
        for (size_t i = 0; i < values.count; i++)
            table->values[i] = values.texts[i].name;
        for (size_t i = 0; i < count; i++) {
            table->cells[i].node = node_indexes[table->cells[i].node];
            table->cells[i].key = key_indexes[table->cells[i].key];
        }
        table->keys = keys.texts;
        table->key_count = keys.count;
        keys.texts = NULL;
        result = cells_order(table, count);
    }
    free(node_indexes);
    free(key_indexes);
    numbering_clear(&nodes);
    numbering_clear(&keys);
    numbering_clear(&values);
    return result;
}

void fact_table_clear(struct fact_table *table)
{
    free(table->nodes);
    free(table->keys);
    free(table->values);
    free(table->cells);
    free(table->begins);
    *table = (struct fact_table){0};
}

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

long fact_table_node(const struct fact_table *table, const char *name)
{
    const char **found = table->node_count == 0 ? NULL
                                                : bsearch(&name, table->nodes, table->node_count,
                                                          sizeof name, by_name);

    return found ? found - table->nodes : -1;
}

long fact_table_key(const struct fact_table *table, const char *name, const char *part)
{
    const struct fact_key wanted = {name, part};
    const struct fact_key *found =
        table->key_count == 0
            ? NULL
            : bsearch(&wanted, table->keys, table->key_count, sizeof wanted, by_text);

    return found ? found - table->keys : -1;
}

static int by_node(const void *left, const void *right)
{
    const struct fact_cell *a = left, *b = right;

    return (a->node > b->node) - (a->node < b->node);
}

const char *fact_table_value(const struct fact_table *table, size_t key, size_t node)
{
    const struct fact_cell wanted = {.node = (unsigned)node}, *found;
    size_t begin = table->begins[key];

    found = bsearch(&wanted, table->cells + begin, table->begins[key + 1] - begin, sizeof wanted,
                    by_node);
    return found ? table->values[found->value] : NULL;
}
