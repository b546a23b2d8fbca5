/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/database.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* columns of `mine`, with `until` for the end of its certificate; the query adds `since`, or NULL
 */
#define NODE_COLUMNS(until)                                                                        \
    "SELECT run, node, time, level, verdict, test, part, message, " until ", rail_mbps,"           \
    " verdict = 'fail' AND " DATABASE_MINE_SUSPECT ", " DATABASE_CODE("mine") ", fingerprint = 0"

#define COLUMNS_THEN NODE_COLUMNS("certified_until")
#define COLUMNS_NOW NODE_COLUMNS(DATABASE_MINE_CERTIFIED)
#define COLUMNS_NOW_OF_NEWEST NODE_COLUMNS("CASE nth WHEN 1 THEN " DATABASE_MINE_CERTIFIED " END")

/* nth is 1 for a node's newest run */
#define NODES_NEWEST_FIRST(nodes)                                                                  \
    "(SELECT *, row_number() OVER (PARTITION BY node ORDER BY time DESC, run DESC) AS nth"         \
    " FROM " nodes ") AS mine"
#define NEWEST_FIRST NODES_NEWEST_FIRST("nodes")
#define TESTED_NEWEST_FIRST                                                                        \
    NODES_NEWEST_FIRST("(SELECT nodes.* FROM nodes JOIN runs USING (run) WHERE dry_run = 0"        \
                       " AND " DATABASE_OF_CLUSTER ")")

static int read_nodes(struct database_rows *rows,
                      void (*each)(const struct history_node *node, void *context), void *context,
                      struct error *err)
{
    sqlite3_stmt *statement = rows->statement;

    while (database_next(rows))
        each(&(struct history_node){.run = database_text(statement, 0),
                                    .node = database_text(statement, 1),
                                    .time = sqlite3_column_double(statement, 2),
                                    .level = database_text(statement, 3),
                                    .verdict = database_verdict(statement, 4),
                                    .test = database_text(statement, 5),
                                    .part = database_text(statement, 6),
                                    .message = database_text(statement, 7),
                                    .certified_until = database_text(statement, 8),
                                    .rail_mbps = database_number(statement, 9),
                                    .is_suspect = sqlite3_column_int(statement, 10) != 0,
                                    .code = database_text(statement, 11),
                                    .lacks_facts = sqlite3_column_int(statement, 12) != 0,
                                    .since = database_number(statement, 13)},
             context);
    return database_end(rows, err);
}

int history_nodes(const char *path, const char *node, int most,
                  void (*each)(const struct history_node *node, void *context), void *context,
                  struct error *err)
{
    static const char of_one[] = COLUMNS_THEN
        ", NULL FROM nodes AS mine WHERE node = ?1 ORDER BY time DESC, run DESC LIMIT ?2";
    static const char of_all[] =
        COLUMNS_NOW ", (SELECT min(same.time) FROM nodes same WHERE same.node = mine.node AND"
                    " same.time > ifnull((SELECT max(other.time) FROM nodes other WHERE"
                    " other.node = mine.node AND other.verdict IS NOT mine.verdict), -1))"
                    " FROM " NEWEST_FIRST " WHERE nth = 1 ORDER BY node LIMIT ?2";
    struct database_rows rows = database_query(path, err, node ? of_one : of_all, "ti", node, most);

    return read_nodes(&rows, each, context, err);
}

int history_nodes_past(const char *path, const char *cluster, int runs,
                       void (*each)(const struct history_node *node, void *context), void *context,
                       struct error *err)
{
    struct database_rows rows =
        database_query(path, err,
                       COLUMNS_NOW_OF_NEWEST ", NULL FROM " TESTED_NEWEST_FIRST
                                             " WHERE nth <= ?1 ORDER BY node, nth",
                       "i---t", runs, cluster);

    return read_nodes(&rows, each, context, err);
}

int history_nodes_of_runs(const char *path, const char *then, const char *now, const char *node,
                          void (*each)(const struct history_node *node, void *context),
                          void *context, struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        COLUMNS_THEN ", NULL FROM nodes AS mine WHERE run IN (?1, ?2) AND (?3 IS NULL OR node = ?3)"
                     " ORDER BY node, time",
        "ttt", then, now, node);

    return read_nodes(&rows, each, context, err);
}

int history_job(const char *path, double job,
                void (*each)(const struct record *record, void *context), void *context,
                struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT DISTINCT time, suite, test, metric, node, part, value, unit, verdict, message, job,"
        " user FROM records WHERE job = ?1 ORDER BY time, node, part, metric",
        "n", job);

    while (database_next(&rows)) {
        sqlite3_stmt *statement = rows.statement;
        struct record record =
            RECORD(.time = sqlite3_column_double(statement, 0),
                   .suite = database_text(statement, 1), .test = database_text(statement, 2),
                   .metric = database_text(statement, 3), .node = database_text(statement, 4),
                   .part = database_text(statement, 5), .value = database_number(statement, 6),
                   .unit = database_text(statement, 7), .verdict = database_verdict(statement, 8),
                   .message = database_text(statement, 9), .job = database_number(statement, 10),
                   .user = database_number(statement, 11));

        each(&record, context);
    }
    return database_end(&rows, err);
}

int history_run_find(const char *path, const char *wanted, struct history_run *run, char text[192],
                     struct error *err)
{
    static const char columns[] = "SELECT run, cluster, level, dry_run, time, seconds, status"
                                  " FROM runs ";
    bool is_last = strcmp(wanted, "last") == 0, is_previous = strcmp(wanted, "previous") == 0;
    struct database_rows rows;
    char query[256];
    int count;

    snprintf(query, sizeof query, "%s%s", columns,
             is_last ? "ORDER BY time DESC LIMIT 1"
             : is_previous
                 ? "ORDER BY time DESC LIMIT 1 OFFSET 1"
                 : "WHERE substr(run, 1, length(?1)) = ?1 ORDER BY run = ?1 DESC LIMIT 2");
    rows = database_query(path, err, query, "t", wanted);
    while (database_next(&rows)) {
        const char *name = database_text(rows.statement, 0);

        if (rows.count > 1)
            continue;
        snprintf(text, 64, "%s", name);
        snprintf(text + 64, 64, "%s", database_text(rows.statement, 1));
        snprintf(text + 128, 64, "%s", database_text(rows.statement, 2));
        *run = (struct history_run){.run = text,
                                    .cluster = text + 64,
                                    .level = text + 128,
                                    .is_dry_run = sqlite3_column_int(rows.statement, 3),
                                    .time = sqlite3_column_double(rows.statement, 4),
                                    .seconds = database_number(rows.statement, 5),
                                    .status = sqlite3_column_int(rows.statement, 6)};
        if (strcmp(name, wanted) == 0)
            break;
    }
    count = database_end(&rows, err);
    if (count == 0 && !rows.statement)
        error_set(err, "no run in %s", path);
    else if (count == 0)
        error_set(err, "no run '%s' in %s", wanted, path);
    else if (count > 1)
        error_set(err, "several runs start with '%s'", wanted);
    return count > 1 ? 0 : count;
}

int history_points(const char *path, const char *node, const char *part, int most,
                   void (*each)(const struct history_point *point, void *context), void *context,
                   struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT node, part, metric, unit, run, time, value FROM"
        " (SELECT f.node, f.part, f.metric, f.unit, f.run, r.time, f.value,"
        " row_number() OVER (PARTITION BY f.node, f.part, f.metric ORDER BY r.time DESC) AS nth"
        " FROM figures f JOIN runs r ON r.run = f.run"
        " WHERE (?1 IS NULL OR f.node = ?1) AND (?2 IS NULL OR f.part = ?2))"
        " WHERE nth <= ?3 ORDER BY node, part, metric, time",
        "tti", node, part, most);

    while (database_next(&rows))
        each(&(struct history_point){.node = database_text(rows.statement, 0),
                                     .part = database_text(rows.statement, 1),
                                     .metric = database_text(rows.statement, 2),
                                     .unit = database_text(rows.statement, 3),
                                     .run = database_text(rows.statement, 4),
                                     .time = sqlite3_column_double(rows.statement, 5),
                                     .value = sqlite3_column_double(rows.statement, 6)},
             context);
    return database_end(&rows, err);
}

int history_changes(const char *path, const struct history_span *spans, size_t count,
                    void (*each)(const struct history_change *change, void *context), void *context,
                    struct error *err)
{
    /* the newest value of each node and fact at both times; a node without facts at the first time
     * has not changed */
#define CHANGES(known)                                                                             \
    "WITH known AS (SELECT node, fact, time, value FROM facts" known                               \
    "), newest AS (SELECT node, fact, max(time) AS time, value FROM known WHERE time <= ?3"        \
    " GROUP BY node, fact),"                                                                       \
    " older AS (SELECT node, fact, max(time) AS time, value FROM known WHERE time <= ?2"           \
    " GROUP BY node, fact)"                                                                        \
    " SELECT n.text, f.text, newest.time, b.text, a.text FROM newest"                              \
    " LEFT JOIN older ON older.node = newest.node AND older.fact = newest.fact"                    \
    " JOIN texts n ON n.id = newest.node JOIN texts f ON f.id = newest.fact"                       \
    " LEFT JOIN texts b ON b.id = older.value LEFT JOIN texts a ON a.id = newest.value"            \
    " WHERE older.value IS NOT newest.value AND newest.node IN (SELECT node FROM older)"           \
    " ORDER BY f.text, b.text, a.text, n.text"
    struct database_rows rows = database_query(
        path, err,
        count > 0 && spans->node ? CHANGES(" WHERE node = (SELECT id FROM texts WHERE text = ?1)")
                                 : CHANGES(""),
        "");
#undef CHANGES
    sqlite3_stmt *statement = rows.statement;

    for (size_t i = 0; i < count && statement && rows.status == SQLITE_DONE; i++) {
        database_bind(statement, "tnn", spans[i].node, spans[i].then, spans[i].now);
        while (database_next(&rows))
            each(&(struct history_change){.span = &spans[i],
                                          .node = database_text(statement, 0),
                                          .fact = database_text(statement, 1),
                                          .time = sqlite3_column_double(statement, 2),
                                          .before = (const char *)sqlite3_column_text(statement, 3),
                                          .after = (const char *)sqlite3_column_text(statement, 4)},
                 context);
        sqlite3_reset(statement);
    }
    return database_end(&rows, err);
}

int history_figures(const char *path, struct history_query *queries, size_t count,
                    struct error *err)
{
    struct database_rows rows = database_query(
        path,
        err, /* +: SQLite uses the index by node, not that by run, which may have 10,000 nodes */
        "SELECT f.value FROM figures f JOIN nodes n ON +n.run = f.run AND n.node = f.node"
        " WHERE f.node = ?1 AND f.part = ?2 AND f.metric = ?3 AND n.fingerprint = ?4"
        " AND n.verdict = 'pass' AND NOT EXISTS (SELECT 1 FROM records r WHERE r.run = f.run"
        " AND r.node = f.node AND r.part = f.part AND r.limit_source = 'history')"
        " AND n.time > " DATABASE_ACCEPTED("f.node", "f.part") " ORDER BY n.time DESC LIMIT ?5",
        "");

    for (size_t i = 0; i < count; i++)
        queries[i].figure = (struct history_figure){NAN, NAN, 0};
    for (size_t i = 0; i < count && rows.statement && rows.status == SQLITE_DONE; i++) {
        double values[HISTORY_RUNS_MOST];
        unsigned found = 0;

        database_bind(rows.statement, "tttli", queries[i].node, queries[i].part, queries[i].metric,
                      (sqlite3_int64)queries[i].fingerprint, HISTORY_RUNS_MOST);
        while (database_next(&rows))
            if (found < HISTORY_RUNS_MOST)
                values[found++] = sqlite3_column_double(rows.statement, 0);
        history_figure_make(values, found, &queries[i].figure);
        sqlite3_reset(rows.statement);
    }
    return database_end(&rows, err) < 0 ? -1 : 0;
}

int history_marks(const char *path, const char *node,
                  void (*each)(const struct history_mark *mark, void *context), void *context,
                  struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT part, time, message FROM records WHERE node = ?1 AND suite = 'history'"
        " AND test = 'accept' ORDER BY time",
        "t", node);

    while (database_next(&rows))
        each(&(struct history_mark){.part = database_text(rows.statement, 0),
                                    .time = sqlite3_column_double(rows.statement, 1),
                                    .why = database_text(rows.statement, 2)},
             context);
    return database_end(&rows, err);
}
