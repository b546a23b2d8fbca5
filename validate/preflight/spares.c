/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "lib/base/compare.h"
#include "lib/constants/preflight_constants.h"
#include "validate/preflight/preflight.h"

/* Figures in the same step count as equal: finer steps would only order nodes by noise. */
static const double share_step = 0.05;

struct rank {
    double share, latency; /* in steps, the less the better */
    size_t index;
};

static int best_first(const void *left, const void *right)
{
    const struct rank *a = left, *b = right;

    return COMPARE(a->share, b->share) ?: COMPARE(a->latency, b->latency)
           ?: COMPARE(a->index, b->index);
}

size_t spares_rank(const struct member *members, size_t count, size_t *indices)
{
    struct rank *ranks = calloc(count + 1, sizeof *ranks);
    double best = 0, least_us = INFINITY;
    size_t good = 0;

    for (size_t i = 0; i < count; i++) {
        best = fmax(best, members[i].share); /* fmax() of NAN and a number is the number */
        least_us = fmin(least_us, members[i].latency_us);
    }
    for (size_t i = 0; ranks && i < count; i++) {
        const struct member *member = &members[i];

        if (member->is_silent || member->verdict >= VERDICT_UNKNOWN)
            continue;
        ranks[good++] = (struct rank){
            .share = isnan(member->share) ? INFINITY : floor((best - member->share) / share_step),
            .latency = isnan(member->latency_us)
                           ? INFINITY
                           : floor((member->latency_us - least_us) / SPARES_LATENCY_FLOOR_US),
            .index = i};
    }
    if (good > 0)
        qsort(ranks, good, sizeof *ranks, best_first);
    for (size_t i = 0; i < good; i++)
        indices[i] = ranks[i].index;
    free(ranks);
    return good;
}
