/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/history/node_status.h"

#include <stdlib.h>
#include <time.h>

#include "lib/base/grow.h"
#include "validate/history/database.h"
#include "validate/policy/strikes.h"

int node_status_strike(const char *path, const char *cluster, const char *node,
                       enum fault_code code, const char *part, uint64_t fingerprint, double now,
                       double window_s, struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT records.time, records.verdict = 'fail', (SELECT fingerprint FROM nodes"
        " WHERE +nodes.run = records.run AND nodes.node = ?1) FROM records JOIN runs USING (run)"
        " WHERE suite = 'certify' AND test = 'strikes' AND node = ?1 AND code = ?2 AND"
        " ifnull(part, '') = ifnull(?3, '') AND dry_run = 0 AND " DATABASE_OF_CLUSTER
        " AND records.time > " DATABASE_ACCEPTED("?1", "?3") " ORDER BY records.time",
        "ttt-t", node, catalog_fault(code)->name, part, cluster);
    struct strike *strikes = NULL;
    size_t count = 0;
    int strike;

    while (database_next(&rows)) {
        uint64_t then = (uint64_t)sqlite3_column_int64(rows.statement, 2);

        if (then != fingerprint && then != 0 && fingerprint != 0)
            continue;
        rows.is_out_of_memory = !GROW(strikes, count);
        if (!rows.is_out_of_memory)
            strikes[count++] =
                (struct strike){.time = sqlite3_column_double(rows.statement, 0),
                                .is_last = sqlite3_column_int(rows.statement, 1) != 0};
    }
    strike = database_end(&rows, err) < 0 ? -1 : strikes_count(strikes, count, now, window_s);
    free(strikes);
    return strike;
}

int node_status_suspects(const char *path, const char *cluster, double since,
                         void (*each)(const char *node, const char *message, void *context),
                         void *context, struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT node, message FROM records WHERE suite = 'certify' AND test = 'strikes'"
        " AND verdict = 'warn' AND time > ?4 AND run = (SELECT nodes.run FROM nodes"
        " JOIN runs USING (run) WHERE nodes.node = records.node AND dry_run = 0"
        " AND nodes.verdict <> 'unknown' AND " DATABASE_OF_CLUSTER
        " ORDER BY nodes.time DESC LIMIT 1) GROUP BY node ORDER BY node",
        "---nt", since, cluster);

    while (database_next(&rows))
        each(database_text(rows.statement, 0), database_text(rows.statement, 1), context);
    return database_end(&rows, err);
}

int node_status_tested(const char *path, unsigned uid, double since, struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT node FROM runs JOIN records USING (run) WHERE suite = 'certify' AND test ="
        " 'preflight.suspects' AND metric = 'user' AND value = ?1 AND runs.time > ?4 AND"
        " dry_run = 0",
        "n--n", (double)uid, since);

    while (database_next(&rows))
        ;
    return database_end(&rows, err);
}

int node_status_tests(const char *path, const char *cluster, double since,
                      void (*each)(const struct node_tests *tests, void *context), void *context,
                      struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT mine.node, max(CASE WHEN mine.verdict IN ('pass', 'fail') THEN mine.time END),"
        " max(mine.time), counts.warnings, counts.jobs FROM nodes AS mine JOIN runs USING (run)"
        " LEFT JOIN (SELECT records.node,"
        " count(DISTINCT CASE WHEN job IS NULL AND verdict = 'warn' THEN records.run END)"
        " AS warnings, count(DISTINCT job) AS jobs FROM records JOIN runs USING (run)"
        " WHERE records.time > ?4 AND dry_run = 0 AND " DATABASE_OF_CLUSTER
        " GROUP BY records.node) AS counts"
        " ON counts.node = mine.node WHERE dry_run = 0 AND " DATABASE_OF_CLUSTER
        " GROUP BY mine.node",
        "---nt", since, cluster);

    while (database_next(&rows))
        each(&(struct node_tests){.node = database_text(rows.statement, 0),
                                  .tested = sqlite3_column_double(rows.statement, 1),
                                  .tried = sqlite3_column_double(rows.statement, 2),
                                  .warnings = (unsigned)sqlite3_column_int(rows.statement, 3),
                                  .jobs = (unsigned)sqlite3_column_int(rows.statement, 4)},
             context);
    return database_end(&rows, err);
}

int node_status_failed(const char *path, const char *cluster,
                       void (*each)(const char *node, double time, void *context), void *context,
                       struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT node, max(mine.time) FROM nodes AS mine JOIN runs USING (run)"
        " WHERE " DATABASE_MINE_FAILURE " AND NOT EXISTS (SELECT 1 FROM nodes AS later"
        " JOIN runs USING (run) WHERE later.node = mine.node AND later.time > mine.time"
        " AND later.certified_until IS NOT NULL AND " DATABASE_OF_CLUSTER
        ") GROUP BY node ORDER BY node",
        "----t", cluster);

    while (database_next(&rows))
        each(database_text(rows.statement, 0), sqlite3_column_double(rows.statement, 1), context);
    return database_end(&rows, err);
}

int node_status_certified(const char *path, const char *cluster,
                          void (*each)(const char *node, double until, void *context),
                          void *context, struct error *err)
{
    struct database_rows rows = database_query(path, err,
                                               "SELECT node, " DATABASE_MINE_CERTIFIED " AS until"
                                               " FROM (SELECT DISTINCT node FROM nodes) AS mine"
                                               " WHERE until IS NOT NULL ORDER BY node",
                                               "----t", cluster);

    while (database_next(&rows)) {
        struct tm day = {0};

        if (strptime(database_text(rows.statement, 1), "%Y-%m-%d %H:%M", &day))
            each(database_text(rows.statement, 0), (double)timegm(&day), context);
    }
    return database_end(&rows, err);
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
