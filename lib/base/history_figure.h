/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HISTORY_FIGURE_H
#define MUSTER_HISTORY_FIGURE_H

#include "lib/constants/links_constants.h"

/* What a part showed in its last good runs, with the hardware and drivers that it has now. Pure. */
struct history_figure {
    double median;  /* in the figure's unit */
    double mad;     /* median of the absolute deviations from it */
    unsigned count; /* runs; 0: no history, the others are NAN */
};

/* Fills figure from the values of count runs. */
void history_figure_make(const double *values, unsigned count, struct history_figure *figure);

/* The least value that is still as good as the part's own history: 4 robust standard deviations
 * (1.4826 MAD, the factor that makes it one of a normal distribution) below the median, and never
 * nearer to it than HISTORY_MARGIN_PERCENT: a rail that always showed the very same figure is not
 * at fault because of one per cent. NAN with fewer than HISTORY_RUNS_LEAST runs: they say nothing
 * yet. For figures of which more is better. */
double history_figure_floor(const struct history_figure *figure);

#endif
