/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/sim/stream.h"

#include <math.h>

#include "validate/battery/links/path/samples.h"

enum { SAMPLES_MOST = 64 };

static const double step_s = 5e-4;

struct stream_plan stream_plan(bool is_quick, int repeats)
{
    int samples = repeats > 0 ? repeats : is_quick ? 4 : 5;

    return (struct stream_plan){.sample_s = is_quick ? 0.04 : 0.08,
                                .warmup_s = is_quick ? 0.02 : 0.03,
                                .samples = samples,
                                .most_samples =
                                    3 * samples < SAMPLES_MOST ? 3 * samples : SAMPLES_MOST};
}

static double speed_at(double mbps, const struct stream_timing *timing, double time_s)
{
    double since_s = timing ? fmod(time_s - timing->phase_s, timing->period_s) : 0;

    if (since_s < 0)
        since_s += timing->period_s;
    return timing && since_s < timing->slow_s ? timing->share * mbps : mbps;
}

/* Returns the time at which that much has arrived. */
static double send(double mbps, const struct stream_timing *timing, double begin_s, double mbit)
{
    double now_s = begin_s;

    while (mbit > 0) {
        double part = speed_at(mbps, timing, now_s) * step_s;

        now_s += part <= mbit ? step_s : step_s * mbit / part;
        mbit -= part;
    }
    return now_s;
}

void stream_run(const struct stream_plan *plan, double mbps, const struct stream_timing *timing,
                double *now_s, struct record *record, double *best_mbps)
{
    double samples[SAMPLES_MOST], begin_s, mbit;
    struct arrival arrivals[SAMPLES_MOST + 1];
    int count = 0, first;

    *now_s += plan->warmup_s;
    *best_mbps = record->value = record->low = record->high = 0;
    if (mbps <= 0)
        return;
    mbit = speed_at(mbps, timing, *now_s) * plan->sample_s;
    begin_s = *now_s;
    do {
        first = count;
        arrivals[0] = (struct arrival){*now_s, 0, 0};
        for (; count < first + plan->samples && count < SAMPLES_MOST; count++) {
            double end_s = send(mbps, timing, *now_s, mbit), bytes;

            samples[count] = mbit / (end_s - *now_s);
            *now_s = end_s;
            bytes = mbit * 125000 * (count + 1 - first);
            arrivals[count + 1 - first] = (struct arrival){end_s, bytes, bytes};
        }
        *best_mbps = fmax(*best_mbps, arrivals_best_mbps(arrivals, count + 1 - first));
    } while (!samples_are_tight(samples, count) && count < plan->most_samples);
    record->samples = (unsigned)count;
    record->value = count * mbit / (*now_s - begin_s);
    samples_interval(samples, count, record->value, &record->low, &record->high);
}
