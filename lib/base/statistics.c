/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/statistics.h"

#include <math.h>
#include <stdlib.h>

double statistics_select(double *samples, size_t count, size_t rank)
{
    for (size_t low = 0, high = count - 1; low < high;) { /* Hoare's algorithm */
        double middle = samples[low + (high - low) / 2];
        size_t i = low, end = high + 1;

        while (i < end) {
            for (; samples[i] < middle; i++)
                ;
            for (; samples[end - 1] > middle; end--)
                ;
            if (i < end) {
                double moved = samples[i];

                samples[i++] = samples[--end];
                samples[end] = moved;
            }
        }
        if (rank >= i)
            low = i;
        else if (rank < end)
            high = end - 1;
        else
            break;
    }
    return samples[rank];
}

/* Returns a copy of the samples that are not NAN, and their number in *count. NULL if there are
 * none or memory is out. */
static double *copy_numbers(const double *samples, size_t *count)
{
    double *copy = malloc((*count + 1) * sizeof *copy);
    size_t kept = 0;

    for (size_t i = 0; i < *count && copy; i++)
        if (!isnan(samples[i]))
            copy[kept++] = samples[i];
    *count = kept;
    if (kept > 0)
        return copy;
    free(copy);
    return NULL;
}

double statistics_median(const double *samples, size_t count)
{
    double *copy = copy_numbers(samples, &count);
    double median;

    if (!copy)
        return NAN;
    median = statistics_select(copy, count, (count - 1) / 2);
    median = (median + statistics_select(copy, count, count / 2)) / 2;
    free(copy);
    return median;
}

double statistics_quantile(const double *samples, size_t count, double share)
{
    double *copy = copy_numbers(samples, &count);
    double quantile;

    if (!copy)
        return NAN;
    quantile = statistics_select(copy, count, (size_t)(share * (double)(count - 1)));
    free(copy);
    return quantile;
}

void statistics_interval(const double *samples, size_t count, double *low, double *high)
{
    double *copy = copy_numbers(samples, &count);
    double n = (double)count;
    double first, last;

    *low = *high = NAN;
    if (!copy)
        return;
    first = floor((n - 1.96 * sqrt(n)) / 2);
    last = ceil(1 + (n + 1.96 * sqrt(n)) / 2);
    *low = statistics_select(copy, count, (size_t)fmax(first, 1) - 1);
    *high = statistics_select(copy, count, (size_t)fmin(last, n) - 1);
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
