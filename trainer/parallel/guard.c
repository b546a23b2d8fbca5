/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/guard.h"

#include <math.h>

#include "trainer/optimizer/adamw.h"

static void find_bad(struct guard *guard, int unit, const real *gradients)
{
    const struct shape *shape = guard->shard->options.shape;

    if (isfinite(adamw_squares(gradients, shape_unit_size(shape, unit))))
        return;
    guard->bad_unit = unit;
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        if (shape_unit_has(shape, unit, tensor) &&
            !isfinite(adamw_squares(gradients + shape_tensor_offset(shape, tensor),
                                    shape_tensor_size(shape, tensor)))) {
            guard->bad_tensor = tensor;
            return;
        }
    }
}

static void check_gradients(void *context, int unit, real *gradients)
{
    struct guard *guard = context;

    if (unit == guard->injected_unit) {
        gradients[shape_tensor_offset(guard->shard->options.shape, guard->injected_tensor)] =
            (real)NAN;
        guard->injected_unit = -1;
    }
    if (guard->is_summed)
        find_bad(guard, unit, gradients);
}

struct store guard_begin(struct guard *guard)
{
    struct store store = guard->shard->store;

    guard->bad_unit = guard->bad_tensor = -1;
    store.check_gradients = check_gradients;
    store.check_context = guard;
    return store;
}

/* Searches the shard's gradients, the last unit completed first: backward completes the layers from
 * the last one on, and unit 0 at the end. */
static void search(const struct guard *guard, int32_t *unit, int32_t *tensor)
{
    const struct shard *shard = guard->shard;
    const struct shape *shape = shard->options.shape;

    for (int of = 0; of < shape_units(shape); of++)
        for (int kind = 0; kind < TENSOR_COUNT; kind++)
            if (shape_unit_has(shape, of, kind) &&
                !isfinite(shard->strategy->squares(shard, of, kind))) {
                *unit = of;
                *tensor = kind;
                return;
            }
}

void guard_found(const struct guard *guard, double squares, int32_t *unit, int32_t *tensor)
{
    *unit = guard->bad_unit;
    *tensor = guard->bad_tensor;
    if (!guard->is_summed && !isfinite(squares))
        search(guard, unit, tensor);
}

void guard_inject(struct guard *guard, int unit, enum tensor tensor)
{
    guard->injected_unit = unit;
    guard->injected_tensor = (int)tensor;
}
