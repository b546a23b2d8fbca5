/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_DATABASE_H
#define MUSTER_HISTORY_DATABASE_H

#include <sqlite3.h>

#include "validate/history/history.h"

/* Inside of history: the file and its schema. */

enum { HISTORY_SCHEMA = 4, HISTORY_ID = 0x6d757374 /* "must" */ };

/* SQL: whether the row of runs is of the cluster ?5, or of one that is not known; ?5 NULL: of any.
 * Nodes of two clusters may have the same name. */
#define DATABASE_OF_CLUSTER "(?5 IS NULL OR runs.cluster IS NULL OR runs.cluster = ?5)"

/* SQL: when what the node's part had shown was last accepted to be no measure any more
 * (history_accept()); 0: never. node, part: columns. */
#define DATABASE_ACCEPTED(node, part)                                                              \
    "ifnull((SELECT max(m.time) FROM records m WHERE m.node = " node                               \
    " AND m.suite = 'history' AND m.test = 'accept' AND (m.part IS NULL OR m.part = " part         \
    ")), 0)"

/* SQL: whether the run left the node a suspect: it failed near a limit, and was not drained. run,
 * node: columns with their table. +: a node is found among its records, not among those of a run */
#define DATABASE_SUSPECT(run, node)                                                                \
    "EXISTS (SELECT 1 FROM records WHERE +records.run = " run " AND records.node = " node          \
    " AND records.test = 'strikes' AND records.verdict = 'warn')"
/* SQL: until when the node is certified, by runs DATABASE_OF_CLUSTER; NULL where it is not. A
 * failure ends what is older, and so does history_revoke(), but a suspect keeps its certificate,
 * and a dry run changes nothing. */
#define DATABASE_CERTIFIED(node)                                                                   \
    "(SELECT max(given.certified_until) FROM (SELECT ifnull(max(m.time), 0) AS revoked"            \
    " FROM records m WHERE m.node = " node " AND m.suite = 'history' AND m.test = 'revoke'),"      \
    " nodes given JOIN runs USING (run) WHERE given.node = " node " AND given.time > revoked"      \
    " AND " DATABASE_OF_CLUSTER                                                                    \
    " AND given.time >= ifnull((SELECT max(failed.time) FROM nodes failed JOIN runs USING (run)"   \
    " WHERE failed.node = " node " AND failed.verdict = 'fail' AND dry_run = 0"                    \
    " AND " DATABASE_OF_CLUSTER " AND NOT " DATABASE_SUSPECT("failed.run", "failed.node") "), 0))"
/* of a row that the query calls mine */
#define DATABASE_MINE_SUSPECT DATABASE_SUSPECT("mine.run", "mine.node")
#define DATABASE_MINE_CERTIFIED DATABASE_CERTIFIED("mine.node")

/* "FILE: what SQLite says", or that path is a directory. FILE: the one that is open, which may be
 * the copy of that at path. Returns -1. */
int database_failed(sqlite3 *database, const char *path, struct error *err);

/* Opens for writing: makes the file and the directory it is in. The file is its owner's alone (mode
 * 0600). NULL with err, also when the file is not muster's or has another schema. */
sqlite3 *database_open(const char *path, struct error *err);

enum database_file {
    DATABASE_NONE, /* no file, or nothing in it */
    DATABASE_THERE,
    DATABASE_DAMAGED /* no database, or damaged where it begins */
};

/* Opens for reading: root and the file's owner the file, all others the copy. NULL with err,
 * without where *file is DATABASE_NONE. */
sqlite3 *database_read(const char *path, enum database_file *file, struct error *err);

/* Makes the copy for all others anew, PATH.copy of mode 0644, whole or not at all: where that fails
 * the former copy stays, which is told on standard error. database: the one at path, open for
 * writing outside a transaction. */
void copy_renew(sqlite3 *database, const char *path);
/* Opens the copy. NULL with err. */
sqlite3 *copy_read(const char *path, struct error *err);

/* "file:PATH?query", in which PATH's own %, ? and # are escaped. Returns whether it fits. */
bool database_uri(const char *path, const char *query, char *uri, size_t size);

/* NULL and "" become NULL; so does a number that is not finite. */
void database_bind_text(sqlite3_stmt *statement, int at, const char *text);
void database_bind_number(sqlite3_stmt *statement, int at, double number);
/* Never NULL. */
const char *database_text(sqlite3_stmt *statement, int column);
/* NULL is NAN. */
double database_number(sqlite3_stmt *statement, int column);

/* To be finalized; NULL where that fails: with it nothing is bound, and no step or
 * database_insert() succeeds. */
sqlite3_stmt *database_prepare(sqlite3 *database, const char *query);

/* Runs the statement once with what was bound, and clears that. */
bool database_insert(sqlite3_stmt *statement);

/* Runs the query to its end, with the text as ?1, or without one the number. */
bool database_run(sqlite3 *database, const char *query, const char *text, double number);

/* The first value of the first row. Returns whether there is one. */
bool database_value(sqlite3 *database, const char *query, double *found);

/* The rows of a query, one after the other. What is bound to its statement before the first one
 * counts; where there is none (NULL) that does nothing. */
struct database_rows {
    const char *path;
    sqlite3 *database;
    sqlite3_stmt *statement; /* NULL: there are no rows */
    int status;              /* of the last step */
    int count;               /* of rows so far; -1: the query failed */
};

/* To be ended in any case. */
struct database_rows database_query(const char *path, const char *query, struct error *err);
/* Whether there is another row, which the statement has then. */
bool database_next(struct database_rows *rows);
/* Returns how many rows there were, 0 also without a database, or -1 with err. */
int database_end(struct database_rows *rows, struct error *err);

/* Now, for what is stored next: after all that is stored, also where the clock was stepped back by
 * no more than HISTORY_STEP_S, as what is newest decides. */
double database_now(sqlite3 *database);

/* The tables of one run, filled inside a transaction that is open. */
bool database_add(sqlite3 *database, const struct history_run *run, double now,
                  const struct history_node *nodes, size_t count, const struct records *records);

/* Takes the facts of the temporary table told (node, fact, value), numbers of texts, as those known
 * at that time: what is as before is not stored again, what is not told any more is noted as gone.
 */
bool database_clear_told(sqlite3 *database); /* makes it, empty */
bool database_take_facts(sqlite3 *database, double time);

/* Writes the run to a database of its own beside path, or in /run/muster. why: what was wrong with
 * the one at path. Returns 1 with err that says both; -1 with err when there is no place. */
int spill_write(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, const char *why, struct error *err);

/* Whether there are files of runs that wait. */
bool spill_waits(const char *path);

/* Takes in the runs that wait, oldest first, and removes their files. One without a
 * complete run is renamed, one that cannot be read or is another user's is left there; all are told
 * on standard error. Returns 0, or -1 with err: then nothing else should be added either. */
int spill_take_in(sqlite3 *database, const char *path, struct error *err);

#endif
