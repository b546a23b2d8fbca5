/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GUARD_H
#define MUSTER_GUARD_H

#include "trainer/parallel/strategy.h"

/* Checks this rank's gradients before they are summed with those of other ranks: afterwards nobody
 * could tell whose were not finite. If no others are added, the gradient's norm, which each step
 * computes anyway, is enough, and nothing is read a second time. It also injects faults, for tests
 * of their detection. */

struct guard {
    const struct shard *shard;
    bool is_summed;                     /* other ranks' gradients are added to this one's */
    int injected_unit, injected_tensor; /* -1: none */
    int bad_unit, bad_tensor;           /* in this step; -1: none */
};

/* Called before a step. Returns the shard's store with the guard's check of gradients. */
struct store guard_begin(struct guard *guard);

/* Called after a step, when the shard has finished. squares: of the gradient that it has then. Sets
 * unit to the last unit completed whose gradient is not finite, and tensor to its first such tensor
 * in the order of enum tensor; both to -1 if all are finite. */
void guard_found(const struct guard *guard, double squares, int32_t *unit, int32_t *tensor);

/* Puts a NaN into the next gradient of that unit and tensor. */
void guard_inject(struct guard *guard, int unit, enum tensor tensor);

#endif
