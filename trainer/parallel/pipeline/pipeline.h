/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PIPELINE_H
#define MUSTER_PIPELINE_H

#include "trainer/comm/comm.h"
#include "trainer/model/model.h"
#include "trainer/parallel/pipeline/placement.h"

/* One rank's stage of a model. It computes the sequences of its replica in microbatches, in the
 * order of schedule.h; receives activations from the stage before and gradients from the one
 * behind, and sends its own. A pipeline of one stage sends nothing. */

struct pipeline;

struct pipeline_options {
    const struct shape *shape;
    const struct compute *compute;
    const struct placement *placement; /* must live as long, as shape and compute */
    int batch;                         /* sequences of a step */
    int microbatches;                  /* of each replica */
};

/* Returns the sequences of the largest microbatch of any replica. */
int pipeline_most_rows(const struct pipeline_options *options);

/* Bytes that a rank has sent, and seconds that it has waited. */
struct pipeline_traffic {
    uint64_t forward, backward; /* activations to the next stage, gradients to the one before */
    uint64_t ends;              /* between the first and the last stage: the gradient of the ends */
    uint64_t inside;            /* within the stage's island */
    double waited_s;
};

/* Creates this rank's stage, with memory for activations. Collective over the communicator, which
 * must live as long. Returns 0, or -1 with err on all ranks. */
int pipeline_create(const struct pipeline_options *options, struct comm *comm,
                    struct pipeline **pipeline, struct error *err);
void pipeline_destroy(struct pipeline *pipeline);

/* Return this rank's stage; the ranks with the same stage, for a shard; the number of this rank's
 * sequences of a batch, from *first on. */
const struct stage *pipeline_stage(const struct pipeline *pipeline);
struct comm *pipeline_island(const struct pipeline *pipeline);
int pipeline_rows(const struct pipeline *pipeline, int *first);

/* Runs forward, and backward if trains, for this rank's sequences (rows x context tokens). scale: 1
 * / all rows of the step. Returns this rank's part of the loss: that of its sequences on the last
 * stage, 0 on others. Collective. */
double pipeline_walk(struct pipeline *pipeline, const struct store *store, const int32_t *inputs,
                     const int32_t *targets, double scale, bool trains);

/* Called when the gradients of each stage have been summed over its island. Sums the gradient of
 * the ends (unit 0; other stages may pass NULL) over the first and the last stage. Each rank sums
 * its part with its peer, so that no more than the ends' size crosses each way. Collective. */
void pipeline_tie(struct pipeline *pipeline, real *ends);

/* Return bytes of activations, bytes of the buffer of pipeline_tie(), and traffic so far. */
size_t pipeline_activation_bytes(const struct pipeline *pipeline);
size_t pipeline_buffer_bytes(const struct pipeline *pipeline);
struct pipeline_traffic pipeline_traffic(const struct pipeline *pipeline);

#endif
