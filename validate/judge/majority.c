/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/judge/majority.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict majority_severity(const char *name)
{
    static const char *const breaks_jobs[] = {"mtu", "speed", "carrier", "gpu.count", "gres.count"};

    for (size_t i = 0; i < sizeof breaks_jobs / sizeof *breaks_jobs; i++)
        if (strcmp(name, breaks_jobs[i]) == 0)
            return VERDICT_FAIL;
    return VERDICT_WARN;
}

static int by_node(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static int compare_facts(const struct fact *a, const struct fact *b)
{
    int order = strcmp(a->name, b->name);

    return order ? order : strcmp(a->part, b->part);
}

static int by_fact(const void *left, const void *right)
{
    const struct fact *a = left, *b = right;
    int order = compare_facts(a, b);

    if (order == 0)
        order = strcmp(a->value, b->value);
    return order ? order : strcmp(a->node, b->node);
}

struct list {
    struct oddity *oddities;
    size_t count, size;
};

static int add(struct list *list, const struct oddity *oddity)
{
    struct oddity *added;
    const char *space = *oddity->part ? " " : "";

    if (list->count == list->size) {
        size_t size = 2 * list->size + 16;
        struct oddity *grown = realloc(list->oddities, size * sizeof *grown);

        if (!grown)
            return -1;
        list->oddities = grown;
        list->size = size;
    }
    added = &list->oddities[list->count++];
    *added = *oddity;
    if (!added->majority)
        snprintf(added->message, sizeof added->message,
                 "%s%s%s differs between nodes and no value has a majority, %s here", added->part,
                 space, added->name, added->value);
    else if (!added->value)
        snprintf(added->message, sizeof added->message, "%s%s%s is missing, %s on %zu of %zu nodes",
                 added->part, space, added->name, added->majority, added->agreeing, added->nodes);
    else
        snprintf(added->message, sizeof added->message, "%s%s%s is %s, %s on %zu of %zu nodes",
                 added->part, space, added->name, added->value, added->majority, added->agreeing,
                 added->nodes);
    return 0;
}

/* Adds the nodes that do not have a fact at all: nodes and the nodes of facts[0..count) are walked
 * side by side, both sorted. */
static int add_missing(struct list *list, const struct oddity *pattern, const struct fact *facts,
                       size_t count, const char *const *nodes, size_t node_count)
{
    const char **have = malloc((count + 1) * sizeof *have);
    size_t at = 0;
    int result = 0;

    if (!have)
        return -1;
    for (size_t i = 0; i < count; i++)
        have[i] = facts[i].node;
    qsort(have, count, sizeof *have, by_node);
    for (size_t i = 0; i < node_count && result == 0; i++) {
        struct oddity oddity = *pattern;

        while (at < count && strcmp(have[at], nodes[i]) < 0)
            at++;
        if (at < count && strcmp(have[at], nodes[i]) == 0)
            continue;
        oddity.node = nodes[i];
        oddity.value = NULL;
        result = add(list, &oddity);
    }
    free(have);
    return result;
}

/* facts[0..count): all nodes' values of one fact, sorted by value. */
static int compare_one(struct list *list, const struct fact *facts, size_t count,
                       const char *const *nodes, size_t node_count)
{
    size_t best = 0, best_count = 0;
    struct oddity oddity = {.name = facts[0].name,
                            .part = facts[0].part,
                            .nodes = node_count,
                            .verdict = majority_severity(facts[0].name)};

    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && strcmp(facts[end].value, facts[i].value) == 0;)
            end++;
        if (end - i > best_count) {
            best = i;
            best_count = end - i;
        }
    }
    if (2 * best_count <= node_count) {
        if (best_count == count)
            return 0; /* all that have it agree, and most nodes do not have it */
        oddity.node = facts[0].node;
        oddity.value = facts[0].value;
        oddity.verdict = VERDICT_WARN;
        return add(list, &oddity);
    }
    oddity.majority = facts[best].value;
    oddity.agreeing = best_count;
    for (size_t i = 0; i < count; i++) {
        if (i >= best && i < best + best_count)
            continue;
        oddity.node = facts[i].node;
        oddity.value = facts[i].value;
        if (add(list, &oddity) != 0)
            return -1;
    }
    return add_missing(list, &oddity, facts, count, nodes, node_count);
}

/* The names of all nodes that have any fact, sorted, each once. */
static size_t list_nodes(const struct fact *facts, size_t count, const char **nodes)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        nodes[i] = facts[i].node;
    qsort(nodes, count, sizeof *nodes, by_node);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(nodes[kept - 1], nodes[i]) != 0)
            nodes[kept++] = nodes[i];
    return kept;
}

int majority_compare(const struct fact *facts, size_t fact_count, struct oddity **oddities)
{
    struct fact *sorted = malloc((fact_count + 1) * sizeof *sorted);
    const char **nodes = malloc((fact_count + 1) * sizeof *nodes);
    struct list list = {0};
    size_t node_count;
    bool failed = !sorted || !nodes;

    if (!failed) {
        for (size_t i = 0; i < fact_count; i++)
            sorted[i] = facts[i];
        qsort(sorted, fact_count, sizeof *sorted, by_fact);
        node_count = list_nodes(facts, fact_count, nodes);
        for (size_t i = 0, end; i < fact_count && node_count > 2 && !failed; i = end) {
            for (end = i + 1; end < fact_count && compare_facts(&sorted[i], &sorted[end]) == 0;)
                end++;
            failed = compare_one(&list, &sorted[i], end - i, nodes, node_count) != 0;
        }
    }
    free(sorted);
    free(nodes);
    if (failed) {
        free(list.oddities);
        *oddities = NULL;
        return -1;
    }
    *oddities = list.oddities;
    return (int)list.count;
}
