/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/policy/strikes.h"

#include <math.h>
#include <stdio.h>

#include "lib/catalog/catalog.h"

bool strikes_is_near(const char *limit_source, double value, double limit)
{
    return (catalog_is_limit(limit_source, LIMIT_PEERS) ||
            catalog_is_limit(limit_source, LIMIT_HISTORY)) &&
           isfinite(value) && isfinite(limit) && limit > 0 && value >= limit * 2 / 3;
}

int strikes_count(const struct strike *strikes, size_t count, double now, double window_s)
{
    int strike = 1;

    for (size_t i = 0; i < count; i++) {
        if (strikes[i].is_last)
            strike = 1;
        else
            strike += strikes[i].time > now - window_s;
    }
    return strike;
}

void strikes_print(int strike, int wanted, double window_s, char *text, size_t size)
{
    bool is_days = fmod(window_s, 86400) == 0 && window_s > 86400;
    double unit_s = is_days                     ? 86400
                    : fmod(window_s, 3600) == 0 ? 3600
                    : fmod(window_s, 60) == 0   ? 60
                                                : 1;

    snprintf(text, size, "strike %d of %d within %.0f %s", strike, wanted, window_s / unit_s,
             is_days          ? "days"
             : unit_s == 3600 ? "h"
             : unit_s == 60   ? "min"
                              : "s");
}
