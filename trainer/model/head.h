/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HEAD_H
#define MUSTER_HEAD_H

#include "trainer/model/layer.h"

/* The end of the model: final norm, product with wte, cross entropy; forward and backward in one,
 * some rows at a time, so that no more than HEAD_ROWS rows of logits exist at once. */

enum { HEAD_ROWS = 256 };

/* Returns the bytes of memory that head_run() needs. */
size_t head_size(const struct geometry *geometry);

/* in (rows x channels): the last layer's output. ends: parameters of that unit. losses (rows): each
 * row's cross entropy. The loss is scale x the sum of these (1 / rows for their mean). memory:
 * head_size() bytes, aligned to 64. d (rows x channels) is set to the gradient of in; dends, the
 * gradient of the whole unit, is added to if is_added, else set. Both NULL: only the losses. */
void head_run(const struct geometry *geometry, const activations *in, const int32_t *targets,
              real scale, const real *ends, void *memory, real *losses, activations *d,
              bool is_added, real *dends);

#endif
