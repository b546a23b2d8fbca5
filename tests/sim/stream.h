/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SIM_STREAM_H
#define MUSTER_SIM_STREAM_H

#include <stdbool.h>

#include "lib/base/record.h"

/* What muster-links sees of a rail that comes and goes: a stream of samples of as many bytes as the
 * warm-up says, more of them until they are alike (validate/battery/links/path/path.c). */

/* From phase_s on, each period_s, for slow_s, there is that share of the speed. */
struct stream_timing {
    double period_s, slow_s, phase_s, share;
};

struct stream_plan {
    double sample_s, warmup_s;
    int samples, most_samples;
};

/* As muster-links has it. repeats 0: as many samples as the level has. */
struct stream_plan stream_plan(bool is_quick, int repeats);

/* A transfer that begins at *now_s, which becomes the time of its end, on a path that has mbps when
 * it is not slow. timing NULL: it never is. Fills in value, low and high of the sender's record,
 * and what the receiver had in the best part. */
void stream_run(const struct stream_plan *plan, double mbps, const struct stream_timing *timing,
                double *now_s, struct record *record, double *best_mbps);

#endif
