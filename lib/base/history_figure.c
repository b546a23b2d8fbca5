/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/history_figure.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/statistics.h"

void history_figure_make(const double *values, unsigned count, struct history_figure *figure)
{
    double *deviations = malloc((count + 1) * sizeof *deviations);

    *figure = (struct history_figure){NAN, NAN, 0};
    if (!deviations || count == 0) {
        free(deviations);
        return;
    }
    figure->median = statistics_median(values, count);
    for (unsigned i = 0; i < count; i++)
        deviations[i] = fabs(values[i] - figure->median);
    figure->mad = statistics_median(deviations, count);
    figure->count = count;
    free(deviations);
}

double history_figure_floor(const struct history_figure *figure)
{
    if (figure->count < HISTORY_RUNS_LEAST)
        return NAN;
    return figure->median -
           fmax(4 * 1.4826 * figure->mad, figure->median * HISTORY_MARGIN_PERCENT / 100);
}
