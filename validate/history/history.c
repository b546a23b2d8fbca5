/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/history.h"

#include <errno.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { BUSY_MS = 2000 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, cluster TEXT, level TEXT,"
    " dry_run INTEGER, time REAL, seconds REAL, status INTEGER);"
    "CREATE TABLE IF NOT EXISTS nodes (run TEXT, node TEXT, time REAL, level TEXT, verdict TEXT,"
    " test TEXT, part TEXT, message TEXT, certified_until TEXT, rail_mbps REAL,"
    " PRIMARY KEY (node, time, run));"
    "CREATE TABLE IF NOT EXISTS records (run TEXT, time REAL, suite TEXT, test TEXT, metric TEXT,"
    " node TEXT, part TEXT, peer TEXT, value REAL, unit TEXT, limit_value REAL,"
    " limit_source TEXT, verdict TEXT, message TEXT);"
    "CREATE INDEX IF NOT EXISTS records_of_run ON records (run);"
    "CREATE INDEX IF NOT EXISTS records_of_node ON records (node, time);";

static int failed(sqlite3 *database, const char *path, struct error *err)
{
    return error_set(err, "%s: %s", path, database ? sqlite3_errmsg(database) : "no memory");
}

static sqlite3 *open_database(const char *path, bool is_writing, struct error *err)
{
    sqlite3 *database = NULL;
    char directory[512];
    char *slash;

    if (is_writing) {
        snprintf(directory, sizeof directory, "%s", path);
        slash = strrchr(directory, '/');
        if (slash && slash != directory) {
            *slash = '\0';
            mkdir(directory, 0755);
        }
    }
    if (sqlite3_open_v2(path, &database,
                        is_writing ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                                   : SQLITE_OPEN_READONLY,
                        NULL) != SQLITE_OK ||
        sqlite3_busy_timeout(database, BUSY_MS) != SQLITE_OK ||
        (is_writing &&
         (sqlite3_exec(database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) != SQLITE_OK ||
          sqlite3_exec(database, schema, NULL, NULL, NULL) != SQLITE_OK))) {
        failed(database, path, err);
        sqlite3_close(database);
        return NULL;
    }
    return database;
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    if (text && *text)
        sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(statement, at);
}

static void bind_number(sqlite3_stmt *statement, int at, double number)
{
    if (isfinite(number))
        sqlite3_bind_double(statement, at, number);
    else
        sqlite3_bind_null(statement, at);
}

/* Runs the statement once with what was bound. */
static bool insert(sqlite3_stmt *statement)
{
    bool is_done = sqlite3_step(statement) == SQLITE_DONE;

    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return is_done;
}

static bool add_run(sqlite3 *database, const struct history_run *run, double now)
{
    sqlite3_stmt *statement;
    bool is_done;

    if (sqlite3_prepare_v2(database, "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", -1,
                           &statement, NULL) != SQLITE_OK)
        return false;
    bind_text(statement, 1, run->run);
    bind_text(statement, 2, run->cluster);
    bind_text(statement, 3, run->level);
    sqlite3_bind_int(statement, 4, run->is_dry_run);
    sqlite3_bind_double(statement, 5, now);
    bind_number(statement, 6, run->seconds);
    sqlite3_bind_int(statement, 7, run->status);
    is_done = insert(statement);
    sqlite3_finalize(statement);
    return is_done;
}

static bool add_nodes(sqlite3 *database, const struct history_run *run, double now,
                      const struct history_node *nodes, size_t count)
{
    sqlite3_stmt *statement;
    bool is_done = true;

    if (sqlite3_prepare_v2(database, "INSERT INTO nodes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", -1,
                           &statement, NULL) != SQLITE_OK)
        return false;
    for (size_t i = 0; is_done && i < count; i++) {
        bind_text(statement, 1, run->run);
        bind_text(statement, 2, nodes[i].node);
        sqlite3_bind_double(statement, 3, now);
        bind_text(statement, 4, run->level);
        bind_text(statement, 5, verdict_name(nodes[i].verdict));
        bind_text(statement, 6, nodes[i].test);
        bind_text(statement, 7, nodes[i].part);
        bind_text(statement, 8, nodes[i].message);
        bind_text(statement, 9, nodes[i].certified_until);
        bind_number(statement, 10, nodes[i].rail_mbps);
        is_done = insert(statement);
    }
    sqlite3_finalize(statement);
    return is_done;
}

static bool is_kept(const struct record *record)
{
    return (record->verdict != VERDICT_NONE && record->verdict != VERDICT_PASS) ||
           (strcmp(record->test, "links") == 0 && isfinite(record->value));
}

static bool add_records(sqlite3 *database, const struct history_run *run,
                        const struct records *records)
{
    sqlite3_stmt *statement;
    bool is_done = true;

    if (sqlite3_prepare_v2(database,
                           "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                           -1, &statement, NULL) != SQLITE_OK)
        return false;
    for (size_t i = 0; is_done && i < records->count; i++) {
        const struct record *record = &records->items[i];

        if (!is_kept(record))
            continue;
        bind_text(statement, 1, run->run);
        bind_number(statement, 2, record->time);
        bind_text(statement, 3, record->suite);
        bind_text(statement, 4, record->test);
        bind_text(statement, 5, record->metric);
        bind_text(statement, 6, record->node);
        bind_text(statement, 7, record->part);
        bind_text(statement, 8, record->peer);
        bind_number(statement, 9, record->value);
        bind_text(statement, 10, record->unit);
        bind_number(statement, 11, record->limit);
        bind_text(statement, 12, record->limit_source);
        bind_text(statement, 13,
                  record->verdict == VERDICT_NONE ? NULL : verdict_name(record->verdict));
        bind_text(statement, 14, record->message);
        is_done = insert(statement);
    }
    sqlite3_finalize(statement);
    return is_done;
}

int history_add(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, struct error *err)
{
    sqlite3 *database = open_database(path, true, err);
    double now = run->time > 0 ? run->time : (double)time(NULL);
    int rv = 0;

    if (!database)
        return -1;
    if (sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
        !add_run(database, run, now) || !add_nodes(database, run, now, nodes, count) ||
        !add_records(database, run, records) ||
        sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rv = failed(database, path, err);
    sqlite3_close(database); /* rolls back what was not committed */
    return rv;
}

static const char *text_at(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text ? text : "";
}

int history_nodes(const char *path, const char *node, int most,
                  void (*each)(const struct history_node *node, void *context), void *context,
                  struct error *err)
{
    static const char columns[] =
        "SELECT run, node, time, level, verdict, test, part, message, certified_until, rail_mbps ";
    char query[512];
    sqlite3 *database;
    sqlite3_stmt *statement = NULL;
    int count = 0, rv;

    if (access(path, F_OK) != 0 && errno == ENOENT)
        return 0;
    database = open_database(path, false, err);
    if (!database)
        return -1;
    snprintf(query, sizeof query, "%s%s", columns,
             node ? "FROM nodes WHERE node = ?1 ORDER BY time DESC, run DESC LIMIT ?2"
                  : "FROM (SELECT *, row_number() OVER (PARTITION BY node ORDER BY time DESC,"
                    " run DESC) AS nth FROM nodes) WHERE nth = 1 ORDER BY node LIMIT ?2");
    if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) != SQLITE_OK) {
        failed(database, path, err);
        sqlite3_close(database);
        return -1;
    }
    if (node)
        bind_text(statement, 1, node);
    sqlite3_bind_int(statement, 2, most);
    while ((rv = sqlite3_step(statement)) == SQLITE_ROW) {
        int verdict = verdict_parse(text_at(statement, 4));

        each(
            &(struct history_node){.run = text_at(statement, 0),
                                   .node = text_at(statement, 1),
                                   .time = sqlite3_column_double(statement, 2),
                                   .level = text_at(statement, 3),
                                   .verdict = verdict < 0 ? VERDICT_UNKNOWN : (enum verdict)verdict,
                                   .test = text_at(statement, 5),
                                   .part = text_at(statement, 6),
                                   .message = text_at(statement, 7),
                                   .certified_until = text_at(statement, 8),
                                   .rail_mbps = sqlite3_column_type(statement, 9) == SQLITE_NULL
                                                    ? (double)NAN
                                                    : sqlite3_column_double(statement, 9)},
            context);
        count++;
    }
    if (rv != SQLITE_DONE)
        count = failed(database, path, err);
    sqlite3_finalize(statement);
    sqlite3_close(database);
    return count;
}

/* The row of equal verdicts from the newest run backwards. */
struct streak {
    enum verdict verdict;
    double since;
    bool is_begun, is_over;
};

static void streak_add(const struct history_node *node, void *context)
{
    struct streak *streak = context;

    if (!streak->is_begun) {
        streak->verdict = node->verdict;
        streak->is_begun = true;
    }
    streak->is_over |= node->verdict != streak->verdict;
    if (!streak->is_over)
        streak->since = node->time;
}

double history_since(const char *path, const char *node, struct error *err)
{
    struct streak streak = {0};

    return history_nodes(path, node, -1, streak_add, &streak, err) < 0 ? -1 : streak.since;
}
