/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PARAMETERS_H
#define MUSTER_PARAMETERS_H

#include <stdint.h>

#include "trainer/model/shape.h"

/* The initial weights: uniform in [-a, a) with a = 0.02 sqrt(3), whose standard
 * deviation is GPT-2's 0.02; for the two projections into the residual stream divided by sqrt(2
 * layers); norms 1, biases 0. Tensor after tensor in the order of enum tensor, each over all its
 * layers, one number of SplitMix64 per element. */

/* Sets values to elements [first, first + count) of the unit, so that a shard can be made alone. */
void parameters_fill(const struct shape *shape, uint64_t seed, int unit, size_t first, size_t count,
                     real *values);

#endif
