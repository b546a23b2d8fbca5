/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/parallel/guard.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "trainer/optimizer/adamw.h"

struct guard {
    const struct shard *shard;
    const struct shape *shape;
    const struct store *inner;
    struct store store;
    bool is_summed;
    real **gradients; /* of each unit, as they were given */
    int bad_unit, bad_tensor;
    int injected_unit, injected_tensor; /* -1: none */
};

static const real *parameters(void *context, int unit)
{
    struct guard *guard = context;

    return guard->inner->parameters(guard->inner->context, unit);
}

static void release(void *context, int unit)
{
    struct guard *guard = context;

    guard->inner->release(guard->inner->context, unit);
}

static real *gradients(void *context, int unit)
{
    struct guard *guard = context;

    guard->gradients[unit] = guard->inner->gradients(guard->inner->context, unit);
    return guard->gradients[unit];
}

static double tensor_squares(const struct guard *guard, int unit, int tensor)
{
    return adamw_squares(guard->gradients[unit] + shape_tensor_offset(guard->shape, tensor),
                         shape_tensor_size(guard->shape, tensor));
}

static void look(struct guard *guard, int unit)
{
    if (isfinite(adamw_squares(guard->gradients[unit], shape_unit_size(guard->shape, unit))))
        return;
    guard->bad_unit = unit;
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        if (shape_unit_has(guard->shape, unit, tensor) &&
            !isfinite(tensor_squares(guard, unit, tensor))) {
            guard->bad_tensor = tensor;
            return;
        }
    }
}

static void complete(void *context, int unit)
{
    struct guard *guard = context;

    if (unit == guard->injected_unit) {
        guard->gradients[unit][shape_tensor_offset(guard->shape, guard->injected_tensor)] =
            (real)NAN;
        guard->injected_unit = -1;
    }
    if (guard->is_summed)
        look(guard, unit);
    guard->inner->complete(guard->inner->context, unit);
}

static void progress(void *context)
{
    struct guard *guard = context;

    guard->inner->progress(guard->inner->context);
}

struct guard *guard_create(const struct shard *shard, bool is_summed, struct error *err)
{
    const struct shape *shape = shard->options.shape;
    struct guard *guard = calloc(1, sizeof *guard);

    if (!guard || !(guard->gradients = calloc((size_t)shape_units(shape), sizeof(real *)))) {
        free(guard);
        error_set(err, "out of memory: %m");
        return NULL;
    }
    guard->shard = shard;
    guard->is_summed = is_summed;
    guard->shape = shape;
    guard->inner = &shard->store;
    guard->store = (struct store){parameters, release, gradients, complete, progress, guard};
    guard->injected_unit = -1;
    guard_begin(guard);
    return guard;
}

void guard_destroy(struct guard *guard)
{
    if (!guard)
        return;
    free(guard->gradients);
    free(guard);
}

const struct store *guard_store(const struct guard *guard)
{
    return &guard->store;
}

void guard_begin(struct guard *guard)
{
    guard->bad_unit = guard->bad_tensor = -1;
}

/* In what the shard has: backward completes unit 0 last, and the layers from the last one on. */
static void search(const struct guard *guard, int32_t *unit, int32_t *tensor)
{
    const struct shard *shard = guard->shard;

    for (int of = 0; of < shape_units(guard->shape); of++)
        for (int kind = 0; kind < TENSOR_COUNT; kind++)
            if (shape_unit_has(guard->shape, of, kind) &&
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
