/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LABELS_H
#define MUSTER_LABELS_H

#include <stddef.h>

#include "lib/base/hostlist.h"

/* Who wrote a line that srun --label hands on: "12: LINE". The label is srun's own, so that no task
 * can write in the name of another. Slurm passes on no more than 1024 bytes at a time and labels
 * each of them as a line: those are put together again. Pure. */

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

/* Takes a line without its end. Returns the task with its whole line in *text, which lives until
 * the next call; -1 when it is not of a task (*text is the line then), or when more of it is to
 * come
 * (*text is NULL). */
long labels_take(struct labels *labels, const char *line, const char **text);

/* The same of a line that is not to be put together: *text is what is behind its label, or the line
 * where it is not of a task (-1), as srun's own. */
long labels_split(const struct labels *labels, const char *line, const char **text);

#endif
