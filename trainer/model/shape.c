/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/shape.h"

#include <string.h>

const struct tensor_kind tensor_kinds[TENSOR_COUNT] = {
    [WTE] = {"wte", UNIT_ENDS, START_DRAWN, true},
    [WPE] = {"wpe", UNIT_ENDS, START_DRAWN, false},
    [LN1W] = {"ln1w", UNIT_LAYER, START_ONE, false},
    [LN1B] = {"ln1b", UNIT_LAYER, START_ZERO, false},
    [QKVW] = {"qkvw", UNIT_LAYER, START_DRAWN, true},
    [QKVB] = {"qkvb", UNIT_LAYER, START_ZERO, false},
    [ATTPROJW] = {"attprojw", UNIT_LAYER, START_DRAWN_RESIDUAL, true},
    [ATTPROJB] = {"attprojb", UNIT_LAYER, START_ZERO, false},
    [LN2W] = {"ln2w", UNIT_LAYER, START_ONE, false},
    [LN2B] = {"ln2b", UNIT_LAYER, START_ZERO, false},
    [FCW] = {"fcw", UNIT_LAYER, START_DRAWN, true},
    [FCB] = {"fcb", UNIT_LAYER, START_ZERO, false},
    [FCPROJW] = {"fcprojw", UNIT_LAYER, START_DRAWN_RESIDUAL, true},
    [FCPROJB] = {"fcprojb", UNIT_LAYER, START_ZERO, false},
    [LNFW] = {"lnfw", UNIT_ENDS, START_ONE, false},
    [LNFB] = {"lnfb", UNIT_ENDS, START_ZERO, false},
};

bool shape_named(const char *name, struct shape *shape)
{
    static const struct {
        const char *name;
        int layers, heads, channels;
    } sizes[] = {
        {"124M", 12, 12, 768},
        {"350M", 24, 16, 1024},
        {"774M", 36, 20, 1280},
        {"1558M", 48, 25, 1600},
    };

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (strcmp(name, sizes[i].name) == 0) {
            *shape =
                (struct shape){sizes[i].layers, sizes[i].heads, sizes[i].channels, 1024, 50257};
            return true;
        }
    }
    return false;
}

int shape_check(const struct shape *shape, struct error *err)
{
    if (shape->layers < 1 || shape->heads < 1 || shape->channels < 1 || shape->context < 1 ||
        shape->vocabulary < 2)
        return error_set(err,
                         "layers, heads, channels and context must be at least 1, vocab at least "
                         "2; found %d, %d, %d, %d, %d",
                         shape->layers, shape->heads, shape->channels, shape->context,
                         shape->vocabulary);
    if (shape->channels % shape->heads)
        return error_set(err, "channels must be a multiple of heads, found %d and %d",
                         shape->channels, shape->heads);
    return 0;
}

size_t shape_tensor_size(const struct shape *shape, enum tensor tensor)
{
    size_t channels = (size_t)shape->channels;

    switch (tensor) {
    case WTE:
        return (size_t)shape->vocabulary * channels;
    case WPE:
        return (size_t)shape->context * channels;
    case QKVW:
        return 3 * channels * channels;
    case QKVB:
        return 3 * channels;
    case ATTPROJW:
        return channels * channels;
    case FCW:
    case FCPROJW:
        return 4 * channels * channels;
    case FCB:
        return 4 * channels;
    default:
        return channels;
    }
}

bool shape_unit_has(const struct shape *shape, int unit, enum tensor tensor)
{
    return tensor_kinds[tensor].unit == UNIT_ENDS ? unit == 0 : unit > 0 && unit <= shape->layers;
}

int shape_units(const struct shape *shape)
{
    return shape->layers + 1;
}

size_t shape_unit_size(const struct shape *shape, int unit)
{
    size_t size = 0;

    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        if (shape_unit_has(shape, unit, tensor))
            size += shape_tensor_size(shape, tensor);
    return size;
}

size_t shape_unit_offset(const struct shape *shape, int unit)
{
    if (unit == 0)
        return 0;
    return shape_unit_size(shape, 0) + (size_t)(unit - 1) * shape_unit_size(shape, 1);
}

size_t shape_parameters(const struct shape *shape)
{
    return shape_unit_offset(shape, shape_units(shape) - 1) +
           shape_unit_size(shape, shape_units(shape) - 1);
}

size_t shape_tensor_offset(const struct shape *shape, enum tensor tensor)
{
    size_t offset = 0;

    for (int before = 0; before < (int)tensor; before++)
        if (tensor_kinds[before].unit == tensor_kinds[tensor].unit)
            offset += shape_tensor_size(shape, before);
    return offset;
}
