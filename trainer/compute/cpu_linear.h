/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CPU_LINEAR_H
#define MUSTER_CPU_LINEAR_H

#include "trainer/compute/compute.h"

/* compute_cpu's linear layers, by oneDNN or the BLAS library. */
void cpu_linear(const struct linear *linear, const activations *in, activations *out);
void cpu_linear_real(const struct linear *linear, const activations *in, real *out);
void cpu_linear_backward_in(const struct linear *linear, const activations *dout, activations *din);
void cpu_linear_backward_weight(const struct linear *linear, const activations *dout,
                                const activations *in, bool is_added, real *dweight);

#endif
