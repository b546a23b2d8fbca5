/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STATISTICS_H
#define MUSTER_STATISTICS_H

#include <stddef.h>

/* Pure functions on samples. NAN samples are left out everywhere; the array is not changed, but by
 * statistics_select(). */

/* The sample of that rank, from 0 and below count, none of which is NAN: they are reordered.
 * Usually O(count). */
double statistics_select(double *samples, size_t count, size_t rank);

/* The median; NAN when there is no sample. Even counts: the mean of the two middle ones. */
double statistics_median(const double *samples, size_t count);

/* The sample that at most that share of all, from 0 to 1, is below: no mean of two; NAN when there
 * is no sample. */
double statistics_quantile(const double *samples, size_t count, double share);

/* The non-parametric 95 % interval of the median: the order statistics of ranks
 * floor((n - 1.96 sqrt n) / 2) and ceil(1 + (n + 1.96 sqrt n) / 2), counted from 1 and held inside
 * 1..n, so the range for fewer than 6 samples (Hoefler and Belli, SC'15, section 3.1.3). NAN both
 * when there is no sample. */
void statistics_interval(const double *samples, size_t count, double *low, double *high);

/* How likely at least so many events are where mean are expected (Poisson). */
double statistics_poisson_tail(size_t least, double mean);

/* How likely at least so many of count events are, each with probability p < 1 (binomial). */
double statistics_binomial_tail(size_t least, size_t count, double p);

#endif
