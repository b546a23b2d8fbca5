/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEP_TIME_H
#define MUSTER_STEP_TIME_H

/* Predicts the time of a step from the times of its parts. Pure. */

/* A message of n bytes takes latency_s + n / Bps. */
struct link_speed {
    double latency_s, Bps;
};

/* The parts of a step, from which arrange_step_s() predicts its seconds: stages compute
 * microbatches and send activations and gradients, then sum gradients within a stage and over the
 * ends, and update. */
struct arrange_times {
    int stages, microbatches;
    const double *stage_s;           /* [stages] of a microbatch */
    double microbatch_bytes;         /* of one replica's activations, each way */
    double inside_bytes, ends_bytes; /* that one rank sends in sums */
    int inside_messages;             /* of inside_bytes, one after the other */
    double update_s;                 /* of the stage where it takes longest */
    struct link_speed inside, across;
};
double arrange_step_s(const struct arrange_times *times);

#endif
