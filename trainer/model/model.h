/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MODEL_H
#define MUSTER_MODEL_H

#include "trainer/model/layer.h"
#include "trainer/model/stage.h"

/* A GPT-2, or a stage of one, on one device: its activations, and the walk through its units. */

/* Where the walk gets a unit's parameters and leaves their gradients: whole arrays of
 * shape_unit_size() elements. What is behind it may gather them from other ranks, free them, and
 * send gradients off as soon as they are complete. The order of calls is the same in each walk:
 * forward units 0, 1 ... layers, 0 for the head; backward layers ... 1. */
struct store {
    /* Valid until they are released. */
    const real *(*parameters)(void *context, int unit);
    void (*release)(void *context, int unit);
    /* The first walk of a step sets them, whatever they were, the others add to them. Valid until
     * they are completed. */
    real *(*gradients)(void *context, int unit);
    /* In the last walk of a step. */
    void (*complete)(void *context, int unit);
    void *context;
};

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

/* Activations of a stage's two ends, rows x channels each, for neighbours that have the others:
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
