/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/compare/facts/majority.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/grow.h"
#include "lib/base/text.h"

/* One node's value of the compared fact. */
struct vote {
    unsigned group, value, node;
};

struct comparison {
    const struct fact_table *table;
    const struct groups *groups;
    const struct golden *golden;
    unsigned *golden_of; /* [node]: its group of golden + 1; 0: none */
    unsigned *last_key;  /* [node]: the last key that it has, + 1 */
    struct vote *votes;  /* of one key */
    struct deviation *deviations;
    size_t count;
    bool out_of_memory;
};

static void add(struct comparison *comparison, const struct deviation *deviation)
{
    if (!GROW(comparison->deviations, comparison->count)) {
        comparison->out_of_memory = true;
        return;
    }
    comparison->deviations[comparison->count++] = *deviation;
}

static bool is_golden(const struct comparison *comparison, unsigned node, const char *name,
                      const char *part)
{
    unsigned number = comparison->golden_of ? comparison->golden_of[node] : 0;

    return number > 0 && golden_fact(&comparison->golden->groups[number - 1], name, part);
}

/* Adds a deviation from the majority, unless the golden file has this fact of the node. */
static void add_deviation(struct comparison *comparison, struct deviation *deviation, unsigned node,
                          const char *value)
{
    if (is_golden(comparison, node, deviation->name, deviation->part))
        return;
    deviation->node = comparison->table->nodes[node];
    deviation->value = value;
    add(comparison, deviation);
}

/* Returns the most frequent value of votes[0..count), which are sorted by value; of several the
 * least text. *agreeing: its votes. except: a value that does not count, or UINT32_MAX. */
static unsigned most_frequent(const struct comparison *comparison, const struct vote *votes,
                              size_t count, unsigned except, size_t *agreeing)
{
    const char **values = comparison->table->values;
    unsigned best = UINT32_MAX;

    *agreeing = 0;
    for (size_t i = 0, end; i < count; i = end) {
        unsigned value = votes[i].value;

        for (end = i + 1; end < count && votes[end].value == value;)
            end++;
        if (value == except || end - i < *agreeing)
            continue;
        if (end - i > *agreeing || strcmp(values[value], values[best]) < 0)
            best = value;
        *agreeing = end - i;
    }
    return best;
}

/* Whether the node has any fact of the part. */
static bool reports_on(const struct fact_table *table, unsigned node, const char *part)
{
    for (size_t key = 0; key < table->key_count; key++)
        if (strcmp(table->keys[key].part, part) == 0 && fact_table_value(table, key, node))
            return true;
    return false;
}

/* Returns the verdict of a missing fact. If the node lacks the part, it has a fault. If only this
 * fact of the part is missing, a FAIL becomes UNKNOWN: it may not have been read, or was lost. */
static enum verdict missing_verdict(const struct comparison *comparison, unsigned node,
                                    const char *name, const char *part)
{
    enum verdict verdict = fact_severity(name, NULL);

    return verdict == VERDICT_FAIL && reports_on(comparison->table, node, part) ? VERDICT_UNKNOWN
                                                                                : verdict;
}

static void add_missing(struct comparison *comparison, struct deviation deviation, unsigned node)
{
    deviation.verdict = missing_verdict(comparison, node, deviation.name, deviation.part);
    add_deviation(comparison, &deviation, node, NULL);
}

/* Whether the value is more than expected: newer hardware, or a fault of the peers. */
static bool has_more(const char *name, const char *value, const char *expected)
{
    if (catalog_is_metric(name, METRIC_CARRIER))
        return strcmp(value, "yes") == 0;
    return (catalog_is_metric(name, METRIC_SPEED) || catalog_is_metric(name, METRIC_GPU_COUNT)) &&
           strtod(value, NULL) > strtod(expected, NULL);
}

/* Whether the port has no link: then its settings do not matter to jobs. */
static bool has_no_link(const struct fact_table *table, unsigned node, const char *part)
{
    long key = fact_table_key(table, catalog_metrics[METRIC_CARRIER].name, part);
    const char *carrier = key < 0 ? NULL : fact_table_value(table, (size_t)key, node);

    return carrier && strcmp(carrier, "no") == 0;
}

static void add_differing(struct comparison *comparison, struct deviation deviation,
                          const struct vote *vote)
{
    const char *value = comparison->table->values[vote->value];

    if (has_more(deviation.name, value, deviation.expected) ||
        (!catalog_is_metric(deviation.name, METRIC_CARRIER) &&
         has_no_link(comparison->table, vote->node, deviation.part))) {
        deviation.verdict = VERDICT_WARN;
        deviation.code = FAULT_CONFIG_DIFFERS;
    }
    add_deviation(comparison, &deviation, vote->node, value);
}

/* Compares one key in one group. votes[0..count): the nodes' values, sorted. */
static void compare_group(struct comparison *comparison, size_t key, const struct vote *votes,
                          size_t count)
{
    const struct fact_table *table = comparison->table;
    const struct group *group = &comparison->groups->groups[votes[0].group];
    struct deviation deviation = {.name = table->keys[key].name,
                                  .part = table->keys[key].part,
                                  .code = fact_code(table->keys[key].name),
                                  .nodes = group->count,
                                  .group = comparison->groups->count > 1 ? group->label : NULL};
    unsigned best = most_frequent(comparison, votes, count, UINT32_MAX, &deviation.agreeing);

    deviation.verdict = fact_severity(deviation.name, NULL);
    if (2 * deviation.agreeing <= group->count || group->count < 3) {
        unsigned other = most_frequent(comparison, votes, count, best, &deviation.others);
        size_t missing = group->count - count;
        bool is_known = false;

        if (deviation.agreeing == count && (missing == 0 || 2 * missing > group->count))
            return; /* all nodes that have it agree, and all or most of the others lack it */
        for (size_t i = 0; i < count && !is_known; i++)
            is_known = is_golden(comparison, votes[i].node, deviation.name, deviation.part);
        deviation.value = table->values[best];
        deviation.other = missing < deviation.others ? table->values[other] : NULL;
        if (!deviation.other)
            deviation.others = missing;
        deviation.verdict = VERDICT_WARN;
        if (!is_known)
            add(comparison, &deviation);
        return;
    }
    deviation.expected = table->values[best];
    for (size_t i = 0; i < count; i++)
        if (votes[i].value != best)
            add_differing(comparison, deviation, &votes[i]);
    for (size_t i = 0; i < group->count && count < group->count; i++)
        if (comparison->last_key[group->nodes[i]] != key + 1)
            add_missing(comparison, deviation, group->nodes[i]);
}

static int by_vote(const void *left, const void *right)
{
    const struct vote *a = left, *b = right;

    return COMPARE(a->group, b->group) ?: COMPARE(a->value, b->value) ?: COMPARE(a->node, b->node);
}

static void compare_key(struct comparison *comparison, size_t key)
{
    const struct fact_table *table = comparison->table;
    size_t begin = table->begins[key], count = table->begins[key + 1] - begin;
    struct vote *votes = comparison->votes;

    for (size_t i = 0; i < count; i++) {
        const struct fact_cell *cell = &table->cells[begin + i];

        votes[i] = (struct vote){comparison->groups->of_node[cell->node], cell->value, cell->node};
        comparison->last_key[cell->node] = (unsigned)key + 1;
    }
    qsort(votes, count, sizeof *votes, by_vote);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && votes[end].group == votes[i].group;)
            end++;
        compare_group(comparison, key, &votes[i], end - i);
    }
}

static void compare_golden(struct comparison *comparison, unsigned node)
{
    const struct fact_table *table = comparison->table;
    const struct golden_group *group;

    if (comparison->golden_of[node] == 0)
        return;
    group = &comparison->golden->groups[comparison->golden_of[node] - 1];
    for (size_t i = 0; i < group->count; i++) {
        const struct golden_fact *fact = &group->facts[i];
        long key = fact_table_key(table, fact->name, fact->part);
        const char *value = key < 0 ? NULL : fact_table_value(table, (size_t)key, node);

        if (value && strcmp(value, fact->value) == 0)
            continue;
        add(comparison,
            &(struct deviation){
                .node = table->nodes[node],
                .name = fact->name,
                .part = fact->part,
                .value = value,
                .expected = fact->value,
                .golden_line = fact->line,
                .code = fact_code(fact->name),
                .verdict = value ? fact_severity(fact->name, NULL)
                                 : missing_verdict(comparison, node, fact->name, fact->part)});
    }
}

/* Adds deviations for a group too small for a majority, if its class has a large group. */
static void compare_hardware(struct comparison *comparison, const struct group *group)
{
    const struct groups *groups = comparison->groups;
    const struct group *large = NULL;
    size_t all = 0;

    if (group->count > 2)
        return;
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->groups[i].class != group->class)
            continue;
        all += groups->groups[i].count;
        if (!large)
            large = &groups->groups[i]; /* the largest is first */
    }
    if (large->count < 3 || 2 * large->count <= all)
        return;
    for (size_t i = 0; i < group->count; i++)
        add(comparison, &(struct deviation){.node = comparison->table->nodes[group->nodes[i]],
                                            .name = "hardware",
                                            .part = "",
                                            .value = group->label,
                                            .expected = large->label,
                                            .agreeing = large->count,
                                            .nodes = all,
                                            .code = fact_code("hardware"),
                                            .verdict = fact_severity("hardware", NULL)});
}

static int by_deviation(const void *left, const void *right)
{
    const struct deviation *a = left, *b = right;

    return strcmp(a->name, b->name) ?: strverscmp(a->part, b->part)
           ?: strverscmp(text_of(a->node), text_of(b->node))
           ?: strcmp(text_of(a->group), text_of(b->group));
}

static int assign_golden_groups(struct comparison *comparison)
{
    const struct golden *golden = comparison->golden;

    comparison->golden_of =
        calloc(comparison->table->node_count + 1, sizeof *comparison->golden_of);
    if (!comparison->golden_of)
        return -1;
    for (size_t i = 0; i < golden->count; i++)
        for (size_t k = 0; k < golden->groups[i].nodes.count; k++) {
            long node = fact_table_node(comparison->table, golden->groups[i].nodes.names[k]);

            if (node >= 0)
                comparison->golden_of[node] = (unsigned)i + 1;
        }
    return 0;
}

int majority_compare(const struct fact_table *table, const struct groups *groups,
                     const struct golden *golden, struct deviation **deviations)
{
    struct comparison comparison = {.table = table,
                                    .groups = groups,
                                    .golden = golden,
                                    .last_key = calloc(table->node_count + 1, sizeof(unsigned)),
                                    .votes = malloc((table->node_count + 1) * sizeof(struct vote))};

    comparison.out_of_memory = !comparison.last_key || !comparison.votes ||
                               (golden && assign_golden_groups(&comparison) != 0);
    for (size_t i = 0; i < table->key_count && !comparison.out_of_memory; i++)
        compare_key(&comparison, i);
    for (size_t i = 0; i < groups->count && !comparison.out_of_memory; i++)
        compare_hardware(&comparison, &groups->groups[i]);
    for (size_t i = 0; golden && i < table->node_count && !comparison.out_of_memory; i++)
        compare_golden(&comparison, (unsigned)i);
    free(comparison.golden_of);
    free(comparison.last_key);
    free(comparison.votes);
    *deviations = NULL;
    if (comparison.out_of_memory) {
        free(comparison.deviations);
        return -1;
    }
    if (comparison.count > 0)
        qsort(comparison.deviations, comparison.count, sizeof *comparison.deviations, by_deviation);
    *deviations = comparison.deviations;
    return (int)comparison.count;
}

/* Returns length, reduced so that no UTF-8 character is cut. */
static size_t cut_at(const char *text, size_t length)
{
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    return length;
}

void deviation_excerpt(const char *text, const char *beside, size_t most, char *excerpt)
{
    size_t begin = 0, same = 0, length, left = most;

    text = text ? text : "missing";
    length = strlen(text);
    while (length > most && beside && text[same] && text[same] == beside[same])
        same++;
    for (begin = same; begin > 0 && text[begin - 1] != ' ' && text[begin - 1] != ',';)
        begin--;
    if (same - begin > most / 2)
        begin = cut_at(text, same);
    *excerpt = '\0';
    if (begin > 0) {
        strcpy(excerpt, "...");
        left -= 3;
    }
    if (length - begin <= left)
        strcat(excerpt, text + begin);
    else
        sprintf(excerpt + strlen(excerpt), "%.*s...", (int)cut_at(text + begin, left - 3),
                text + begin);
}

enum { EXCERPT = 160 };

void deviation_message(const struct deviation *deviation, char *text, size_t size)
{
    const char *space = *deviation->part ? " " : "";
    const char *of = deviation->group ? " of " : "",
               *group = deviation->group ? deviation->group : "";
    const char *other = deviation->expected ? deviation->expected : deviation->other;
    char value[EXCERPT + 1], beside[EXCERPT + 1];

    deviation_excerpt(deviation->value, other, EXCERPT, value);
    deviation_excerpt(other, deviation->value, EXCERPT, beside);
    if (!deviation->expected && deviation->nodes < 3)
        snprintf(text, size, "%s%s%s differs, %s and %s, and two nodes have no majority%s%s",
                 deviation->part, space, deviation->name, value, beside, of, group);
    else if (!deviation->expected)
        snprintf(text, size,
                 "%s%s%s differs and no value has a majority, %s on %zu and %s on %zu of %zu "
                 "nodes%s%s",
                 deviation->part, space, deviation->name, value, deviation->agreeing, beside,
                 deviation->others, deviation->nodes, of, group);
    else if (deviation->golden_line)
        snprintf(text, size, "%s%s%s is %s, the golden file's line %u says %s", deviation->part,
                 space, deviation->name, value, deviation->golden_line, beside);
    else
        snprintf(text, size, "%s%s%s is %s, %s on %zu of %zu nodes%s%s", deviation->part, space,
                 deviation->name, value, beside, deviation->agreeing, deviation->nodes, of, group);
}
