/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/parameters.h"

#include <math.h>

#include "lib/base/splitmix.h"

#define START_HALF_WIDTH 0.0346410161513775

/* Returns how many numbers are drawn before the tensor's part in that unit. */
static uint64_t drawn_before(const struct shape *shape, enum tensor tensor, int unit)
{
    uint64_t drawn = 0;

    for (int before = 0; before <= (int)tensor; before++) {
        size_t size = shape_tensor_size(shape, before);

        if (tensor_kinds[before].start < START_DRAWN)
            continue;
        if (before < (int)tensor)
            drawn += size * (tensor_kinds[before].unit == UNIT_LAYER ? (size_t)shape->layers : 1);
        else if (tensor_kinds[before].unit == UNIT_LAYER)
            drawn += size * (size_t)(unit - 1);
    }
    return drawn;
}

static real start_value(const struct shape *shape, enum tensor tensor, uint64_t seed,
                        uint64_t index)
{
    double width = START_HALF_WIDTH;

    if (tensor_kinds[tensor].start == START_ZERO)
        return 0;
    if (tensor_kinds[tensor].start == START_ONE)
        return 1;
    if (tensor_kinds[tensor].start == START_DRAWN_RESIDUAL)
        width /= sqrt(2.0 * shape->layers);
    /* a float even if real is double: the same weights */
    return (real)(float)(((double)(splitmix_at(seed, index) >> 40) / 16777216.0 - 0.5) * 2 * width);
}

void parameters_fill(const struct shape *shape, uint64_t seed, int unit, size_t first, size_t count,
                     real *values)
{
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        size_t begin = shape_tensor_offset(shape, tensor);
        size_t end = begin + shape_tensor_size(shape, tensor);
        uint64_t drawn;

        if (!shape_unit_has(shape, unit, tensor))
            continue;
        drawn = drawn_before(shape, tensor, unit);
        for (size_t i = begin > first ? begin : first; i < end && i < first + count; i++)
            values[i - first] = start_value(shape, tensor, seed, drawn + i - begin);
    }
}
