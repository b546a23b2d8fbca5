/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/links/path/samples.h"

#include <math.h>
#include <stddef.h>

#include "lib/base/statistics.h"
#include "lib/constants/battery_constants.h"

enum { SAMPLES_MAX = 1024 };

bool samples_are_tight(const double *samples, int count)
{
    double median = statistics_median(samples, (size_t)count), low, high;

    statistics_interval(samples, (size_t)count, &low, &high);
    return count > 0 && high - median <= SAMPLES_TIGHT_SHARE * median &&
           median - low <= SAMPLES_TIGHT_SHARE * median;
}

void samples_interval(const double *samples, int count, double figure, double *low, double *high)
{
    statistics_interval(samples, (size_t)count, low, high);
    if (count > 0) { /* of NAN and a number: the number */
        *low = fmin(*low, figure);
        *high = fmax(*high, figure);
    }
}

int samples_outliers(const double *samples, int count)
{
    double distances[SAMPLES_MAX], median, deviation;
    int outliers = 0;

    count = count < SAMPLES_MAX ? count : SAMPLES_MAX;
    median = statistics_median(samples, (size_t)count);
    for (int i = 0; i < count; i++)
        distances[i] = fabs(samples[i] - median);
    deviation = fmax(1.4826 * statistics_median(distances, (size_t)count),
                     SAMPLES_DEVIATION_LEAST_SHARE * median);
    for (int i = 0; i < count; i++)
        outliers += distances[i] > 3 * deviation;
    return outliers;
}

double samples_lowest(const double *samples, int count)
{
    double lowest = NAN;

    for (int i = 0; i < count; i++)
        lowest = fmin(lowest, samples[i]); /* of NAN and a number: the number */
    return lowest;
}

double arrivals_best_mbps(const struct arrival *arrivals, int count)
{
    double least_s = count > 1 ? (arrivals[count - 1].time_s - arrivals[0].time_s) / 4 : 0,
           best = 0;

    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            double time_s = arrivals[j].time_s - arrivals[i].time_s;
            double payload = arrivals[j].payload_bytes - arrivals[i].payload_bytes;
            double counted = arrivals[j].counted_bytes - arrivals[i].counted_bytes;

            if (time_s > 0 && time_s >= least_s)
                best = fmax(best, 8e-6 * fmin(payload, counted) / time_s);
        }
    return best;
}

bool flows_window(const struct flow *flows, int count, double *begin_s, double *end_s)
{
    *begin_s = -INFINITY;
    *end_s = INFINITY;
    for (int i = 0; i < count; i++) {
        if (flows[i].mark_count == 0)
            continue;
        *begin_s = fmax(*begin_s, flows[i].marks_s[0]);
        *end_s = fmin(*end_s, flows[i].marks_s[flows[i].mark_count]);
    }
    return isfinite(*begin_s) && *begin_s < *end_s;
}

double flow_mbps(const struct flow *flow, double begin_s, double end_s)
{
    double bytes = 0;

    for (int i = 0; i < flow->mark_count; i++) {
        double from = flow->marks_s[i], to = flow->marks_s[i + 1];
        double shared = fmin(to, end_s) - fmax(from, begin_s);

        if (shared > 0)
            bytes += flow->mark_bytes * shared / (to - from);
    }
    return 8e-6 * bytes / (end_s - begin_s);
}
