/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_STREAM_H
#define MUSTER_SIM_STREAM_H

#include <stdbool.h>

#include "lib/base/record.h"

/* What muster-links measures on an intermittent rail: a stream of samples whose size the warm-up
 * determines, more of them until they agree (validate/battery/links/path/path.c). */

/* From phase_s on, in each period_s, the path has that share of its speed for slow_s. */
struct stream_timing {
    double period_s, slow_s, phase_s, share;
};

struct stream_plan {
    double sample_s, warmup_s;
    int samples, most_samples;
};

/* The plan of muster-links. repeats 0: the level's number of samples. */
struct stream_plan stream_plan(bool is_quick, int repeats);

/* Simulates a transfer that begins at *now_s, on a path that has mbps when it is not slow. timing
 * NULL: it is never slow. Sets *now_s to the end, value, low and high of the sender's record, and
 * the bandwidth of the receiver's best part. */
void stream_run(const struct stream_plan *plan, double mbps, const struct stream_timing *timing,
                double *now_s, struct record *record, double *best_mbps);

#endif
