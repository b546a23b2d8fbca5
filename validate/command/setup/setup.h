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

/* muster setup writes one block of lines per file into a site's files, between two comments that
 * name it:
 *
 *     # muster setup: begin; muster setup --undo takes this block out
 *     #- optional spank_muster.so      a line that stood here, once for each
 *     optional spank_muster.so
 *     # muster setup: end
 *
 * So the block can be told from the site's own lines and removed again, which restores the file
 * (except that a last line without a newline gets one). */

enum { SETUP_TEXT_MOST = 16 << 20 }; /* bytes of a file */

/* A file before and after the change. */
struct setup_file {
    char path[PATH_MAX]; /* as a user would open it, without the root */
    char *before;        /* NULL: there is no such file */
    char *after;         /* NULL: to be removed; equal to before: nothing to do */
};

struct setup_files {
    struct setup_file items[8];
    size_t count;
};

void setup_clear(struct setup_files *files);

/* Returns the text with the block appended, or instead of the line `replaces` (without its newline;
 * it must be in the text; NULL: none). lines end with a newline. text NULL: a new file. malloc'd,
 * NULL if memory is out. */
char *setup_block_put(const char *text, const char *lines, const char *replaces);

/* Sets *after to the text without blocks, or to NULL if the block was all of a file that muster
 * setup had created. Returns the number of blocks, or -1 with err: "line N: ..." if one has no end.
 */
int setup_block_take(const char *text, char **after, struct error *err);

/* Resolves the links of the file at path below root ("" is this machine), which need not exist.
 * Returns 0, or -1 with err if a link leads out of root, since only files below root are changed,
 * or to a missing file, or if other users can put links below root. */
int setup_path(const char *root, const char *path, char real[PATH_MAX], struct error *err);

/* Fills files with the changes that the site lacks. notes: lines for the user; release them.
 * Returns 0, or -1 with err. */
int setup_propose(const struct node_view *node_view, struct setup_files *files,
                  struct hostlist *notes, struct error *err);
/* Fills files with those below root that have a block, muster.conf included, and their text without
 * it. Returns 0, or -1 with err. */
int setup_undo(const char *root, struct setup_files *files, struct error *err);

#endif
