/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_FORECAST_H
#define MUSTER_FORECAST_H

#include <stdbool.h>

#include "trainer/parallel/pipeline/pipeline.h"

/* Forecasts the memory and traffic of each stage of a pipeline, before anything runs, for data
 * parallel stages (strategy ddp). With B sequences of T tokens, C channels of e bytes, D ranks per
 * stage, P bytes of the stage's parameters, E bytes of the ends:
 *
 *   state       4 P on each rank
 *   forward     B T C e from each stage but the last one to the next
 *   backward    the same from each but the first to the one before
 *   ends        E from the first stage to the last, and back
 *   inside      2 P (D - 1), the stage's gradients, and for the ends E (D - 1) more
 *
 * Traffic is that of all ranks of the stage in a step. */
struct forecast {
    struct stage stage;
    double state_bytes, buffer_bytes, activation_bytes; /* of a rank; activations: the largest's */
    double forward, backward, ends, inside;             /* bytes */
};

/* Fills stages: one forecast for each stage of options->placement. */
void forecast_make(const struct pipeline_options *options, struct forecast *stages);

#endif
