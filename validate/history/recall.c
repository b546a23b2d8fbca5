/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/recall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "validate/history/database.h"

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = database_text(statement, column);

    return *text ? text : NULL;
}

/* Makes records from each row of a query whose ?1 is the run. Returns 0, or -1 with err. */
static int rows_take(const char *path, const char *query, const char *run,
                     int (*take)(sqlite3_stmt *row, struct records *records),
                     struct records *records, struct error *err)
{
    struct database_rows rows = database_query(path, err, query, "t", run);

    while (database_next(&rows))
        rows.is_out_of_memory = take(rows.statement, records) != 0;
    return database_end(&rows, err) < 0 ? -1 : 0;
}

static int take_record(sqlite3_stmt *row, struct records *records)
{
    struct record record =
        RECORD(.run = text_at(row, 0), .time = database_number(row, 1), .suite = text_at(row, 2),
               .test = text_at(row, 3), .metric = text_at(row, 4), .node = text_at(row, 5),
               .part = text_at(row, 6), .peer = text_at(row, 7), .value = database_number(row, 8),
               .unit = text_at(row, 9), .limit = database_number(row, 10),
               .limit_source = text_at(row, 11), .verdict = database_verdict(row, 12),
               .message = text_at(row, 13));

    record_set_code(&record, text_at(row, 14));
    if (!record.suite || !record.test || catalog_is_test(record.test, TEST_CERTIFY))
        return 0; /* conclusions come from the table of nodes */
    return records_add(records, &record);
}

static int take_node(sqlite3_stmt *row, struct records *records)
{
    const char *until = text_at(row, 6);
    struct tm day = {0};
    struct record record = RECORD(.run = text_at(row, 0), .time = database_number(row, 1));

    record.suite = record.test = "certify";
    record.node = text_at(row, 2);
    record.verdict = database_verdict(row, 3);
    record.part = text_at(row, 4);
    record.message = text_at(row, 5);
    record_set_code(&record, text_at(row, 7));
    if (records_add(records, &record) != 0)
        return -1;
    if (!until || !strptime(until, "%Y-%m-%d %H:%M", &day))
        return 0;
    record.test = "certificate";
    record.metric = "expires";
    record.part = record.message = NULL;
    record.verdict = VERDICT_NONE;
    record.value = (double)timegm(&day);
    record.unit = "s";
    return records_add(records, &record);
}

static int add_run(const struct history_run *run, struct records *records)
{
    const struct {
        const char *metric, *text;
    } facts[] = {{"cluster", run->cluster}, {"level", run->level}};
    struct record record =
        RECORD(.run = run->run, .time = run->time, .suite = "certify", .test = "run");

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        record.metric = facts[i].metric;
        record.message = facts[i].text;
        if (*facts[i].text && records_add(records, &record) != 0)
            return -1;
    }
    record.message = NULL;
    record.metric = "seconds";
    record.value = run->seconds;
    record.unit = "s";
    return isnan(record.value) ? 0 : records_add(records, &record);
}

int recall_run(const char *path, const char *wanted, struct records *records, struct error *err)
{
    struct history_run run;
    char text[192];
    int found = history_run_find(path, wanted, &run, text, err);

    if (found <= 0)
        return found < 0 ? -1 : 1;
    if (add_run(&run, records) != 0)
        return error_set(err, "no memory");
    if (rows_take(path,
                  "SELECT run, time, suite, test, metric, node, part, peer, value, unit,"
                  " limit_value, limit_source, verdict, message, code FROM records WHERE run = ?1"
                  " ORDER BY rowid",
                  run.run, take_record, records, err) != 0)
        return -1;
    return rows_take(path,
                     "SELECT run, time, node, verdict, part, message, certified_until,"
                     " " DATABASE_CODE("nodes") " FROM nodes WHERE run = ?1 ORDER BY node",
                     run.run, take_node, records, err);
}
