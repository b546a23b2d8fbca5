/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ERROR_LINE_H
#define MUSTER_ERROR_LINE_H

/* The error message of a failed program, in one line for a person: of the lines on standard error
 * the one that is nearest to the cause, not the last, which is mostly srun's about a task that it
 * has killed. Pure. */

#include <stdbool.h>

struct error_line {
    char text[256]; /* "" when nothing was said; a long line ends after a whole word */
    int weight;
    bool is_refusal; /* it is srun's, and about no task: the step was refused */
};

/* Takes the next line. kept is zeros at first. Of lines with the same weight the first is
 * kept. */
void error_line_add(struct error_line *kept, const char *line);

#endif
