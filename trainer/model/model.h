/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MODEL_H
#define MUSTER_MODEL_H

#include "trainer/model/layer.h"
#include "trainer/model/stage.h"
#include "trainer/model/store.h"

/* A GPT-2, or a stage of one, on one device: its activations, and the walk through its units. */

struct model;

/* A batch goes through as one or more microbatches, numbered from 0. */
struct model_options {
    struct geometry geometry; /* of the largest microbatch; copied, as the stage is; its shape and
                                 compute must live as long. batch may be 0: a rank without sequences
                                 goes through the same units all the same. */
    struct stage stage;
    int held; /* the most microbatches whose forward is done and backward is not */
};

/* Allocates a model. Returns 0, or -1 with err. */
int model_create(const struct model_options *options, struct model **model, struct error *err);
void model_destroy(struct model *model);

/* Returns the bytes that the model takes. */
size_t model_bytes(const struct model_options *options);

/* Activations at a stage's two ends, rows x channels each, to exchange with neighbors: the input of
 * a microbatch (its buffer is free when the backward of microbatch number - held is done), the
 * output, and the gradient, which is received for the output and sent for the input. The buffers of
 * output and gradient are used again two microbatches later. */
activations *model_in(const struct model *model, int microbatch);
activations *model_out(const struct model *model, int microbatch);
activations *model_gradient(const struct model *model, int microbatch);

/* The sequences of a walk. The first stage reads inputs, the last one targets: batch x context
 * tokens each. scale: the factor of a row's cross entropy (1 / rows of all ranks and microbatches
 * for their mean). */
struct microbatch {
    int number, batch;
    const int32_t *inputs, *targets;
    double scale;
    bool trains; /* a backward will follow */
    bool is_end; /* ... the step's last: gradients are complete */
};

/* Runs forward; if it trains the last stage begins the backward, too. Returns scale x the sum of
 * the rows' losses, 0 on other stages. */
double model_forward(struct model *model, const struct store *store,
                     const struct microbatch *microbatch);
/* Runs backward. Microbatch 0 sets gradients, the others add to them. */
void model_backward(struct model *model, const struct store *store,
                    const struct microbatch *microbatch);

#endif
