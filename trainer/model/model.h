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
    int held; /* microbatches whose forward is done and whose backward is not, at most */
};

/* Allocates what that needs. Returns 0, or -1 with err "needs N bytes". */
int model_create(const struct model_options *options, struct model **model, struct error *err);
void model_destroy(struct model *model);

/* Bytes that it takes. */
size_t model_bytes(const struct model_options *options);

/* Activations of a stage's two ends, rows x channels each, for neighbors that have the others:
 * what comes in for a microbatch (free again when the backward of that number less held is done),
 * what goes out, and the gradient, which comes in for what went out and goes out for what came in.
 * The places of the last two are used again two microbatches later. */
activations *model_in(const struct model *model, int microbatch);
activations *model_out(const struct model *model, int microbatch);
activations *model_gradient(const struct model *model, int microbatch);

/* The sequences of a walk. inputs are looked at by the first stage, targets by the last: batch x
 * time tokens. scale: what a row's cross entropy is multiplied with (1 / rows of all ranks and
 * microbatches for their mean). */
struct microbatch {
    int number, batch;
    const int32_t *inputs, *targets;
    double scale;
    bool trains; /* a backward will follow */
    bool is_end; /* ... the step's last: gradients are complete */
};

/* Forward; the last stage, where it trains, begins the backward too. Returns the sum of products of
 * loss and scale, 0 of other stages. */
double model_forward(struct model *model, const struct store *store,
                     const struct microbatch *microbatch);
/* Gradients are set by number 0, added to by the others. */
void model_backward(struct model *model, const struct store *store,
                    const struct microbatch *microbatch);

#endif
