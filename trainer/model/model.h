/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MODEL_H
#define MUSTER_MODEL_H

#include "trainer/model/layer.h"

/* A GPT-2, or a stage of one, on one device: its activations, and the walk through its units. */

/* Where the walk gets a unit's parameters and leaves their gradients: whole arrays of
 * shape_unit_size() elements. What is behind it may gather them from other ranks, free them, and
 * send gradients off as soon as they are complete. The order of calls is the same in each walk:
 * forward units 0, 1 ... layers, 0 for the head; backward layers ... 1. */
struct store {
    /* Valid until they are released. */
    const real *(*parameters)(void *context, int unit);
    void (*release)(void *context, int unit);
    /* To be added to; zeros in the first walk of a step. Valid until they are completed. */
    real *(*gradients)(void *context, int unit);
    void (*complete)(void *context, int unit);
    void *context;
};

struct model;

/* Allocates what a batch of that geometry needs (geometry is copied, its shape and compute must
 * live as long). batch may be 0: a rank without sequences goes through the same units all the same.
 * Returns 0, or -1 with err "needs N bytes". */
int model_create(const struct geometry *geometry, struct model **model, struct error *err);
void model_destroy(struct model *model);

/* Bytes that it takes. */
size_t model_bytes(const struct geometry *geometry);

/* One batch, forward: inputs, targets (batch x time tokens). scale: what a row's cross entropy is
 * multiplied with (1 / rows of all ranks for their mean). Returns the sum of these products. */
double model_evaluate(struct model *model, const struct store *store, const int32_t *inputs,
                      const int32_t *targets, double scale);

/* The same, and backward: gradients are added to. */
double model_train(struct model *model, const struct store *store, const int32_t *inputs,
                   const int32_t *targets, double scale);

#endif
