/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "validate/history/database.h"

/* A mark is a record without a run, suite "history", test "accept" or "revoke", part NULL: of all
 * parts. It needs no table of its own, so that the schema stays as it is. */

static int count_of(sqlite3 *database, const char *query, const char *node, const char *part)
{
    sqlite3_stmt *statement = NULL;
    int found = -1; /* could not be read */

    if (sqlite3_prepare_v2(database, query, -1, &statement, NULL) == SQLITE_OK) {
        database_bind_text(statement, 1, node);
        database_bind_text(statement, 2, part);
        if (sqlite3_step(statement) == SQLITE_ROW)
            found = sqlite3_column_int(statement, 0);
    }
    sqlite3_finalize(statement);
    return found;
}

static int mark_add(sqlite3 *database, const char *path, const char *test, const char *node,
                    const char *part, const char *why, double now, struct error *err)
{
    sqlite3_stmt *statement = NULL;
    int rv = 0;

    if (sqlite3_prepare_v2(database,
                           "INSERT INTO records (time, suite, test, node, part, message)"
                           " VALUES (?1, 'history', ?5, ?2, ?3, ?4)",
                           -1, &statement, NULL) != SQLITE_OK)
        return database_failed(database, path, err);
    sqlite3_bind_double(statement, 1, now);
    database_bind_text(statement, 2, node);
    database_bind_text(statement, 3, part);
    database_bind_text(statement, 4, why);
    database_bind_text(statement, 5, test);
    if (!database_insert(statement))
        rv = database_failed(database, path, err);
    sqlite3_finalize(statement);
    return rv;
}

int history_accept(const char *path, const char *node, const char *part, const char *why,
                   double now, struct error *err)
{
    enum database_file file;
    sqlite3 *database;
    int known;

    database = database_read(path, &file, err);
    if (!database && file != DATABASE_NONE)
        return -1;
    known = !database ? 0
            : part    ? count_of(database,
                                 "SELECT count(*) FROM (SELECT 1 FROM figures WHERE node = ?1"
                                    " AND part = ?2 LIMIT 1)",
                                 node, part)
                      : count_of(database,
                                 "SELECT count(*) FROM (SELECT 1 FROM nodes WHERE node = ?1"
                                    " LIMIT 1)",
                                 node, NULL);
    if (known < 0)
        database_failed(database, path, err);
    sqlite3_close(database);
    if (known < 0)
        return -1;
    if (known == 0) {
        error_set(err, "no run of muster certify contains %s%s%s in %s", node, part ? " " : "",
                  part ? part : "", path);
        return 1;
    }
    database = database_open(path, err);
    if (!database)
        return -1;
    known = mark_add(database, path, "accept", node, part, why, now > 0 ? now : (double)time(NULL),
                     err);
    if (known == 0)
        copy_renew(database, path);
    sqlite3_close(database);
    return known;
}

int history_revoke(const char *path, const struct hostlist *nodes, double now, struct error *err)
{
    sqlite3 *database;
    int rv = 0;

    if (access(path, F_OK) != 0)
        return 0;
    database = database_open(path, err);
    if (!database)
        return -1;
    if (sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK)
        rv = database_failed(database, path, err);
    for (size_t i = 0; i < nodes->count && rv == 0; i++) {
        /* only the last one counts */
        (void)database_run(database,
                           "DELETE FROM records WHERE node = ? AND suite = 'history' AND test ="
                           " 'revoke'",
                           nodes->names[i], NAN);
        rv = mark_add(database, path, "revoke", nodes->names[i], NULL, NULL,
                      now > 0 ? now : clock_epoch_s(), err);
    }
    if (rv == 0 && sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        rv = database_failed(database, path, err);
    if (rv == 0)
        copy_renew(database, path);
    sqlite3_close(database); /* rolls back what was not committed */
    return rv;
}
