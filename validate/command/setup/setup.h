/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SETUP_H
#define MUSTER_SETUP_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "lib/base/error.h"
#include "lib/slurm/slurmconf.h"
#include "validate/command/command.h"

/* What muster setup writes in a site's files is one block of lines a file, between two comments
 * that name it:
 *
 *     # muster setup: begin; muster setup --undo takes this block out
 *     #- optional spank_muster.so      a line that stood here, once for each
 *     optional spank_muster.so
 *     # muster setup: end
 *
 * so that it can be told from the site's own and taken out again, which leaves the file as it was
 * (a last line without a newline has one then). */

enum { SETUP_TEXT_MOST = 16 << 20 }; /* bytes of a file */

/* A file as it is and as it shall be. */
struct setup_file {
    char path[PATH_MAX]; /* as a person would open it, without the root */
    char *before;        /* NULL: there is no such file */
    char *after;         /* NULL: it shall be removed; the same as before: nothing to do */
};

struct setup_files {
    struct setup_file items[8];
    size_t count;
};

void setup_clear(struct setup_files *files);

/* The text with the block appended, or in the place of the line `replaces` (NULL: none, whole,
 * without its newline; it must be there). lines end in newlines. text NULL: a new file. Returns
 * malloc'd text, NULL without memory. */
char *setup_block_put(const char *text, const char *lines, const char *replaces);

/* The text without blocks; *after NULL where the block was all of a file that it had made. Returns
 * how many blocks there were, or -1 with err "line N: ..." where one has no end. */
int setup_block_take(const char *text, char **after, struct error *err);

/* Where the file at path below root lies ("" is this machine), links resolved, whether it is there
 * or not. Returns 0, or -1 with err where a link leads out of root, as no file but root's is
 * changed, or to nothing. */
int setup_path(const char *root, const char *path, char real[PATH_MAX], struct error *err);

/* Fills files with what the site lacks. notes: lines for a person, to be released. Returns 0, or -1
 * with err. */
int setup_propose(const struct node_view *node_view, struct setup_files *files,
                  struct hostlist *notes, struct error *err);
/* Fills files with those below root that have a block, muster.conf, too, as they were before.
 * Returns 0, or -1 with err. */
int setup_undo(const char *root, struct setup_files *files, struct error *err);

#endif
