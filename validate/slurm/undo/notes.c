/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/undo/undo.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/memory_stream.h"
#include "validate/slurm/batch.h"
#include "validate/slurm/undo/journal.h"

static int entry_write(struct undo *undo, const char *verb, const char *name, const char *rest,
                       struct error *err)
{
    char line[JOURNAL_LINE_BYTES];

    return journal_line(line, verb, name, rest, err) == 0
               ? journal_write(undo->journal, undo->path, line, err)
               : -1;
}

/* Adds lines about finished changes. Keeps them in memory if they cannot be written. */
static int lines_write_or_keep(struct undo *undo, const char *lines, struct error *err)
{
    char *longer;
    bool is_first;

    if (journal_write(undo->journal, undo->path, lines, err) == 0)
        return 0;
    if (asprintf(&longer, "%s%s", undo->unwritten ? undo->unwritten : "", lines) < 0)
        return -1;
    is_first = !undo->unwritten;
    free(undo->unwritten);
    undo->unwritten = longer;
    return is_first;
}

static int entry_write_or_keep(struct undo *undo, const char *verb, const char *name,
                               const char *rest, struct error *err)
{
    char line[JOURNAL_LINE_BYTES];

    return journal_line(line, verb, name, rest, err) == 0 ? lines_write_or_keep(undo, line, err)
                                                          : -1;
}

/* Returns one line per node with its text, malloc'd; NULL with err. All lines together need only
 * one write. */
static char *lines_make(const char *verb, const struct batch *nodes, struct error *err)
{
    char *lines = NULL, line[JOURNAL_LINE_BYTES];
    size_t size = 0;
    FILE *stream = memory_stream(&lines, &size);
    int rv = stream ? 0 : error_set(err, "no memory");

    for (size_t i = 0; rv == 0 && i < nodes->count; i++) {
        rv = journal_line(line, verb, nodes->nodes[i].name, nodes->nodes[i].text, err);
        if (rv == 0)
            fputs(line, stream);
    }
    if (stream && fclose(stream) != 0 && rv == 0)
        rv = error_set(err, "no memory");
    if (rv == 0)
        return lines;
    free(lines);
    return NULL;
}

int undo_note_job(struct undo *undo, const char *job_name, uid_t uid, struct error *err)
{
    char text[16];

    snprintf(text, sizeof text, "%u", (unsigned)uid);
    return entry_write(undo, "job", job_name, text, err);
}

int undo_note_reservation(struct undo *undo, const char *name, const char *nodes, struct error *err)
{
    char mark[24];

    journal_mark(nodes, mark);
    return entry_write(undo, "reservation", name, mark, err);
}

int undo_note_resumes(struct undo *undo, const struct batch *drains, struct error *err)
{
    char *lines = lines_make("resume", drains, err);
    int rv = lines ? journal_write(undo->journal, undo->path, lines, err) : -1;

    free(lines);
    return rv;
}

int undo_note_down(struct undo *undo, const char *node, const char *reason, struct error *err)
{
    return entry_write_or_keep(undo, "down", node, reason, err);
}

int undo_note_settled(struct undo *undo, const struct batch *nodes, struct error *err)
{
    char *lines = lines_make("settled", nodes, err);
    int rv = lines ? lines_write_or_keep(undo, lines, err) : -1;

    free(lines);
    return rv;
}

int undo_note_revocation(struct undo *undo, const char *node, time_t until, struct error *err)
{
    char text[24];

    snprintf(text, sizeof text, "%lld", (long long)until);
    return entry_write_or_keep(undo, "revoke", node, text, err);
}

int undo_note_revoked(struct undo *undo, const char *node, struct error *err)
{
    return entry_write_or_keep(undo, "revoked", node, "", err);
}
