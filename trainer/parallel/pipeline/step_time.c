/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/pipeline/step_time.h"

#include <math.h>

/* Seconds of `bytes` bytes in so many messages, each of which waits for the one before. */
static double link_s(const struct link_speed *link, int messages, double bytes)
{
    return messages * link->latency_s + bytes / link->Bps;
}

double arrange_step_s(const struct arrange_times *times)
{
    double across_s = link_s(&times->across, 1, times->microbatch_bytes);
    double sums_s = link_s(&times->inside, times->inside_messages, times->inside_bytes);
    double all_s = 0, slowest_s = 0;

    for (int stage = 0; stage < times->stages; stage++) {
        all_s += times->stage_s[stage];
        slowest_s = fmax(slowest_s, times->stage_s[stage]);
    }
    if (times->stages > 1) { /* both ways at each boundary; links send while stages compute */
        all_s += 2 * (times->stages - 1) * across_s;
        slowest_s = fmax(slowest_s, times->microbatch_bytes / times->across.Bps);
        sums_s += link_s(&times->across, 2, times->ends_bytes);
    }
    return all_s + (times->microbatches - 1) * slowest_s + sums_s + times->update_s;
}
