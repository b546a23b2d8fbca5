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

    is_near(statistics_median(samples, 6), 3, 0, "the median leaves NAN out");
    is_near(samples[0], 5, 0, "... and the samples as they were");
    is_near(statistics_median(even, 4), 2.5, 0, "an even count has the mean of the middle two");
    ok(isnan(statistics_median(samples + 1, 1)), "no sample has no median");
    ok(isnan(statistics_median(NULL, 0)), "... nor has nothing");
    is_near(statistics_quantile(samples, 6, 0), 1, 0, "the least is a quantile");
    is_near(statistics_quantile(samples, 6, 1), 5, 0, "... and the greatest");
    is_near(statistics_quantile(samples, 6, 0.25), 2, 0, "... one sample is below a quarter's");
    is_near(statistics_quantile(even, 4, 0.5), 2, 0, "... of two middle ones the lower");
    ok(isnan(statistics_quantile(samples + 1, 1, 0.5)), "no sample has no quantile");
    statistics_interval(even, 4, &low, &high);
    is_near(low, 1, 0, "few samples: the interval begins at the least");
    is_near(high, 4, 0, "... and ends at the greatest");
    for (int i = 0; i < 100; i++)
        many[i] = (i * 37) % 100 + 1; /* 1 to 100, shuffled */
    statistics_interval(many, 100, &low, &high);
    /* n = 100: ranks floor(40.2) and ceil(60.8) */
    is_near(low, 40, 0, "a hundred samples: rank 40");
    is_near(high, 61, 0, "... to rank 61");
    for (int i = 0; i < 100; i++) {
        many[i] = (i * 37) % 100 / 3; /* each value three times */
        misplaced += statistics_select(many, (size_t)i + 1, 0) != 0;
    }
    for (size_t rank = 0; rank < 100; rank++)
        misplaced += statistics_select(many, 100, rank) != (double)(rank / 3);
    is_int(misplaced, 0, "equal samples have ranks as well");
    statistics_interval(NULL, 0, &low, &high);
    ok(isnan(low) && isnan(high), "no sample has no interval");
    is_near(statistics_poisson_tail(0, 3), 1, 0, "none or more are certain");
    is_near(statistics_poisson_tail(2, 1), 1 - 2 * exp(-1), 1e-12, "two where one is expected");
    is_near(statistics_poisson_tail(1, 0), 0, 0, "... one where none is");
    is_near(statistics_binomial_tail(2, 3, 0.5), 0.5, 1e-12, "two of three coins");
    is_near(statistics_binomial_tail(3, 3, 0.1), 1e-3, 1e-12, "... all of three, one in ten each");
    is_near(statistics_binomial_tail(1, 5, 0), 0, 0, "... one of what never is");
    return tap_done();
}
