/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/statistics.h"
#include "tests/unit/tap.h"

#include <math.h>

int main(void)
{
    static const double samples[] = {5, NAN, 1, 4, 2, 3};
    static const double even[] = {4, 1, 3, 2};
    double many[100], low, high;
    int misplaced = 0;

    is_near(statistics_median(samples, 6), 3, 0, "the median ignores NAN");
    is_near(samples[0], 5, 0, "... and does not change the samples");
    is_near(statistics_median(even, 4), 2.5, 0,
            "the median of an even count is the mean of the two middle samples");
    ok(isnan(statistics_median(samples + 1, 1)), "the median of only NAN is NAN");
    ok(isnan(statistics_median(NULL, 0)), "... and the median of no sample");
    is_near(statistics_quantile(samples, 6, 0), 1, 0, "quantile 0 is the least sample");
    is_near(statistics_quantile(samples, 6, 1), 5, 0, "... and quantile 1 the greatest");
    is_near(statistics_quantile(samples, 6, 0.25), 2, 0,
            "... and one of five samples is below quantile 0.25");
    is_near(statistics_quantile(even, 4, 0.5), 2, 0,
            "... and quantile 0.5 of an even count is the lower middle sample");
    ok(isnan(statistics_quantile(samples + 1, 1, 0.5)), "the quantile of only NAN is NAN");
    statistics_interval(even, 4, &low, &high);
    is_near(low, 1, 0, "few samples: the interval begins at the least sample");
    is_near(high, 4, 0, "... and ends at the greatest");
    for (int i = 0; i < 100; i++)
        many[i] = (i * 37) % 100 + 1; /* 1 to 100, shuffled */
    statistics_interval(many, 100, &low, &high);
    /* n = 100: ranks floor(40.2) and ceil(60.8) */
    is_near(low, 40, 0, "a hundred samples: the interval begins at rank 40");
    is_near(high, 61, 0, "... and ends at rank 61");
    for (int i = 0; i < 100; i++) {
        many[i] = (i * 37) % 100 / 3; /* each value three times */
        misplaced += statistics_select(many, (size_t)i + 1, 0) != 0;
    }
    for (size_t rank = 0; rank < 100; rank++)
        misplaced += statistics_select(many, 100, rank) != (double)(rank / 3);
    is_int(misplaced, 0, "statistics_select() works with equal samples");
    statistics_interval(NULL, 0, &low, &high);
    ok(isnan(low) && isnan(high), "the interval of no sample is NAN");
    is_near(statistics_poisson_tail(0, 3), 1, 0, "zero or more events have probability 1");
    is_near(statistics_poisson_tail(2, 1), 1 - 2 * exp(-1), 1e-12,
            "the probability of two or more events if one is expected");
    is_near(statistics_poisson_tail(1, 0), 0, 0, "... of one or more if none is expected");
    is_near(statistics_binomial_tail(2, 3, 0.5), 0.5, 1e-12,
            "the probability of two or more heads of three coins");
    is_near(statistics_binomial_tail(3, 3, 0.1), 1e-3, 1e-12,
            "... of all of three events with p = 0.1");
    is_near(statistics_binomial_tail(1, 5, 0), 0, 0,
            "... of one or more of five events with p = 0");
    return tap_done();
}
