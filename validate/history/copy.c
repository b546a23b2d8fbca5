/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/history/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A process that can open a database can lock it, and a read lock that is never released blocks
 * every writer. So only its owner can access the database. All others read a copy, which no reader
 * locks: it is never written, but replaced as a whole. */

enum { PATH = 4096 };

static bool copy_path(const char *path, const char *end, char *text, size_t size)
{
    return snprintf(text, size, "%s.copy%s", path, end) < (int)size;
}

sqlite3 *copy_read(const char *path, struct error *err)
{
    char copy[PATH], uri[3 * PATH];

    if (!copy_path(path, "", copy, sizeof copy) ||
        !database_uri(copy, "immutable=1", uri, sizeof uri)) {
        error_set(err, "%s: path too long", path);
        return NULL;
    }
    if (access(copy, F_OK) != 0) {
        error_set(err, "%s: %s; the next run of muster certify creates it", copy, strerror(errno));
        return NULL;
    }
    return database_connect(uri, copy, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* Copies all pages over a separate connection, as the writing one cannot be read meanwhile. Uses no
 * journal, as an incomplete copy is discarded. */
static int pages_copy(const char *path, const char *aside, struct error *err)
{
    sqlite3 *from = NULL, *to = NULL;
    sqlite3_backup *backup;
    int result = 0, rv;

    if (sqlite3_open_v2(path, &from, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK) {
        result = database_failed(from, path, err);
    } else if (sqlite3_open_v2(aside, &to, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK ||
               sqlite3_exec(to, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL,
                            NULL) != SQLITE_OK ||
               !(backup = sqlite3_backup_init(to, "main", from, "main"))) {
        result = database_failed(to, aside, err);
    } else {
        sqlite3_backup_step(backup, -1);
        rv = sqlite3_backup_finish(backup);
        result = rv == SQLITE_OK ? 0 : error_set(err, "%s: %s", aside, sqlite3_errstr(rv));
    }
    sqlite3_close(from);
    sqlite3_close(to);
    return result;
}

/* Makes the copy under the lock on the database, which excludes other writers and other copies. */
static int copy_make(const char *path, const char *aside, const char *copy, struct error *err)
{
    int fd, result;

    unlink(aside); /* left by a process that was killed */
    fd = open(aside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return error_set(err, "%s: %m", aside);
    close(fd); /* before SQLite locks the file: closing it later would release the lock */
    result = pages_copy(path, aside, err);
    fd = result == 0 ? open(aside, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
    if (result == 0 &&
        (fd < 0 || fsync(fd) != 0 || fchmod(fd, 0644) != 0 || rename(aside, copy) != 0))
        result = error_set(err, "%s: %m", copy);
    if (fd >= 0)
        close(fd);
    if (result != 0)
        unlink(aside);
    return result;
}

static int copy_write(sqlite3 *database, const char *path, struct error *err)
{
    char copy[PATH], aside[PATH];
    int result;

    if (!copy_path(path, "", copy, sizeof copy) || !copy_path(path, ".new", aside, sizeof aside))
        return error_set(err, "%s: path too long", path);
    if (!database_run(database, "BEGIN IMMEDIATE", ""))
        return database_failed(database, path, err);
    result = copy_make(path, aside, copy, err);
    database_run(database, "ROLLBACK", "");
    return result;
}

void copy_renew(sqlite3 *database, const char *path)
{
    struct error err;

    if (copy_write(database, path, &err) != 0)
        fprintf(stderr, "%s; other users see the earlier history\n", err.text);
}
