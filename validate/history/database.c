/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/database.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/path.h"
#include "lib/constants/certify_constants.h"

int history_busy_ms = 10000;

static const char schema[] =
    "CREATE TABLE runs (run TEXT PRIMARY KEY, cluster TEXT, level TEXT, dry_run INTEGER, time REAL,"
    " seconds REAL, status INTEGER);"
    "CREATE TABLE nodes (run TEXT, node TEXT, time REAL, level TEXT, verdict TEXT, test TEXT,"
    " part TEXT, message TEXT, certified_until TEXT, rail_mbps REAL, fingerprint INTEGER,"
    " PRIMARY KEY (node, time, run));"
    "CREATE INDEX nodes_of_run ON nodes (run);"
    "CREATE TABLE records (run TEXT, time REAL, suite TEXT, test TEXT, metric TEXT, node TEXT,"
    " part TEXT, peer TEXT, value REAL, unit TEXT, limit_value REAL, limit_source TEXT,"
    " verdict TEXT, message TEXT, code TEXT, job REAL, user REAL);"
    "CREATE INDEX records_of_run ON records (run);"
    "CREATE INDEX records_of_node ON records (node, time);"
    "CREATE INDEX records_of_job ON records (job) WHERE job NOT NULL;"
    "CREATE TABLE figures (node TEXT, part TEXT, metric TEXT, run TEXT, value REAL, unit TEXT,"
    " PRIMARY KEY (node, part, metric, run)) WITHOUT ROWID;"
    "CREATE INDEX figures_of_run ON figures (run);"
    "CREATE INDEX figures_of_part ON figures (part);"
    "CREATE TABLE texts (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE facts (node INTEGER, fact INTEGER, time REAL, value INTEGER,"
    " PRIMARY KEY (node, fact, time)) WITHOUT ROWID;"
    "PRAGMA application_id = 0x6d757374;"
    "PRAGMA user_version = 4;";

int database_failed(sqlite3 *database, const char *path, struct error *err)
{
    const char *file = database ? sqlite3_db_filename(database, "main") : NULL;
    int reason = database ? sqlite3_system_errno(database) : 0;
    struct stat status;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return error_set(err, "%s: found a directory, expected a database; set another HistoryFile",
                         path);
    if (database && sqlite3_errcode(database) == SQLITE_CANTOPEN && reason != 0)
        return error_set(err, "%s: %s", path, strerror(reason));
    return error_set(err, "%s: %s", file && *file ? file : path,
                     database ? sqlite3_errmsg(database) : "no memory");
}

sqlite3_stmt *database_prepare(sqlite3 *database, const char *query)
{
    sqlite3_stmt *statement = NULL;

    sqlite3_prepare_v2(database, query, -1, &statement, NULL);
    return statement;
}

static void bind(sqlite3_stmt *statement, const char *types, va_list *values)
{
    for (int at = 1; *types; types++, at++) {
        const char *text;
        double number;

        switch (*types) {
        case 't':
        case 'k':
            text = va_arg(*values, const char *);
            if (text && (*text || *types == 'k'))
                sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
            else
                sqlite3_bind_null(statement, at);
            break;
        case 'n':
            number = va_arg(*values, double);
            if (isfinite(number))
                sqlite3_bind_double(statement, at, number);
            else
                sqlite3_bind_null(statement, at);
            break;
        case 'i':
            sqlite3_bind_int(statement, at, va_arg(*values, int));
            break;
        case 'l':
            sqlite3_bind_int64(statement, at, va_arg(*values, sqlite3_int64));
        }
    }
}

void database_bind(sqlite3_stmt *statement, const char *types, ...)
{
    va_list values;

    va_start(values, types);
    bind(statement, types, &values);
    va_end(values);
}

bool database_insert(sqlite3_stmt *statement, const char *types, ...)
{
    va_list values;
    bool is_done;

    va_start(values, types);
    bind(statement, types, &values);
    va_end(values);
    is_done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return is_done;
}

bool database_run(sqlite3 *database, const char *queries, const char *types, ...)
{
    bool is_done = true;

    while (is_done && *queries) {
        sqlite3_stmt *statement = NULL;
        va_list values;

        sqlite3_prepare_v2(database, queries, -1, &statement, &queries);
        va_start(values, types);
        bind(statement, types, &values);
        va_end(values);
        is_done = sqlite3_step(statement) == SQLITE_DONE;
        sqlite3_finalize(statement);
    }
    return is_done;
}

bool database_value(sqlite3 *database, double *found, const char *query, const char *types, ...)
{
    sqlite3_stmt *statement = database_prepare(database, query);
    va_list values;
    bool is_there;

    va_start(values, types);
    bind(statement, types, &values);
    va_end(values);
    is_there = sqlite3_step(statement) == SQLITE_ROW;
    if (is_there)
        *found = sqlite3_column_double(statement, 0);
    sqlite3_finalize(statement);
    return is_there;
}

enum { TABLES_DAMAGED = -2 };

/* Returns 1 if the database has the tables, 0 for an empty file, TABLES_DAMAGED or -1 with err. One
 * query, as another process may be creating the tables. */
static int has_tables(sqlite3 *database, const char *path, struct error *err)
{
    sqlite3_stmt *statement = database_prepare(
        database, "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master WHERE"
                  " type = 'table') FROM pragma_application_id, pragma_user_version");
    bool is_read = sqlite3_step(statement) == SQLITE_ROW;
    int code = sqlite3_errcode(database), id, version, tables;

    if (!is_read)
        database_failed(database, path, err); /* before columns that are not there are an error */
    id = sqlite3_column_int(statement, 0);
    version = sqlite3_column_int(statement, 1);
    tables = sqlite3_column_int(statement, 2);
    sqlite3_finalize(statement);
    if (!is_read)
        return code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? TABLES_DAMAGED : -1;
    if (id == HISTORY_ID && version > HISTORY_SCHEMA)
        return error_set(err,
                         "%s: found schema %d of a newer muster, expected at most %d; install that "
                         "muster here, or set another HistoryFile",
                         path, version, HISTORY_SCHEMA);
    if (id == HISTORY_ID && version == HISTORY_SCHEMA)
        return 1;
    if (id == HISTORY_ID)
        return error_set(err,
                         "%s: found schema %d of an older muster, expected %d; set another "
                         "HistoryFile, or move it away",
                         path, version, HISTORY_SCHEMA);
    if (tables == 0 && id == 0)
        return 0;
    return error_set(
        err, "%s: found a database that is not muster's; set another HistoryFile, or move it away",
        path);
}

/* Creates the tables under a lock, as two processes may start at once. */
static int tables_make(sqlite3 *database, const char *path, struct error *err)
{
    int found = has_tables(database, path, err), result = 0;

    if (found != 0)
        return found < 0 ? -1 : 0;
    if (!database_run(database, "BEGIN IMMEDIATE", ""))
        return database_failed(database, path, err);
    found = has_tables(database, path, err);
    if (found < 0)
        result = -1;
    else if ((found == 0 && sqlite3_exec(database, schema, NULL, NULL, NULL) != SQLITE_OK) ||
             sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK)
        result = database_failed(database, path, err);
    if (result != 0)
        sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    return result;
}

bool database_uri(const char *path, const char *query, char *uri, size_t size)
{
    size_t length = (size_t)snprintf(uri, size, "file:");

    for (; *path && length + strlen(query) + 8 < size; path++)
        length += (size_t)snprintf(uri + length, size - length,
                                   strchr("%?#", *path) ? "%%%02x" : "%c", (unsigned char)*path);
    snprintf(uri + length, size - length, "?%s", query);
    return !*path;
}

/* Creates the file, if there is none, for its owner alone; its journal gets the same mode. */
static void file_make(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    if (fd >= 0)
        close(fd);
}

static void owner_only(const char *path)
{
    struct stat status;

    if (stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_mode & 077)
        chmod(path, 0600);
}

sqlite3 *database_connect(const char *file, const char *path, int flags, struct error *err)
{
    sqlite3 *database = NULL;

    if (sqlite3_open_v2(file, &database, flags, NULL) == SQLITE_OK &&
        sqlite3_busy_timeout(database, history_busy_ms) == SQLITE_OK &&
        sqlite3_exec(database, "PRAGMA temp_store = MEMORY", NULL, NULL, NULL) == SQLITE_OK)
        return database;
    database_failed(database, path, err);
    sqlite3_close(database);
    return NULL;
}

sqlite3 *database_open(const char *path, struct error *err)
{
    sqlite3 *database;

    path_make_directory(path);
    file_make(path);
    database = database_connect(path, path,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, err);
    if (database && tables_make(database, path, err) != 0) {
        sqlite3_close(database);
        return NULL;
    }
    if (database)
        owner_only(path); /* not before the tables show that it is muster's */
    return database;
}

sqlite3 *database_empty(void)
{
    sqlite3 *database =
        database_connect(":memory:", ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL);

    if (!database || sqlite3_exec(database, schema, NULL, NULL, NULL) == SQLITE_OK)
        return database;
    sqlite3_close(database);
    return NULL;
}

/* Returns the flags to open a database for reading. If our own process was killed while it wrote,
 * SQLite must first roll back its journal, which needs READWRITE. A journal of another user could
 * change our pages and have root remove any file. */
static int opening_flags(const char *path)
{
    char journal[4200];
    struct stat status;

    snprintf(journal, sizeof journal, "%s-journal", path);
    return lstat(journal, &status) == 0 && status.st_uid == geteuid() ? SQLITE_OPEN_READWRITE
                                                                      : SQLITE_OPEN_READONLY;
}

sqlite3 *database_read(const char *path, enum database_file *file, struct error *err)
{
    sqlite3 *database;
    struct stat status;
    int found;

    *file = DATABASE_THERE;
    if (stat(path, &status) != 0) {
        if (errno == ENOENT)
            *file = DATABASE_NONE;
        else
            error_set(err, "%s: %m", path);
        return NULL;
    }
    database = geteuid() != 0 && S_ISREG(status.st_mode) && status.st_uid != geteuid()
                   ? copy_read(path, err)
                   : database_connect(path, path, opening_flags(path), err);
    if (!database || (found = has_tables(database, path, err)) > 0)
        return database;
    if (found == 0)
        *file = DATABASE_NONE;
    else if (found == TABLES_DAMAGED)
        *file = DATABASE_DAMAGED;
    sqlite3_close(database);
    return NULL;
}

const char *database_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    return text ? text : "";
}

double database_number(sqlite3_stmt *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL
               ? (double)NAN
               : sqlite3_column_double(statement, column);
}

enum verdict database_verdict(sqlite3_stmt *statement, int column)
{
    int verdict = verdict_parse(database_text(statement, column));

    return verdict < 0 ? VERDICT_UNKNOWN : (enum verdict)verdict;
}

double database_now(sqlite3 *database)
{
    double now = clock_epoch_s(), last = 0;

    database_value(database, &last,
                   "SELECT max(time) FROM (SELECT time FROM runs UNION ALL SELECT time FROM records"
                   " WHERE run IS NULL) WHERE time < ?1",
                   "n", now + HISTORY_STEP_S);
    return fmax(now, last + 0.001);
}

struct database_rows database_query(const char *path, struct error *err, const char *query,
                                    const char *types, ...)
{
    struct database_rows rows = {.path = path, .status = SQLITE_DONE};
    enum database_file file;
    va_list values;

    rows.database = database_read(path, &file, err);
    if (!rows.database)
        rows.count = file == DATABASE_NONE ? 0 : -1;
    else if (!(rows.statement = database_prepare(rows.database, query)))
        rows.count = database_failed(rows.database, path, err);
    va_start(values, types);
    bind(rows.statement, types, &values);
    va_end(values);
    return rows;
}

bool database_next(struct database_rows *rows)
{
    if (!rows->statement || rows->is_out_of_memory)
        return false;
    rows->status = sqlite3_step(rows->statement);
    rows->count += rows->status == SQLITE_ROW;
    return rows->status == SQLITE_ROW;
}

int database_end(struct database_rows *rows, struct error *err)
{
    if (rows->status != SQLITE_DONE && rows->status != SQLITE_ROW)
        rows->count = database_failed(rows->database, rows->path, err);
    if (rows->is_out_of_memory)
        rows->count = error_set(err, "no memory");
    sqlite3_finalize(rows->statement);
    sqlite3_close(rows->database);
    return rows->count;
}
