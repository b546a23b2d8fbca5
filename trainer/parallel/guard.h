/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GUARD_H
#define MUSTER_GUARD_H

#include "trainer/model/model.h"

/* Stands between the model and what holds its gradients, and looks at those of this rank before
 * they are summed with the others': afterwards nobody could tell whose were no numbers. It also
 * plants faults, for tests of what finds them. */

struct guard;

struct guard *guard_create(const struct shape *shape, const struct store *store, struct error *err);
void guard_destroy(struct guard *guard);

/* For model_train(). */
const struct store *guard_store(const struct guard *guard);

/* Before a step. */
void guard_begin(struct guard *guard);

/* The first tensor, in the order of enum tensor, of the last unit completed whose gradient is not
 * finite; -1 both: all are. */
void guard_found(const struct guard *guard, int32_t *unit, int32_t *tensor);

/* The next gradient of that unit and tensor gets a NaN. */
void guard_plant(struct guard *guard, int unit, enum tensor tensor);

#endif
