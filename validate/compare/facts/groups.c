/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/memory_stream.h"
#include "lib/catalog/catalog.h"

struct kind {
    unsigned node;
    const char *class, *product, *processor, *gpu;
};

static int compare_base(const struct kind *a, const struct kind *b)
{
    return strcmp(a->class, b->class) ?: strcmp(a->product, b->product)
           ?: strcmp(a->processor, b->processor);
}

static int by_kind(const void *left, const void *right)
{
    const struct kind *a = left, *b = right;

    return compare_base(a, b) ?: strcmp(a->gpu, b->gpu) ?: COMPARE(a->node, b->node);
}

static int by_class_name(const void *left, const void *right)
{
    const struct node_class *a = left, *b = right;

    return strcmp(a->node, b->node);
}

static const char *value_of(const struct fact_table *table, long key, size_t node)
{
    const char *value = key < 0 ? NULL : fact_table_value(table, (size_t)key, node);

    return value ? value : "";
}

/* Returns the first GPU model of the node, or "". */
static const char *gpu_of(const struct fact_table *table, size_t node)
{
    const char *gpu = "";

    for (size_t key = 0; key < table->key_count && !*gpu; key++)
        if (catalog_is_metric(table->keys[key].name, METRIC_MODEL) &&
            strncmp(table->keys[key].part, "gpu", 3) == 0)
            gpu = value_of(table, (long)key, node);
    return gpu;
}

/* kinds: sorted. A kind without a GPU gets the most frequent GPU model of its base. */
static void adopt(struct kind *kinds, size_t count)
{
    for (size_t begin = 0, end; begin < count; begin = end) {
        const char *most = "";
        size_t most_count = 0;

        for (end = begin + 1; end < count && compare_base(&kinds[begin], &kinds[end]) == 0;)
            end++;
        for (size_t i = begin, next; i < end; i = next) {
            for (next = i + 1; next < end && strcmp(kinds[i].gpu, kinds[next].gpu) == 0;)
                next++;
            if (*kinds[i].gpu && next - i > most_count) {
                most = kinds[i].gpu;
                most_count = next - i;
            }
        }
        for (size_t i = begin; i < end && !*kinds[i].gpu; i++)
            kinds[i].gpu = most;
    }
}

static char *join(const char *const *words, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *stream = memory_stream(&text, &size);

    if (!stream)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (*words[i])
            fprintf(stream, "%s%s", ftell(stream) > 0 ? ", " : "", words[i]);
    if (ftell(stream) == 0)
        fputs("all nodes", stream);
    fclose(stream);
    return text;
}

static bool is_same_hardware(const struct kind *a, const struct kind *b)
{
    return strcmp(a->product, b->product) == 0 && strcmp(a->processor, b->processor) == 0 &&
           strcmp(a->gpu, b->gpu) == 0;
}

/* Adds a group of kinds[begin..end). */
static int add_group(struct groups *groups, const struct kind *kinds, size_t begin, size_t end,
                     size_t count, size_t class)
{
    const struct kind *kind = &kinds[begin];
    struct group *group = &groups->groups[groups->count];
    const char *words[] = {kind->product, kind->processor, kind->gpu, ""};

    for (size_t i = 0; i < count; i++)
        if (is_same_hardware(kind, &kinds[i]) && strcmp(kind->class, kinds[i].class) != 0) {
            words[3] = *kind->class ? kind->class : "no class";
            break;
        }
    *group = (struct group){.label = join(words, 4),
                            .nodes = malloc((end - begin) * sizeof *group->nodes),
                            .count = end - begin,
                            .class = class};
    groups->count++;
    if (!group->label || !group->nodes)
        return -1;
    for (size_t i = begin; i < end; i++)
        group->nodes[i - begin] = kinds[i].node;
    return 0;
}

static int by_size(const void *left, const void *right)
{
    const struct group *a = left, *b = right;

    return COMPARE(b->count, a->count) ?: COMPARE(a->nodes[0], b->nodes[0]);
}

static int add_groups(struct groups *groups, struct kind *kinds, size_t count)
{
    size_t class = 0;

    qsort(kinds, count, sizeof *kinds, by_kind);
    adopt(kinds, count);
    qsort(kinds, count, sizeof *kinds, by_kind);
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && compare_base(&kinds[begin], &kinds[end]) == 0 &&
                              strcmp(kinds[begin].gpu, kinds[end].gpu) == 0;)
            end++;
        if (begin > 0 && strcmp(kinds[begin - 1].class, kinds[begin].class) != 0)
            class ++;
        if (add_group(groups, kinds, begin, end, count, class) != 0)
            return -1;
    }
    qsort(groups->groups, groups->count, sizeof *groups->groups, by_size);
    for (size_t i = 0; i < groups->count; i++)
        for (size_t k = 0; k < groups->groups[i].count; k++)
            groups->of_node[groups->groups[i].nodes[k]] = (unsigned)i;
    return 0;
}

int groups_make(const struct fact_table *table, const struct node_class *classes,
                size_t class_count, struct groups *groups)
{
    size_t count = table->node_count;
    struct kind *kinds = calloc(count + 1, sizeof *kinds);
    struct node_class *sorted = malloc((class_count + 1) * sizeof *sorted);
    long product = fact_table_key(table, "product", "");
    long processor = fact_table_key(table, "cpu.model", "");
    int result = -1;

    *groups = (struct groups){.groups = calloc(count + 1, sizeof *groups->groups),
                              .of_node = calloc(count + 1, sizeof *groups->of_node)};
    if (kinds && sorted && groups->groups && groups->of_node) {
        if (class_count > 0) {
            memcpy(sorted, classes, class_count * sizeof *sorted);
            qsort(sorted, class_count, sizeof *sorted, by_class_name);
        }
        for (size_t i = 0; i < count; i++) {
            const struct node_class wanted = {table->nodes[i], NULL};
            const struct node_class *class =
                class_count == 0
                    ? NULL
                    : bsearch(&wanted, sorted, class_count, sizeof *sorted, by_class_name);

            kinds[i] = (struct kind){.node = (unsigned)i,
                                     .class = class && class->text ? class->text : "",
                                     .product = value_of(table, product, i),
                                     .processor = value_of(table, processor, i),
                                     .gpu = gpu_of(table, i)};
        }
        result = add_groups(groups, kinds, count);
    }
    free(kinds);
    free(sorted);
    return result;
}

void groups_clear(struct groups *groups)
{
    for (size_t i = 0; i < groups->count; i++) {
        free(groups->groups[i].label);
        free(groups->groups[i].nodes);
    }
    free(groups->groups);
    free(groups->of_node);
    *groups = (struct groups){0};
}

char *group_fold(const struct fact_table *table, const struct group *group)
{
    struct hostlist names = {0};
    char *folded = NULL;
    bool is_whole = true;

    for (size_t i = 0; i < group->count && is_whole; i++)
        is_whole = hostlist_append(&names, table->nodes[group->nodes[i]]) == 0;
    if (is_whole)
        folded = hostlist_fold(&names);
    hostlist_clear(&names);
    return folded;
}
