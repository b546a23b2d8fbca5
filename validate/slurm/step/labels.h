/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LABELS_H
#define MUSTER_LABELS_H

#include <stddef.h>

#include "lib/base/hostlist.h"

/* Finds the task that wrote a line of srun --label, "12: LINE". The label is srun's own, so no task
 * can forge another task's lines. Slurm passes on no more than 1024 bytes at a time and labels each
 * piece as a line: the pieces are joined here. Pure. */

enum {
    LABELS_PIECE = 1024,        /* MAX_MSG_LEN of Slurm's io_hdr.h, 22.05 to 26.05 */
    LABELS_LINE_MOST = 64 << 10 /* longer lines are cut */
};

struct labels {
    const struct hostlist *nodes; /* task i runs on the i-th */
    struct labels_begun {
        char *text; /* of a line that is not whole yet, or NULL */
        size_t length;
    } * begun; /* for each node */
};

/* nodes must outlive labels. Returns 0, or -1 when memory is out. Release with labels_clear(). */
int labels_make(const struct hostlist *nodes, struct labels *labels);
void labels_clear(struct labels *labels);

/* Takes a line without its newline. Returns the task, with its whole line in *text, which lives
 * until the next call; -1 if the line is not of a task (*text is the line), or if the line goes on
 * in the next one (*text is NULL). */
long labels_parse(struct labels *labels, const char *line, const char **text);

/* The same without joining lines: *text is what follows the label, or the line itself if
 * it is not of a task (-1) but srun's own. */
long labels_split(const struct labels *labels, const char *line, const char **text);

#endif
