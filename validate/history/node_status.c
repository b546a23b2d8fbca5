/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/node_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "lib/base/grow.h"
#include "validate/policy/strikes.h"
#include "validate/history/database.h"

struct strikes {
    uint64_t fingerprint;
    struct strike *items;
    size_t count;
};

static int strike_row(sqlite3_stmt *statement, void *context)
{
    struct strikes *strikes = context;
    uint64_t fingerprint = (uint64_t)sqlite3_column_int64(statement, 2);

    if (fingerprint != strikes->fingerprint && fingerprint != 0 && strikes->fingerprint != 0)
        return 0;
    if (!GROW(strikes->items, strikes->count))
        return -1;
    strikes->items[strikes->count++] =
        (struct strike){.time = sqlite3_column_double(statement, 0),
                        .is_last = sqlite3_column_int(statement, 1) != 0};
    return 0;
}

int node_status_strike(const char *path, const char *cluster, const char *node,
                       enum fault_code code, const char *part, uint64_t fingerprint, double now,
                       double window_s, struct error *err)
{
    struct strikes strikes = {.fingerprint = fingerprint};
    int count =
        database_query(path,
                       &(struct database_query){
                           .query = "SELECT records.time, records.verdict = 'fail',"
                                    " (SELECT fingerprint FROM nodes WHERE +nodes.run ="
                                    " records.run AND nodes.node = ?1) FROM records"
                                    " JOIN runs USING (run) WHERE suite = 'certify' AND"
                                    " test = 'strikes' AND node = ?1 AND code = ?2 AND"
                                    " ifnull(part, '') = ?3 AND dry_run = 0"
                                    " AND " DATABASE_OF_CLUSTER " AND records.time >"
                                    " " DATABASE_ACCEPTED("?1", "?3") " ORDER BY records.time",
                           .texts = {node, catalog_fault(code)->name, part ? part : ""},
                           .cluster = cluster,
                           .row = strike_row,
                           .context = &strikes},
                       err);

    if (count >= 0)
        count = strikes_count(strikes.items, strikes.count, now, window_s);
    free(strikes.items);
    return count;
}

struct suspects {
    void (*each)(const char *node, const char *message, void *context);
    void *context;
};

static int suspect_row(sqlite3_stmt *statement, void *context)
{
    const struct suspects *suspects = context;

    suspects->each(database_text(statement, 0), database_text(statement, 1), suspects->context);
    return 0;
}

int node_status_suspects(const char *path, const char *cluster, double since,
                         void (*each)(const char *node, const char *message, void *context),
                         void *context, struct error *err)
{
    return database_query(path,
                          &(struct database_query){
                              .query =
                                  "SELECT node, message FROM records WHERE suite = 'certify' AND"
                                  " test = 'strikes' AND verdict = 'warn' AND time > ?4 AND run ="
                                  " (SELECT nodes.run FROM nodes JOIN runs USING (run)"
                                  " WHERE nodes.node = records.node AND dry_run = 0"
                                  " AND nodes.verdict <> 'unknown' AND " DATABASE_OF_CLUSTER
                                  " ORDER BY nodes.time DESC LIMIT 1) GROUP BY node ORDER BY node",
                              .number = since,
                              .cluster = cluster,
                              .row = suspect_row,
                              .context = &(struct suspects){each, context}},
                          err);
}

static int tested_row(sqlite3_stmt *statement, void *context)
{
    (void)statement;
    (void)context;
    return 0;
}

int node_status_tested(const char *path, unsigned uid, double since, struct error *err)
{
    char user[16];

    snprintf(user, sizeof user, "%u", uid);
    return database_query(
        path,
        &(struct database_query){.query = "SELECT node FROM runs JOIN records USING (run)"
                                          " WHERE suite = 'certify' AND test IN "
                                          "('preflight.suspects', 'preflight.claims') AND"
                                          " metric = 'user' AND value = CAST(?1 AS REAL) AND"
                                          " runs.time > ?4 AND dry_run = 0",
                                 .texts = {user},
                                 .number = since,
                                 .row = tested_row},
        err);
}

struct tests {
    void (*each)(const struct node_tests *tests, void *context);
    void *context;
};

static int tests_row(sqlite3_stmt *statement, void *context)
{
    const struct tests *tests = context;

    tests->each(&(struct node_tests){.node = database_text(statement, 0),
                                     .tested = sqlite3_column_double(statement, 1),
                                     .tried = sqlite3_column_double(statement, 2),
                                     .warnings = (unsigned)sqlite3_column_int(statement, 3),
                                     .jobs = (unsigned)sqlite3_column_int(statement, 4)},
                tests->context);
    return 0;
}

int node_status_tests(const char *path, double since,
                      void (*each)(const struct node_tests *tests, void *context), void *context,
                      struct error *err)
{
    return database_query(
        path,
        &(struct database_query){
            .query =
                "SELECT mine.node,"
                " max(CASE WHEN mine.verdict IN ('pass', 'fail') THEN mine.time END),"
                " max(mine.time), told.warnings, told.jobs FROM nodes AS mine JOIN runs USING (run)"
                " LEFT JOIN (SELECT records.node,"
                " count(DISTINCT CASE WHEN job IS NULL AND verdict = 'warn' THEN records.run END)"
                " AS warnings, count(DISTINCT job) AS jobs FROM records JOIN runs USING (run)"
                " WHERE records.time > ?4 AND dry_run = 0 GROUP BY records.node) AS told"
                " ON told.node = mine.node WHERE dry_run = 0 GROUP BY mine.node",
            .number = since,
            .row = tests_row,
            .context = &(struct tests){each, context}},
        err);
}

struct failed {
    void (*each)(const char *node, double time, void *context);
    void *context;
};

static int failed_row(sqlite3_stmt *statement, void *context)
{
    const struct failed *failed = context;

    failed->each(database_text(statement, 0), sqlite3_column_double(statement, 1), failed->context);
    return 0;
}

int node_status_failed(const char *path, const char *cluster,
                       void (*each)(const char *node, double time, void *context), void *context,
                       struct error *err)
{
    return database_query(
        path,
        &(struct database_query){.query =
                                     "SELECT node, max(mine.time) FROM nodes AS mine"
                                     " JOIN runs USING (run)"
                                     " WHERE mine.verdict = 'fail' AND dry_run = 0"
                                     " AND " DATABASE_OF_CLUSTER " AND NOT " DATABASE_MINE_SUSPECT
                                     " AND NOT EXISTS (SELECT 1 FROM nodes AS later"
                                     " JOIN runs USING (run) WHERE later.node = mine.node AND"
                                     " later.time > mine.time AND later.certified_until IS NOT NULL"
                                     " AND " DATABASE_OF_CLUSTER ") GROUP BY node ORDER BY node",
                                 .cluster = cluster,
                                 .row = failed_row,
                                 .context = &(struct failed){each, context}},
        err);
}

struct certified {
    void (*each)(const char *node, double until, void *context);
    void *context;
};

static int certified_row(sqlite3_stmt *statement, void *context)
{
    const struct certified *certified = context;
    struct tm day = {0};

    if (strptime(database_text(statement, 1), "%Y-%m-%d %H:%M", &day))
        certified->each(database_text(statement, 0), (double)timegm(&day), certified->context);
    return 0;
}

int node_status_certified(const char *path, const char *cluster,
                          void (*each)(const char *node, double until, void *context),
                          void *context, struct error *err)
{
    return database_query(
        path,
        &(struct database_query){.query = "SELECT node, " DATABASE_MINE_CERTIFIED " AS until"
                                          " FROM (SELECT DISTINCT node FROM nodes) AS mine"
                                          " WHERE until IS NOT NULL ORDER BY node",
                                 .cluster = cluster,
                                 .row = certified_row,
                                 .context = &(struct certified){each, context}},
        err);
}

static void valid_add(const char *node, double until, void *context)
{
    if (until > (double)time(NULL))
        hostlist_append(context, node);
}

int node_status_valid(const char *path, const char *cluster, struct hostlist *nodes,
                      struct error *err)
{
    return node_status_certified(path, cluster, valid_add, nodes, err);
}
