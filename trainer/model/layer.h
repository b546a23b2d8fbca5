/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LAYER_H
#define MUSTER_LAYER_H

#include "trainer/compute/compute.h"
#include "trainer/model/shape.h"
#include "trainer/model/store.h"

/* One transformer layer, forward and backward: x + attention(norm(x)), then + mlp(norm(.)). Its
 * unit's parameters are arguments; it keeps no state. */

/* What backward needs of forward, for rows = batch x context. The outputs of the norms and of GELU
 * are computed again instead. */
struct saved {
    activations *in;       /* rows x channels */
    real *mean1, *rstd1;   /* rows */
    activations *qkv;      /* rows x 3 channels */
    activations *attended; /* rows x channels */
    real *sums;            /* batch x heads x context */
    activations *middle;   /* rows x channels: behind attention */
    real *mean2, *rstd2;   /* rows */
    activations *hidden;   /* rows x 4 channels, before GELU */
};

/* Working memory of one layer at a time. */
struct scratch {
    activations *normed; /* rows x channels */
    activations *wide;   /* rows x 4 channels */
    activations *dwide;  /* rows x 4 channels */
    activations *narrow; /* rows x channels */
};

struct geometry {
    const struct shape *shape;
    const struct compute *compute;
    int batch; /* sequences of shape->context tokens */
};

/* Returns batch x context. */
size_t row_count(const struct geometry *geometry);

/* Return the bytes of count activations, and of count reals, rounded up so that the next array is
 * aligned to 64. */
size_t activations_bytes(const struct geometry *geometry, size_t count);
size_t reals_bytes(size_t count);

/* Return the bytes of `saved` and `scratch`, and set their pointers into that much memory, aligned
 * to 64. */
size_t saved_size(const struct geometry *geometry);
void saved_lay_out(const struct geometry *geometry, void *memory, struct saved *saved);
size_t scratch_size(const struct geometry *geometry);
void scratch_lay_out(const struct geometry *geometry, void *memory, struct scratch *scratch);

/* Sets the gradients of a unit to zero, except those of factors, which a product sets. */
void gradients_clear(const struct shape *shape, enum unit_kind unit, real *gradients);

/* saved->in is the input. out: rows x channels, the output. parameters: the unit's. store: only its
 * progress is called. */
void layer_forward(const struct geometry *geometry, const struct store *store,
                   const real *parameters, struct saved *saved, struct scratch *scratch,
                   activations *out);

/* d (rows x channels): the gradient of the output becomes that of the input. gradients (the unit's)
 * are added to if is_added, else set. */
void layer_backward(const struct geometry *geometry, const struct store *store,
                    const real *parameters, const struct saved *saved, struct scratch *scratch,
                    activations *d, bool is_added, real *gradients);

#endif
