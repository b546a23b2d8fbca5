/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/optimizer/rate.h"

#include <math.h>

double rate_at(const struct rate *rate, long step)
{
    double done, share = 1;

    if (step < rate->warmup)
        return rate->peak * (double)(step + 1) / (double)rate->warmup;
    if (rate->decay == RATE_CONSTANT || rate->steps <= rate->warmup + 1)
        return rate->peak;
    done = (double)(step - rate->warmup) / (double)(rate->steps - 1 - rate->warmup);
    done = done < 1 ? done : 1;
    if (rate->decay == RATE_LINEAR)
        share = 1 - done;
    else
        share = (1 + cos(done * M_PI)) / 2;
    return rate->peak * (rate->floor + (1 - rate->floor) * share);
}
