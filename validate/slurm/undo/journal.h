/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_JOURNAL_H
#define MUSTER_JOURNAL_H

#include <stdbool.h>

#include "lib/base/error.h"

/* The lines of a run's journal, "VERB NAME REST" each: notes.c writes one before each change, and
 * policy/testing.c writes for other runs. The first names the cluster and the host. Pure, but for
 * journal_read(), journal_write() and journal_is_locked(). */

enum { JOURNAL_LINE_BYTES = 1024 };

struct journal_entry {
    char verb[16], name[256], rest[1024];
};

/* Returns all of the file, malloc'd; NULL with errno. What is behind a NUL byte is lost: after a
 * power loss a file may end in zeros. */
char *journal_read(int journal);

/* Returns whether the run or its keeper is alive on this host: each holds a lock on the journal. */
bool journal_is_locked(const char *directory, const char *run);

/* Reads the next complete line. Returns false at the end. */
bool journal_next(const char **text, struct journal_entry *entry);

/* Checks that the journal can be undone on this cluster: the first line names the cluster, and each
 * complete line has a known verb. No change follows an incomplete line. Returns 0, or -1 with err.
 */
int journal_check(const char *text, const char *cluster, struct error *err);

/* Returns whether the text has that line, without a rest. */
bool journal_has(const char *text, const char *verb, const char *name);

/* Formats a line, truncated if too long. Returns 0, or -1 with err for a name with a blank. */
int journal_line(char line[JOURNAL_LINE_BYTES], const char *verb, const char *name,
                 const char *rest, struct error *err);

/* Writes all lines to disk, or none if the disk is full: a partial line would merge with the next.
 * path: for err. Returns 0, or -1 with err. */
int journal_write(int journal, const char *path, const char *lines, struct error *err);

/* Hashes a node list of any length to a short mark; different lists get different marks. */
void journal_mark(const char *nodes, char mark[24]);

#endif
