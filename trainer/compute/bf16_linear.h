/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BF16_LINEAR_H
#define MUSTER_BF16_LINEAR_H

#include "trainer/compute/compute.h"

/* compute_bf16's linear layers. */
void bf16_linear(const struct linear *linear, const activations *in, activations *out);
void bf16_linear_real(const struct linear *linear, const activations *in, real *out);
void bf16_linear_backward_in(const struct linear *linear, const activations *dout,
                             activations *din);
void bf16_linear_backward_weight(const struct linear *linear, const activations *dout,
                                 const activations *in, bool is_added, real *dweight);

#endif
