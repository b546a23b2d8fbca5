/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SCHEDULE_1F1B_H
#define MUSTER_SCHEDULE_1F1B_H

/* The order of a stage's work in a pipeline that holds few microbatches at a time, 1F1B (Narayanan
 * et al.: PipeDream, SOSP'19; its flushing form: Memory-efficient pipeline-parallel DNN training,
 * ICML 2021): forwards until the first gradient can come back, then one backward and one forward in
 * turn, and at the end the remaining backwards. Pure. */

struct pipeline_action {
    enum { PIPELINE_FORWARD, PIPELINE_BACKWARD } kind;
    int microbatch;
};

/* Returns the most microbatches of which a stage (0 ... stages - 1) has done the forward and not
 * yet the backward. */
int schedule_held(int stage, int stages, int microbatches);

/* Fills actions, 2 x microbatches of them. */
void schedule_fill(int stage, int stages, int microbatches, struct pipeline_action *actions);

#endif
