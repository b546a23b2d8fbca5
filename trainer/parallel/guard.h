/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GUARD_H
#define MUSTER_GUARD_H

#include "trainer/parallel/strategy.h"

/* Stands between the model and what holds its gradients, and looks at those of this rank before
 * they are summed with the others': afterwards nobody could tell whose were no numbers. Where no
 * others' are added the gradient's norm, which each step takes anyway, tells as much, and nothing
 * is read a second time. It also injects faults, for tests of what finds them. */

struct guard {
    const struct shard *shard;
    bool is_summed;                     /* other ranks' gradients are added to this one's */
    int injected_unit, injected_tensor; /* -1: none */
    int bad_unit, bad_tensor;           /* in this step; -1: none */
};

/* Before a step: the shard's store, at whose gradients the guard looks. */
struct store guard_begin(struct guard *guard);

/* After it, when the shard has finished. squares: of the gradient that it has then. The first
 * tensor, in the order of enum tensor, of the last unit completed whose gradient is not finite; -1
 * both: all are. */
void guard_found(const struct guard *guard, double squares, int32_t *unit, int32_t *tensor);

/* The next gradient of that unit and tensor gets a NaN. */
void guard_inject(struct guard *guard, int unit, enum tensor tensor);

#endif
