/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/command/history/history.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "validate/command/command.h"
#include "validate/history/offenders.h"
#include "validate/report/table.h"

/* A node with all its parts. */
struct group {
    struct offender total;
    const struct offender *parts;
    size_t count;
};

static int compare(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    unsigned left = offender_score(&x->total), right = offender_score(&y->total);

    return left != right ? (left < right) - (left > right) : strcmp(x->total.node, y->total.node);
}

/* Returns the nodes, the highest score first; malloc'd, NULL if memory is out. */
static struct group *group_by_node(const struct offenders *offenders, size_t *count)
{
    struct group *groups = calloc(offenders->count + 1, sizeof *groups);

    *count = 0;
    for (size_t i = 0; groups && i < offenders->count; i++) {
        const struct offender *part = &offenders->items[i];
        struct group *group = *count > 0 ? &groups[*count - 1] : NULL;

        if (!group || strcmp(group->total.node, part->node) != 0) {
            group = &groups[(*count)++];
            group->parts = part;
            memcpy(group->total.node, part->node, sizeof part->node);
        }
        group->count++;
        group->total.faults += part->faults;
        group->total.repairs += part->repairs;
        if (part->last > group->total.last)
            group->total.last = part->last;
    }
    if (groups)
        qsort(groups, *count, sizeof *groups, compare);
    return groups;
}

static void add_row(struct table *table, const struct offender *offender, int days, bool as_json)
{
    if (as_json)
        record_put(stdout,
                   RECORD(.suite = "history", .test = "offenders", .metric = "score",
                          .node = offender->node, .part = offender->part,
                          .value = offender_score(offender), .unit = "1", .time = offender->last),
                   "%u faults and %u repairs in %d days", offender->faults, offender->repairs,
                   days);
    else
        table_cells(table, "%s\t%s\t%u\t%u\t%u\t%s", offender->node,
                    *offender->part ? offender->part : "-", offender->faults, offender->repairs,
                    offender_score(offender), history_time(offender->last).text);
}

int history_print_offenders(const char *path, int days, bool as_json)
{
    struct offenders offenders;
    struct table table = {0};
    struct group *groups;
    struct error err;
    size_t count;

    if (offenders_read(path, NULL, clock_epoch_s() - 86400.0 * days, &offenders, &err) != 0)
        return command_failed(COMMAND_UNKNOWN, "muster history", "%s", err.text);
    table_heading(&table, "NODE\tPART\tFAULTS\tREPAIRS\tSCORE\tLAST FAULT");
    groups = group_by_node(&offenders, &count);
    for (size_t i = 0; groups && i < count; i++) {
        add_row(&table, &groups[i].total, days, as_json);
        for (size_t k = 0; k < groups[i].count; k++)
            if (*groups[i].parts[k].part)
                add_row(&table, &groups[i].parts[k], days, as_json);
    }
    table_end(&table, stdout, "");
    if (count == 0)
        fprintf(stderr,
                "muster history: no run failed a node in the last %d days, according to %s\n", days,
                path);
    free(groups);
    offenders_clear(&offenders);
    return COMMAND_PASS;
}
