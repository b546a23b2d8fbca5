/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_DATABASE_H
#define MUSTER_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "validate/history/history.h"

/* Internals of history: the file and its schema. */

enum { HISTORY_SCHEMA = 4, HISTORY_ID = 0x6d757374 /* "must" */ };

/* SQL: whether the row of runs is of the cluster ?5, or of an unknown one; ?5 NULL: of any. Nodes
 * of two clusters may have the same name. */
#define DATABASE_OF_CLUSTER "(?5 IS NULL OR runs.cluster IS NULL OR runs.cluster = ?5)"

/* SQL: the time of the last history_accept() of the node's part, up to which its figures are no
 * reference any more; 0: never. node, part: columns. */
#define DATABASE_ACCEPTED(node, part)                                                              \
    "ifnull((SELECT max(m.time) FROM records m WHERE m.node = " node                               \
    " AND m.suite = 'history' AND m.test = 'accept' AND (m.part IS NULL OR m.part = " part         \
    ")), 0)"

/* SQL: whether the run left the node a suspect: it failed near a limit, and was not drained. run,
 * node: columns with their table. +: SQLite uses the index by node, not that by run */
#define DATABASE_SUSPECT(run, node)                                                                \
    "EXISTS (SELECT 1 FROM records WHERE +records.run = " run " AND records.node = " node          \
    " AND records.test = 'strikes' AND records.verdict = 'warn')"
/* SQL: the fault code of the run's conclusion about the node; NULL if it passed. row: the alias. */
#define DATABASE_CODE(row)                                                                         \
    "CASE WHEN " row ".verdict <> 'pass' THEN (SELECT code FROM records WHERE +records.run = " row \
    ".run AND records.node = " row ".node AND records.suite = 'certify'"                           \
    " AND records.test = 'certify') END"
/* SQL: whether the row of nodes, joined with runs, is a failure that ends older certificates, by a
 * run DATABASE_OF_CLUSTER. A suspect keeps its certificate, a dry run changes nothing, and a node
 * that Slurm had taken out of service (test slurm.state) was not tested. row: the alias. */
#define DATABASE_FAILURE(row)                                                                      \
    "(dry_run = 0 AND " row ".verdict = 'fail' AND " row ".test IS NOT 'slurm.state'"              \
    " AND " DATABASE_OF_CLUSTER " AND NOT " DATABASE_SUSPECT(row ".run", row ".node") ")"
/* SQL: until when the node is certified, by runs DATABASE_OF_CLUSTER; NULL if it is not.
 * DATABASE_FAILURE and history_revoke() end older certificates. */
#define DATABASE_CERTIFIED(node)                                                                   \
    "(SELECT max(given.certified_until) FROM (SELECT ifnull(max(m.time), 0) AS revoked"            \
    " FROM records m WHERE m.node = " node " AND m.suite = 'history' AND m.test = 'revoke'),"      \
    " nodes given JOIN runs USING (run) WHERE given.node = " node " AND given.time > revoked"      \
    " AND " DATABASE_OF_CLUSTER                                                                    \
    " AND given.time >= ifnull((SELECT max(failed.time) FROM nodes failed JOIN runs USING (run)"   \
    " WHERE failed.node = " node " AND " DATABASE_FAILURE("failed") "), 0))"
/* the same for a row of nodes with the alias `mine` */
#define DATABASE_MINE_SUSPECT DATABASE_SUSPECT("mine.run", "mine.node")
#define DATABASE_MINE_FAILURE DATABASE_FAILURE("mine")
#define DATABASE_MINE_CERTIFIED DATABASE_CERTIFIED("mine.node")

/* Sets err to "FILE: SQLite's error", or to that path is a directory. FILE: the open file, which
 * may be the copy of that at path. Returns -1. */
int database_failed(sqlite3 *database, const char *path, struct error *err);

/* Opens the file at path, by that name or by a URI, with these flags of sqlite3_open_v2(). Does not
 * look into it. Returns NULL with err. */
sqlite3 *database_connect(const char *file, const char *path, int flags, struct error *err);

/* Opens for writing; creates the file and its directory. Only the owner can access the file (mode
 * 0600). Returns NULL with err, also if the file is not muster's or has another schema. */
sqlite3 *database_open(const char *path, struct error *err);

/* Opens a new database in memory, with the tables. Returns NULL if memory is out. */
sqlite3 *database_empty(void);

enum database_file {
    DATABASE_NONE, /* no file, or an empty one */
    DATABASE_THERE,
    DATABASE_DAMAGED /* no database, or damaged at its beginning */
};

/* Opens for reading: for root and the file's owner the file, for all others the copy. Returns NULL
 * with err, but without err if *file is DATABASE_NONE. */
sqlite3 *database_read(const char *path, enum database_file *file, struct error *err);

/* Replaces the copy for all other users, PATH.copy of mode 0644, completely or not at all. If it
 * fails, the old copy stays, and a line on standard error says so. database: that at path, open for
 * writing outside of a transaction. */
void copy_renew(sqlite3 *database, const char *path);
/* Opens the copy. Returns NULL with err. */
sqlite3 *copy_read(const char *path, struct error *err);

/* Formats "file:PATH?query", with %, ? and # in PATH escaped. Returns whether it fits. */
bool database_uri(const char *path, const char *query, char *uri, size_t size);

/* Binds ?1, ?2, ... types: a letter for each: t a text, "" is NULL; k a text of a key, "" is ""; n
 * a double, NULL if it is not finite; i an int; l an sqlite3_int64; - is left out. Does nothing
 * with statement NULL. The functions below bind so. */
void database_bind(sqlite3_stmt *statement, const char *types, ...);
/* Returns a column; never NULL. */
const char *database_text(sqlite3_stmt *statement, int column);
/* Returns a column; NAN for NULL. */
double database_number(sqlite3_stmt *statement, int column);
/* Returns a column with the name of a verdict; UNKNOWN for any other text, and for NULL. */
enum verdict database_verdict(sqlite3_stmt *statement, int column);

/* Returns a statement; finalize it. NULL on failure: then no step or database_insert() succeeds. */
sqlite3_stmt *database_prepare(sqlite3 *database, const char *query);

/* Runs the statement once. Returns whether it succeeded. */
bool database_insert(sqlite3_stmt *statement, const char *types, ...);

/* Runs the queries, separated by semicolons, each with all values. Returns whether all succeeded;
 * a query that has a row does not. */
bool database_run(sqlite3 *database, const char *queries, const char *types, ...);

/* Sets *found to the first value of the first row. Returns whether there is one. */
bool database_value(sqlite3 *database, double *found, const char *query, const char *types, ...);

/* The rows of a query, one after the other. */
struct database_rows {
    const char *path;
    sqlite3 *database;
    sqlite3_stmt *statement; /* NULL: there are no rows */
    int status;              /* of the last step */
    int count;               /* rows so far; -1: the query failed */
    bool is_out_of_memory;   /* set by the caller: there are no more rows, and the end fails */
};

/* Prepares the query. Call database_end() in any case. */
struct database_rows database_query(const char *path, struct error *err, const char *query,
                                    const char *types, ...);
/* Moves the statement to the next row. Returns whether there is one. */
bool database_next(struct database_rows *rows);
/* Returns the number of rows, 0 also without a database, or -1 with err. */
int database_end(struct database_rows *rows, struct error *err);

/* Returns the time for what is stored next: now, but later than all that is stored, even if the
 * clock was stepped back by up to HISTORY_STEP_S. The newest decides, so the order matters. */
double database_now(sqlite3 *database);

/* Adds one run to all tables, inside of an open transaction. */
bool database_add(sqlite3 *database, const struct history_run *run, double now,
                  const struct history_node *nodes, size_t count, const struct records *records);

/* Stores the facts of the temporary table reported (node, fact, value; IDs of texts) as those known
 * at the time. Unchanged facts are not stored again; facts that are missing are stored as gone. */
bool database_clear_reported(sqlite3 *database); /* creates the table, empty */
bool database_take_facts(sqlite3 *database, double time);

/* Writes the run to a separate database beside path, or in /run/muster. why: the error of the
 * database at path. Returns 1 with err that has this error and the new place; -1 with err if no
 * place could be written. */
int spill_write(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, const char *why, struct error *err);

/* Whether there are files of waiting runs. */
bool spill_waits(const char *path);

/* Adds the waiting runs, the oldest first, and removes their files. A file without a complete run,
 * or whose run also an empty database refuses, is renamed; one that cannot be read or belongs to
 * another user is left there. All are reported on standard error. Returns 0, or -1 with err: then
 * nothing else should be added either. */
int spill_take_in(sqlite3 *database, const char *path, struct error *err);

#endif
