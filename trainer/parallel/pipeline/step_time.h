/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STEP_TIME_H
#define MUSTER_STEP_TIME_H

/* How long a step takes, from what its parts take. Pure. */

/* A message of n bytes takes latency_s + n / Bps. */
struct link_speed {
    double latency_s, Bps;
};

/* Predicted seconds of a step. Each stage's time for a microbatch, the bytes that go each way with
 * it, what is summed over the stages' ranks, in messages of which so many wait for each other, and
 * over the ends, the links, and the update. */
struct arrange_times {
    int stages, microbatches;
    const double *stage_s;           /* stages */
    double microbatch_bytes;         /* activations of one, of one replica */
    double inside_bytes, ends_bytes; /* that one rank sends */
    int inside_messages;
    double update_s; /* of the stage where it takes longest */
    struct link_speed inside, across;
};
double arrange_step_s(const struct arrange_times *times);

#endif
