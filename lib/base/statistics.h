/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STATISTICS_H
#define MUSTER_STATISTICS_H

#include <stddef.h>

/* Pure functions on samples. Except statistics_select(), they ignore NAN samples and do not change
 * the array. */

/* Returns the order statistic of this rank, 0 <= rank < count. No sample may be NAN. Reorders the
 * samples. Usually O(count). */
double statistics_select(double *samples, size_t count, size_t rank);

/* Returns the median; for an even count the mean of the two middle samples; NAN without samples. */
double statistics_median(const double *samples, size_t count);

/* Returns the quantile of this share, 0 to 1: the sample of rank floor(share (n - 1)) from 0, not
 * interpolated; NAN without samples. */
double statistics_quantile(const double *samples, size_t count, double share);

/* The non-parametric 95 % confidence interval of the median: the order statistics of ranks
 * floor((n - 1.96 sqrt n) / 2) and ceil(1 + (n + 1.96 sqrt n) / 2), counted from 1 and limited to
 * 1..n, so the range for fewer than 6 samples (Hoefler and Belli, SC'15, section 3.1.3). Both NAN
 * without samples. */
void statistics_interval(const double *samples, size_t count, double *low, double *high);

/* Returns the probability of at least `least` events if mean are expected (Poisson). */
double statistics_poisson_tail(size_t least, double mean);

/* Returns the probability of at least `least` of count independent events, each with probability
 * p < 1 (binomial). */
double statistics_binomial_tail(size_t least, size_t count, double p);

#endif
