/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MODEL_H
#define MUSTER_MODEL_H

#include "trainer/model/layer.h"

/* A whole GPT-2 on one device: its activations, and the walk through its units. */

struct model;

/* Allocates what a batch of that geometry needs (geometry is copied, its shape and compute must
 * live as long). Returns 0, or -1 with err "needs N bytes". */
int model_create(const struct geometry *geometry, struct model **model, struct error *err);
void model_destroy(struct model *model);

/* One batch: inputs, targets (batch x time tokens), forward and backward. parameters and gradients
 * are shape_parameters() elements, unit after unit; gradients are added to. Returns the mean cross
 * entropy, whose gradient that is. */
double model_run(struct model *model, const int32_t *inputs, const int32_t *targets,
                 const real *parameters, real *gradients);

#endif
