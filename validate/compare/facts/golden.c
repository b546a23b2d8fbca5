/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/compare/facts/golden.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/base_name.h"
#include "lib/base/compare.h"
#include "lib/base/grow.h"

static int by_fact(const void *left, const void *right)
{
    const struct golden_fact *a = left, *b = right;

    return strcmp(a->name, b->name) ?: strcmp(a->part, b->part);
}

const struct golden_fact *golden_fact(const struct golden_group *group, const char *name,
                                      const char *part)
{
    const struct golden_fact wanted = {.name = (char *)name, .part = (char *)part};

    return group->count == 0 ? NULL
                             : bsearch(&wanted, group->facts, group->count, sizeof wanted, by_fact);
}

/* ---------------------------------------------------------------- reading */

struct reading {
    struct golden *golden;
    const char *name;
    unsigned line;
};

static int begin_group(struct reading *reading, const char *nodes, struct error *err)
{
    struct golden *golden = reading->golden;
    struct golden_group *group;

    if (!GROW(golden->groups, golden->count))
        return error_set(err, "out of memory");
    group = &golden->groups[golden->count];
    *group = (struct golden_group){.line = reading->line};
    if (hostlist_expand(nodes, &group->nodes, err) != 0)
        return -1;
    golden->count++;
    if (group->nodes.count == 0)
        return error_set(err, "found a group without nodes, expected \"group n[1-4]\"");
    return 0;
}

static char *trim(char *text)
{
    size_t length;

    text += strspn(text, " \t\r");
    for (length = strlen(text); length > 0 && strchr(" \t\r", text[length - 1]);)
        text[--length] = '\0';
    return text;
}

static int add_fact(struct reading *reading, char *left, const char *value, struct error *err)
{
    struct golden *golden = reading->golden;
    struct golden_group *group = golden->count ? &golden->groups[golden->count - 1] : NULL;
    struct golden_fact *facts;
    char *name, *part;

    left = trim(left);
    name = strrchr(left, ' ');
    part = name ? left : left + strlen(left);
    name = name ? name + 1 : left;
    if (name != left)
        name[-1] = '\0';
    if (!*name || !*value)
        return error_set(err,
                         "found \"%.60s = %.60s\", expected \"NAME = VALUE\" or "
                         "\"PART NAME = VALUE\"",
                         left, value);
    if (!group)
        return error_set(err, "found a fact before any group, expected \"group n[1-4]\"");
    if (!GROW(group->facts, group->count))
        return error_set(err, "out of memory");
    facts = &group->facts[group->count++];
    *facts = (struct golden_fact){strdup(name), strdup(trim(part)), strdup(value), reading->line};
    return facts->name && facts->part && facts->value ? 0 : error_set(err, "out of memory");
}

static int read_line(struct reading *reading, char *line, struct error *err)
{
    char *equals;

    line = trim(line);
    if (!*line || *line == '#')
        return 0;
    if (strncmp(line, "group ", strlen("group ")) == 0 && !strstr(line, " = "))
        return begin_group(reading, trim(line + strlen("group ")), err);
    equals = strstr(line, " = ");
    if (!equals)
        return error_set(err,
                         "found \"%.60s\", expected \"group NODES\", \"NAME = VALUE\" or "
                         "\"PART NAME = VALUE\"",
                         line);
    *equals = '\0';
    return add_fact(reading, line, trim(equals + strlen(" = ")), err);
}

/* Sorts the facts, and checks that none is there twice. */
static int check_facts(const struct reading *reading, struct golden_group *group, struct error *err)
{
    if (group->count > 0)
        qsort(group->facts, group->count, sizeof *group->facts, by_fact);
    for (size_t i = 1; i < group->count; i++) {
        const struct golden_fact *a = &group->facts[i - 1], *b = &group->facts[i];

        if (by_fact(a, b) == 0)
            return error_set(err, "%s:%u: found %s%s%s a second time, first in line %u",
                             reading->name, a->line > b->line ? a->line : b->line, b->part,
                             *b->part ? " " : "", b->name, a->line < b->line ? a->line : b->line);
    }
    return 0;
}

struct node_line {
    const char *node;
    unsigned line;
};

static int by_node(const void *left, const void *right)
{
    const struct node_line *a = left, *b = right;

    return strcmp(a->node, b->node) ?: COMPARE(a->line, b->line);
}

/* Checks that no node is in two groups. */
static int check_nodes(const struct reading *reading, struct error *err)
{
    const struct golden *golden = reading->golden;
    struct node_line *lines;
    size_t count = 0, all = 0;
    int result = 0;

    for (size_t i = 0; i < golden->count; i++)
        all += golden->groups[i].nodes.count;
    lines = malloc((all + 1) * sizeof *lines);
    if (!lines)
        return error_set(err, "%s: out of memory", reading->name);
    for (size_t i = 0; i < golden->count; i++)
        for (size_t k = 0; k < golden->groups[i].nodes.count; k++)
            lines[count++] =
                (struct node_line){golden->groups[i].nodes.names[k], golden->groups[i].line};
    qsort(lines, count, sizeof *lines, by_node);
    for (size_t i = 1; i < count && result == 0; i++)
        if (strcmp(lines[i - 1].node, lines[i].node) == 0)
            result = error_set(err, "%s:%u: found node %s a second time, first in line %u",
                               reading->name, lines[i].line, lines[i].node, lines[i - 1].line);
    free(lines);
    return result;
}

int golden_parse(const char *text, const char *name, struct golden *golden, struct error *err)
{
    struct reading reading = {.golden = golden, .name = name};
    char *copy = strdup(text), *rest = copy, *line;
    int result = copy ? 0 : error_set(err, "%s: out of memory", name);

    *golden = (struct golden){0};
    snprintf(golden->file, sizeof golden->file, "%s", base_name(name));
    while (result == 0 && (line = strsep(&rest, "\n"))) {
        reading.line++;
        if (read_line(&reading, line, err) != 0)
            result = error_prefix(err, "%s:%u", name, reading.line);
    }
    free(copy);
    for (size_t i = 0; i < golden->count && result == 0; i++)
        result = check_facts(&reading, &golden->groups[i], err);
    if (result == 0)
        result = check_nodes(&reading, err);
    if (result == 0 && golden->count == 0)
        result = error_set(err, "%s: found no group, expected \"group n[1-4]\" and facts", name);
    if (result != 0)
        golden_clear(golden);
    return result;
}

void golden_clear(struct golden *golden)
{
    for (size_t i = 0; i < golden->count; i++) {
        struct golden_group *group = &golden->groups[i];

        hostlist_clear(&group->nodes);
        for (size_t k = 0; k < group->count; k++) {
            free(group->facts[k].name);
            free(group->facts[k].part);
            free(group->facts[k].value);
        }
        free(group->facts);
    }
    free(golden->groups);
    *golden = (struct golden){0};
}

/* ---------------------------------------------------------------- writing */

/* Prints a value as one line: control characters become blanks. */
static void print_value(FILE *stream, const char *value)
{
    for (; *value; value++)
        fputc((unsigned char)*value < ' ' ? ' ' : *value, stream);
}

/* Returns the most frequent value of the key in the group, and sets *count to its number of nodes;
 * NULL if no node has the fact. */
static const char *most_frequent(const struct fact_table *table, const struct group *group,
                                 size_t key, unsigned *counts, size_t *count)
{
    const char *most = NULL;

    *count = 0;
    for (int is_clearing = 0; is_clearing < 2; is_clearing++)
        for (size_t i = 0, at = table->begins[key]; i < group->count; i++) {
            const struct fact_cell *cell;

            while (at < table->begins[key + 1] && table->cells[at].node < group->nodes[i])
                at++;
            cell = &table->cells[at];
            if (at == table->begins[key + 1] || cell->node != group->nodes[i])
                continue;
            if (is_clearing) {
                counts[cell->value] = 0;
            } else if (++counts[cell->value] > *count) {
                *count = counts[cell->value];
                most = table->values[cell->value];
            }
        }
    return most;
}

static int write_group(FILE *stream, const struct fact_table *table, const struct group *group,
                       unsigned *counts)
{
    char *nodes = group_fold(table, group);

    if (!nodes)
        return -1;
    fprintf(stream, "\n# %s\ngroup %s\n", group->label, nodes);
    free(nodes);
    for (size_t key = 0; key < table->key_count; key++) {
        const struct fact_key *fact = &table->keys[key];
        size_t agreeing;
        const char *value = most_frequent(table, group, key, counts, &agreeing);

        if (!value)
            continue;
        if (2 * agreeing <= group->count)
            fprintf(stream, "# no value has a majority: ");
        fprintf(stream, "%s%s%s = ", fact->part, *fact->part ? " " : "", fact->name);
        print_value(stream, value);
        fputc('\n', stream);
    }
    return 0;
}

int golden_write(FILE *stream, const char *comment, const struct fact_table *table,
                 const struct groups *groups)
{
    unsigned *counts = calloc(table->value_count + 1, sizeof *counts);
    int result = counts ? 0 : -1;

    fprintf(stream, "# %s\n", comment);
    for (size_t i = 0; i < groups->count && result == 0; i++)
        result = write_group(stream, table, &groups->groups[i], counts);
    free(counts);
    return result != 0 || fflush(stream) != 0 || ferror(stream) ? -1 : 0;
}
