/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_FIGURE_H
#define MUSTER_HISTORY_FIGURE_H

#include "lib/constants/links_constants.h"

/* A figure of a part in its last good runs with its present hardware and drivers. Pure. */
struct history_figure {
    double median;  /* in the figure's unit */
    double mad;     /* median of the absolute deviations from the median */
    unsigned count; /* runs; 0: no history, and the others are NAN */
};

/* Fills figure from the values of count runs. */
void history_figure_make(const double *values, unsigned count, struct history_figure *figure);

/* Returns the least value that is still as good as the part's own history: 4 robust standard
 * deviations below the median (1.4826 MAD is one for a normal distribution), and at least
 * HISTORY_MARGIN_PERCENT below it. With the margin, a rail whose figure was always the same is not
 * at fault for one percent less. NAN for fewer than HISTORY_RUNS_LEAST runs. For figures where more
 * is better. */
double history_figure_floor(const struct history_figure *figure);

#endif
