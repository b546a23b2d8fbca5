/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/database.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/base_name.h"
#include "lib/base/clock.h"
#include "lib/base/hash.h"
#include "lib/base/path.h"
#include "lib/base/read_all.h"
#include "lib/base/regular_file.h"

/* Runs that the database did not accept wait in separate files, each a database with one run:
 * PATH.RUN.waiting, or if the disk is full a file in a second directory, named by the last part of
 * PATH and a hash of PATH. */

enum { PATH = 4096 };

static const char fallback_directory[] = "/run/muster";

/* Formats the file's name for place i and the run. Returns false after the last place, or if it
 * does not fit. */
static bool place(const char *path, int i, const char *run, char *text, size_t size)
{
    if (i == 0)
        return snprintf(text, size, "%s.%s.waiting", path, run) < (int)size;
    return i == 1 && snprintf(text, size, "%s/%s.%016" PRIx64 ".%s.waiting", fallback_directory,
                              base_name(path), hash_text(HASH_BEGIN, path), run) < (int)size;
}

/* Writes under another name and renames: another process may be searching for waiting runs. */
static bool write_at(const char *path, const struct history_run *run,
                     const struct history_node *nodes, size_t count, const struct records *records)
{
    char aside[PATH + 8], journal[PATH + 24];
    bool has_room = snprintf(aside, sizeof aside, "%s.new", path) < (int)sizeof aside;
    sqlite3 *database = has_room ? database_open(aside, NULL) : NULL;
    double now = run->time > 0 ? run->time : clock_epoch_s();
    bool is_done = database && database_run(database, "BEGIN IMMEDIATE", "") &&
                   database_add(database, run, now, nodes, count, records) &&
                   database_run(database, "COMMIT", "");

    sqlite3_close(database);
    if (is_done && rename(aside, path) == 0)
        return true;
    snprintf(journal, sizeof journal, "%s-journal", aside);
    unlink(aside);
    unlink(journal);
    return false;
}

int spill_write(const char *path, const struct history_run *run, const struct history_node *nodes,
                size_t count, const struct records *records, const char *why, struct error *err)
{
    char text[PATH];

    if (strchr(run->run, '/'))
        return error_set(err, "%s; the run is lost: '%s' is not a valid file name", why, run->run);
    for (int i = 0; place(path, i, run->run, text, sizeof text); i++) {
        path_make_directory(text);
        if (access(text, F_OK) != 0 && write_at(text, run, nodes, count, records)) {
            error_set(err, "%s; the run is stored in %s and will be added next time", why, text);
            return 1;
        }
    }
    return error_set(err, "%s; the run is lost: it cannot be stored beside it or in %s", why,
                     fallback_directory);
}

/* ---------------------------------------------------------------- taking in */

/* Returns 0 if all of the file can be read, or -1 with err: to SQLite a page that cannot be read is
 * damage. */
static int file_read(const char *path, struct error *err)
{
    int fd = regular_file_open(path, err);
    char bytes[1 << 16];
    ssize_t got;

    if (fd < 0)
        return -1;
    while ((got = read_all(fd, bytes, sizeof bytes)) > 0)
        ;
    if (got < 0)
        error_set(err, "%s: %m", path);
    close(fd);
    return (int)got;
}

/* Whether the file is a complete database of muster with one run. Returns 1, 0, or -1 with err if
 * it cannot be read, as that of another version. */
static int is_whole(const char *path, struct error *err)
{
    double runs = 0, faults = -1;
    bool is_good;
    enum database_file file;
    sqlite3 *database = database_read(path, &file, err);

    if (!database && file == DATABASE_THERE)
        return -1;
    is_good =
        database && database_value(database, &runs, "SELECT count(*) FROM runs", "") && runs == 1 &&
        database_value(database, &faults,
                       "SELECT count(*) FROM pragma_quick_check WHERE quick_check <> 'ok'", "") &&
        faults == 0;

    sqlite3_close(database);
    return is_good ? 1 : file_read(path, err);
}

/* Copies the database that is attached as `waiting`. */
static bool copy(sqlite3 *database)
{
    static const char queries[] =
        "INSERT INTO main.runs SELECT * FROM waiting.runs;"
        "INSERT INTO main.nodes SELECT * FROM waiting.nodes;"
        "INSERT INTO main.records SELECT * FROM waiting.records;"
        "INSERT INTO main.figures SELECT * FROM waiting.figures;"
        "INSERT OR IGNORE INTO main.texts (text) SELECT text FROM waiting.texts;"
        "INSERT INTO reported SELECT n.id, f.id, v.id FROM waiting.facts w"
        " JOIN waiting.texts wn ON wn.id = w.node JOIN main.texts n ON n.text = wn.text"
        " JOIN waiting.texts wf ON wf.id = w.fact JOIN main.texts f ON f.text = wf.text"
        " JOIN waiting.texts wv ON wv.id = w.value JOIN main.texts v ON v.text = wv.text;";
    double time;

    return database_clear_reported(database) && database_run(database, queries, "") &&
           database_value(database, &time, "SELECT time FROM waiting.runs", "") &&
           database_take_facts(database, time);
}

/* Renames the file, so that it does not wait any more. */
static void mark_broken(const char *waiting, const char *why)
{
    char broken[PATH + 8];

    snprintf(broken, sizeof broken, "%s.broken", waiting);
    fprintf(stderr, "%s: %s, %s %s\n", waiting, why,
            rename(waiting, broken) == 0 ? "renamed to" : "cannot be renamed to", broken);
}

/* Adds the run of a waiting file, unless it exists. Returns SQLITE_OK, or another code with err. */
static int add(sqlite3 *database, const char *uri, struct error *err)
{
    double there = 0;
    int code = SQLITE_OK;

    if (!database_run(database, "ATTACH ? AS waiting", "t", uri) ||
        !database_run(database, "BEGIN IMMEDIATE", "") ||
        !database_value(
            database, &there,
            "SELECT count(*) FROM main.runs WHERE run IN (SELECT run FROM waiting.runs)", "") ||
        (there == 0 && !copy(database)) || !database_run(database, "COMMIT", "")) {
        code = sqlite3_errcode(database);
        error_set(err, "%s", sqlite3_errmsg(database));
        database_run(database, "ROLLBACK", "");
    }
    database_run(database, "DETACH waiting", "");
    return code;
}

/* Whether an empty database refuses the run, too, by what the file contains. Else a database that
 * refuses it is damaged. */
static bool is_refused(const char *uri, struct error *why)
{
    sqlite3 *empty = database_empty();
    int code = empty ? add(empty, uri, why) : SQLITE_NOMEM;

    sqlite3_close(empty);
    error_prefix(why, "cannot be added");
    return code == SQLITE_ERROR || code == SQLITE_CONSTRAINT || code == SQLITE_MISMATCH ||
           code == SQLITE_TOOBIG;
}

/* Adds a waiting run. If another process has added it since it was listed, the run exists, or its
 * file is gone. Returns 0, or -1 with err. */
static int take_in(sqlite3 *database, const char *path, const char *waiting, struct error *err)
{
    char uri[3 * PATH];
    struct error why = {""};

    if (!database_uri(waiting, "mode=ro", uri, sizeof uri))
        return error_set(err, "%s: path too long", waiting);
    if (add(database, uri, err) == SQLITE_OK) {
        unlink(waiting);
    } else if (access(waiting, F_OK) == 0) {
        error_prefix(err, "%s", path);
        if (!is_refused(uri, &why))
            return -1;
        mark_broken(waiting, why.text);
    }
    return 0;
}

static int take_in_file(sqlite3 *database, const char *path, const char *waiting, struct error *err)
{
    struct stat status;
    struct error why = {""};
    int is_good;

    if (lstat(waiting, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    if (status.st_uid != geteuid()) {
        fprintf(stderr, "%s: belongs to UID %u, expected %u; it goes on waiting\n", waiting,
                (unsigned)status.st_uid, (unsigned)geteuid());
        return 0;
    }
    is_good = is_whole(waiting, &why);
    if (is_good > 0)
        return take_in(database, path, waiting, err);
    if (access(waiting, F_OK) != 0)
        return 0;
    if (is_good < 0)
        fprintf(stderr, "%s; it goes on waiting\n", why.text);
    else
        mark_broken(waiting, "found no complete run");
    return 0;
}

/* Lists the runs that wait in place i. The path itself is no pattern. Returns false after the last
 * place. */
static bool list(const char *path, int i, glob_t *found)
{
    char text[PATH], pattern[2 * PATH], *end = pattern;

    *found = (glob_t){0};
    if (!place(path, i, "*", text, sizeof text))
        return false;
    for (const char *at = text, *any_run = strrchr(text, '*'); *at; *end++ = *at++)
        if (at != any_run && strchr("\\*?[", *at))
            *end++ = '\\';
    *end = '\0';
    if (glob(pattern, 0, NULL, found) != 0)
        found->gl_pathc = 0;
    return true;
}

bool spill_waits(const char *path)
{
    bool waits = false;
    glob_t found;

    for (int i = 0; !waits && list(path, i, &found); i++) {
        waits = found.gl_pathc > 0;
        globfree(&found);
    }
    return waits;
}

int spill_take_in(sqlite3 *database, const char *path, struct error *err)
{
    int result = 0;
    glob_t found;

    for (int i = 0; result == 0 && list(path, i, &found); i++) {
        for (size_t k = 0; k < found.gl_pathc && result == 0; k++)
            result = take_in_file(database, path, found.gl_pathv[k], err);
        globfree(&found);
    }
    return result;
}
