/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RATE_H
#define MUSTER_RATE_H

/* The learning rate over the steps: linear from 0 to the peak in `warmup` steps, then constant, or
 * down to `floor` x peak at the last step: along a line or half a cosine. */

enum rate_decay { RATE_CONSTANT, RATE_LINEAR, RATE_COSINE };

struct rate {
    double peak, floor; /* floor: a share of peak */
    long warmup, steps; /* steps in all */
    enum rate_decay decay;
};

/* Returns the rate of step 0, 1, ... steps - 1. */
double rate_at(const struct rate *rate, long step);

#endif
