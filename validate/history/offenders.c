/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/offenders.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/grow.h"
#include "lib/catalog/verdict.h"
#include "validate/history/database.h"

/* The state while reading rows by node and time. */
struct reading {
    struct offenders *offenders;
    char node[64], part[64]; /* part: the failing one, while is_failing */
    bool is_failing;
};

unsigned offender_score(const struct offender *offender)
{
    return offender->faults + offender->repairs;
}

void offenders_clear(struct offenders *offenders)
{
    free(offenders->items);
    *offenders = (struct offenders){0};
}

/* Finds or adds the part of the current node; NULL if memory is out. */
static struct offender *offender_of(struct reading *reading, const char *part)
{
    struct offenders *offenders = reading->offenders;
    struct offender *items;

    for (size_t i = offenders->count; i > 0; i--) {
        struct offender *offender = &offenders->items[i - 1];

        if (strcmp(offender->node, reading->node) != 0)
            break;
        if (strcmp(offender->part, part) == 0)
            return offender;
    }
    if (!GROW(offenders->items, offenders->count))
        return NULL;
    items = &offenders->items[offenders->count++];
    *items = (struct offender){.faults = 0};
    snprintf(items->node, sizeof items->node, "%s", reading->node);
    snprintf(items->part, sizeof items->part, "%s", part);
    return items;
}

static int take_failure(struct reading *reading, const char *part, double time)
{
    bool is_new = !reading->is_failing || strcmp(reading->part, part) != 0;
    struct offender *offender = offender_of(reading, part);

    if (!offender)
        return -1;
    offender->faults += is_new;
    offender->last = time;
    reading->is_failing = true;
    memcpy(reading->part, offender->part, sizeof reading->part);
    return 0;
}

static int take_repair(struct reading *reading, const char *part)
{
    struct offender *offender;

    if (reading->is_failing && (!*part || strcmp(reading->part, part) == 0)) {
        reading->is_failing = false;
        part = reading->part;
    }
    offender = offender_of(reading, part);
    if (!offender)
        return -1;
    offender->repairs += offender->faults > 0;
    return 0;
}

/* Takes a row: node, time, verdict (NULL: an acceptance), part. */
static int take_row(struct reading *reading, sqlite3_stmt *statement)
{
    const char *node = database_text(statement, 0);
    bool is_accepted = sqlite3_column_type(statement, 2) == SQLITE_NULL;
    int verdict = verdict_parse(database_text(statement, 2));
    char part[64];

    snprintf(part, sizeof part, "%s", database_text(statement, 3));
    if (strncmp(reading->node, node, sizeof reading->node - 1) != 0) {
        reading->is_failing = false;
        snprintf(reading->node, sizeof reading->node, "%s", node);
    }
    if (is_accepted)
        return take_repair(reading, part);
    if (verdict == VERDICT_FAIL)
        return take_failure(reading, part, sqlite3_column_double(statement, 1));
    return verdict == VERDICT_PASS && reading->is_failing ? take_repair(reading, "") : 0;
}

int offenders_read(const char *path, const char *cluster, double since, struct offenders *offenders,
                   struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT nodes.node, nodes.time, nodes.verdict, nodes.part FROM nodes"
        " JOIN runs USING (run) WHERE dry_run = 0 AND nodes.time > ?4"
        " AND " DATABASE_OF_CLUSTER " UNION ALL SELECT node, time, NULL, part FROM records"
        " WHERE suite = 'history' AND test = 'accept' AND time > ?4 ORDER BY 1, 2",
        "---nt", since, cluster);
    struct reading reading = {.offenders = offenders};
    size_t kept = 0;

    *offenders = (struct offenders){0};
    while (database_next(&rows))
        rows.is_out_of_memory = take_row(&reading, rows.statement) != 0;
    if (database_end(&rows, err) < 0) {
        offenders_clear(offenders);
        return -1;
    }
    for (size_t i = 0; i < offenders->count; i++)
        if (offenders->items[i].faults > 0)
            offenders->items[kept++] = offenders->items[i];
    offenders->count = kept;
    return 0;
}
