/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ERROR_LINE_H
#define MUSTER_ERROR_LINE_H

/* The most useful line on a failed program's standard error: the line nearest to the cause. The
 * last line is mostly srun's message about a task that it killed. Pure. */

#include <stdbool.h>

struct error_line {
    char text[256]; /* "" when nothing was said; a long line ends after a whole word */
    int weight;
    bool is_refusal; /* a line of srun about no task: the step was refused */
};

/* Keeps the line if it is more useful than the kept one. kept is zeroed at first. */
void error_line_add(struct error_line *kept, const char *line);

/* Returns its text, or that there was none. */
const char *error_line_text(const struct error_line *kept);

#endif
