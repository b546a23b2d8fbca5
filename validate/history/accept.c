/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>

#include "validate/history/database.h"

/* A mark is a record without a run, with suite "history", test "accept" or "revoke", and part NULL
 * for all parts. So it needs no table, and no change of the schema. */

/* Whether a run has the node, or this part of it; part NULL: any part. -1 with err. */
static int is_known(const char *path, const char *node, const char *part, struct error *err)
{
    struct database_rows rows = database_query(
        path, err,
        "SELECT 1 WHERE CASE WHEN ?2 IS NULL THEN EXISTS (SELECT 1 FROM nodes WHERE node = ?1)"
        " ELSE EXISTS (SELECT 1 FROM figures WHERE node = ?1 AND part = ?2) END",
        "tt", node, part);

    while (database_next(&rows))
        ;
    return database_end(&rows, err);
}

static int mark_add(sqlite3 *database, const char *path, const char *test, const char *node,
                    const char *part, const char *why, double now, struct error *err)
{
    return database_run(database,
                        "INSERT INTO records (time, suite, test, node, part, message)"
                        " VALUES (?1, 'history', ?5, ?2, ?3, ?4)",
                        "ntttt", now, node, part, why, test)
               ? 0
               : database_failed(database, path, err);
}

int history_accept(const char *path, const char *node, const char *part, const char *why,
                   double now, struct error *err)
{
    sqlite3 *database;
    int known = is_known(path, node, part, err);

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
    known = mark_add(database, path, "accept", node, part, why,
                     now > 0 ? now : database_now(database), err);
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
    if (!database_run(database, "BEGIN IMMEDIATE", ""))
        rv = database_failed(database, path, err);
    now = now > 0 ? now : database_now(database);
    for (size_t i = 0; i < nodes->count && rv == 0; i++) {
        /* only the last revocation counts */
        (void)database_run(database,
                           "DELETE FROM records WHERE node = ? AND suite = 'history' AND test ="
                           " 'revoke'",
                           "t", nodes->names[i]);
        rv = mark_add(database, path, "revoke", nodes->names[i], NULL, NULL, now, err);
    }
    if (rv == 0 && !database_run(database, "COMMIT", ""))
        rv = database_failed(database, path, err);
    if (rv == 0)
        copy_renew(database, path);
    sqlite3_close(database); /* rolls back what was not committed */
    return rv;
}
