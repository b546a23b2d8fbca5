/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/command/compare/show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/compare.h"
#include "lib/base/hostlist.h"
#include "lib/base/text.h"
#include "validate/report/table.h"

enum { CELL = 60 };

static bool is_same(const struct deviation *a, const struct deviation *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->part, b->part) == 0 && !a->node == !b->node &&
           a->verdict == b->verdict && a->group == b->group && a->golden_line == b->golden_line &&
           !a->value == !b->value && (!a->value || strcmp(a->value, b->value) == 0);
}

/* Adds one row for all nodes with the same difference. is_shown: [deviation], already in a row. */
static void add_row(struct table *table, const struct comparison *comparison, size_t at,
                    bool *is_shown)
{
    const struct deviation *deviation = &comparison->deviations[at];
    struct hostlist names = {0};
    const char *against = deviation->expected ? deviation->expected : deviation->other, *reason;
    char value[CELL + 1], beside[CELL + 1], *folded;

    for (size_t i = at; i < comparison->count; i++) {
        const struct deviation *other = &comparison->deviations[i];

        if (strcmp(deviation->name, other->name) != 0)
            break;
        if (is_shown[i] || !is_same(deviation, other))
            continue;
        is_shown[i] = true;
        if (other->node)
            hostlist_append(&names, other->node);
    }
    folded = hostlist_fold(&names);
    fact_severity(deviation->name, &reason);
    deviation_excerpt(deviation->value, against, CELL, value);
    deviation_excerpt(against, deviation->value, CELL, beside);
    table_cell(table, deviation->verdict, "%s", verdict_name(deviation->verdict));
    table_cells(table, "%s\t%s\t%s\t%s", deviation->node && folded ? folded : "-",
                *deviation->part ? deviation->part : "-", deviation->name,
                deviation->expected ? value : "-");
    if (deviation->golden_line)
        table_cell(table, VERDICT_NONE, "%s (%s:%u)", beside, comparison->golden.file,
                   deviation->golden_line);
    else if (deviation->expected)
        table_cell(table, VERDICT_NONE, "%s (%zu of %zu)", beside, deviation->agreeing,
                   deviation->nodes);
    else
        table_cell(table, VERDICT_NONE, "no majority: %s (%zu), %s (%zu) of %zu", value,
                   deviation->agreeing, beside, deviation->others, deviation->nodes);
    table_cell(table, VERDICT_NONE, "%s", reason);
    free(folded);
    hostlist_clear(&names);
}

void show_groups(const struct comparison *comparison)
{
    const struct groups *groups = &comparison->groups;

    printf("%zu node%s, %zu facts, %zu group%s\n", comparison->table.node_count,
           text_plural(comparison->table.node_count), comparison->table.cell_count, groups->count,
           text_plural(groups->count));
    for (size_t i = 0; i < groups->count; i++) {
        char *folded = group_fold(&comparison->table, &groups->groups[i]);

        printf("  %s: %s%s\n", folded ? folded : "?", groups->groups[i].label,
               groups->groups[i].count == 1  ? " (compared with none)"
               : groups->groups[i].count < 3 ? " (too few for a majority)"
                                             : "");
        free(folded);
    }
}

void show_differences(const struct comparison *comparison)
{
    struct table table = {0};
    bool *is_shown = calloc(comparison->count + 1, sizeof *is_shown);

    table_heading(&table, "VERDICT\tNODES\tPART\tFACT\tFOUND\tEXPECTED\tWHY IT MATTERS");
    for (size_t i = 0; is_shown && i < comparison->count; i++)
        if (!is_shown[i])
            add_row(&table, comparison, i, is_shown);
    table_end(&table, stdout, "\n");
    if (comparison->count == 0)
        puts("\nno differences");
    free(is_shown);
}

struct reporter {
    unsigned value, node;
};

static int by_value(const void *left, const void *right)
{
    const struct reporter *a = left, *b = right;

    return COMPARE(a->value, b->value) ?: COMPARE(a->node, b->node);
}

void show_values(const struct comparison *comparison)
{
    const struct fact_table *facts = &comparison->table;
    struct table table = {0};
    struct reporter *reporters = malloc((facts->node_count + 1) * sizeof *reporters);

    table_heading(&table, "PART\tFACT\tNODES\tVALUE");
    for (size_t key = 0; reporters && key < facts->key_count; key++) {
        size_t begin = facts->begins[key], count = facts->begins[key + 1] - begin;

        for (size_t i = 0; i < count; i++)
            reporters[i] =
                (struct reporter){facts->cells[begin + i].value, facts->cells[begin + i].node};
        qsort(reporters, count, sizeof *reporters, by_value);
        for (size_t i = 0; i < count;) {
            unsigned value = reporters[i].value;
            struct hostlist nodes = {0};
            char *folded;

            for (; i < count && reporters[i].value == value; i++)
                hostlist_append(&nodes, facts->nodes[reporters[i].node]);
            folded = hostlist_fold(&nodes);
            table_cells(&table, "%s\t%s\t%s\t%s",
                        *facts->keys[key].part ? facts->keys[key].part : "-", facts->keys[key].name,
                        folded ? folded : "?", facts->values[value]);
            free(folded);
            hostlist_clear(&nodes);
        }
    }
    table_end(&table, stdout, "\n");
    free(reporters);
}

static void show_duplicate(const struct duplicate *duplicate, enum verdict verdict, bool as_json)
{
    for (size_t i = 0; i < duplicate->count; i++) {
        const struct identity *holder = &duplicate->identities[i];
        char text[512];

        duplicate_message(duplicate, i, text, sizeof text);
        if (as_json)
            record_put(stdout,
                       RECORD(.suite = "compare", .test = "net.addresses", .node = holder->node,
                              .part = holder->part, .verdict = verdict),
                       "%s", text);
        else
            printf("%s  %s  %s\n", verdict_name(verdict), holder->node, text);
    }
}

static void show_hosts(const char *text, void *context)
{
    if (*(const bool *)context)
        record_put(stdout,
                   RECORD(.suite = "compare", .test = "net.addresses", .verdict = VERDICT_WARN,
                          .code = FAULT_HOSTS_DIFFER),
                   "%s", text);
    else
        printf("%s  %s\n", verdict_name(VERDICT_WARN), text);
}

enum verdict show_duplicates(const struct records *records, bool as_json)
{
    struct identity *identities;
    struct duplicate *duplicates = NULL;
    enum verdict worst = VERDICT_PASS;
    size_t count, nodes;
    int found = -1, differing = -1;

    if (identities_take(records, 0, NULL, NULL, &identities, &count, &nodes) == 0)
        differing = hosts_differ(identities, count, show_hosts, &as_json);
    if (differing >= 0)
        found = duplicates_find(identities, count, nodes, &duplicates);
    if (differing > 0)
        worst = VERDICT_WARN;
    if (found < 0) {
        fprintf(stderr, "muster compare: no memory to compare the nodes' addresses\n");
        worst = VERDICT_UNKNOWN;
    }
    for (int i = 0; i < found; i++) {
        enum verdict verdict = duplicates[i].is_common ? VERDICT_WARN : VERDICT_UNKNOWN;

        worst = verdict > worst ? verdict : worst;
        show_duplicate(&duplicates[i], verdict, as_json);
    }
    free(duplicates);
    free(identities);
    return worst;
}

void show_records(const struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct deviation *deviation = &comparison->deviations[i];
        char text[2048];

        deviation_message(deviation, text, sizeof text);
        record_put(stdout,
                   RECORD(.suite = "compare", .test = "host.config", .node = deviation->node,
                          .part = *deviation->part ? deviation->part : deviation->name,
                          .verdict = deviation->verdict, .code = deviation->code),
                   "%s", text);
    }
}
