/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/statistics.h"

#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* A sorted copy without the NANs; *count becomes their number. NULL: nothing left, or no memory. */
static double *sorted(const double *samples, size_t *count)
{
    double *copy = malloc((*count + 1) * sizeof *copy);
    size_t kept = 0;

    if (!copy)
        return NULL;
    for (size_t i = 0; i < *count; i++)
        if (!isnan(samples[i]))
            copy[kept++] = samples[i];
    if (kept == 0) {
        free(copy);
        return NULL;
    }
    qsort(copy, kept, sizeof *copy, ascending);
    *count = kept;
    return copy;
}

double statistics_median(const double *samples, size_t count)
{
    double *copy = sorted(samples, &count);
    double median;

    if (!copy)
        return NAN;
    median = (copy[(count - 1) / 2] + copy[count / 2]) / 2;
    free(copy);
    return median;
}

double statistics_quantile(const double *samples, size_t count, double share)
{
    double *copy = sorted(samples, &count);
    double quantile;

    if (!copy)
        return NAN;
    quantile = copy[(size_t)(share * (double)(count - 1))];
    free(copy);
    return quantile;
}

void statistics_interval(const double *samples, size_t count, double *low, double *high)
{
    double *copy = sorted(samples, &count);
    double n = (double)count;
    double first, last;

    *low = *high = NAN;
    if (!copy)
        return;
    first = floor((n - 1.96 * sqrt(n)) / 2);
    last = ceil(1 + (n + 1.96 * sqrt(n)) / 2);
    *low = copy[(size_t)fmax(first, 1) - 1];
    *high = copy[(size_t)fmin(last, n) - 1];
    free(copy);
}

double statistics_poisson_tail(size_t least, double mean)
{
    double term = exp(-mean), below = 0;

    for (size_t i = 0; i < least; i++) {
        below += term;
        term *= mean / (double)(i + 1);
    }
    return fmax(0, 1 - below);
}

double statistics_binomial_tail(size_t least, size_t count, double p)
{
    double term = pow(1 - p, (double)count), below = 0;

    for (size_t i = 0; i < least; i++) {
        below += term;
        term *= (double)(count - i) / (double)(i + 1) * p / (1 - p);
    }
    return fmax(0, 1 - below);
}
