/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/reduce/reduce.h"
#include "collectives/precision/precision.h"
#include "lib/base/parse_name.h"

static const struct {
    const char *name;
    size_t bytes;
    bool is_float;
} types[ELEMENT_TYPES] = {
    [ELEMENT_INT8] = {"int8", 1, false},   [ELEMENT_UINT8] = {"uint8", 1, false},
    [ELEMENT_INT16] = {"int16", 2, false}, [ELEMENT_UINT16] = {"uint16", 2, false},
    [ELEMENT_INT32] = {"int32", 4, false}, [ELEMENT_UINT32] = {"uint32", 4, false},
    [ELEMENT_INT64] = {"int64", 8, false}, [ELEMENT_UINT64] = {"uint64", 8, false},
    [ELEMENT_FP16] = {"fp16", 2, true},    [ELEMENT_BF16] = {"bf16", 2, true},
    [ELEMENT_FP32] = {"fp32", 4, true},    [ELEMENT_FP64] = {"fp64", 8, true},
};

static const struct {
    const char *name;
    bool takes_float;
} ops[REDUCE_OPS] = {
    [REDUCE_SUM] = {"sum", true},         [REDUCE_MIN] = {"min", true},
    [REDUCE_MAX] = {"max", true},         [REDUCE_PRODUCT] = {"product", true},
    [REDUCE_AVERAGE] = {"average", true}, [REDUCE_BAND] = {"band", false},
    [REDUCE_BOR] = {"bor", false},        [REDUCE_BXOR] = {"bxor", false},
    [REDUCE_LAND] = {"land", false},      [REDUCE_LOR] = {"lor", false},
    [REDUCE_LXOR] = {"lxor", false},
};

size_t element_bytes(enum element_type type)
{
    return types[type].bytes;
}

const char *element_name(enum element_type type)
{
    return types[type].name;
}

PARSE_NAME(element_parse, enum element_type, element_name, ELEMENT_TYPES)

bool element_is_float(enum element_type type)
{
    return types[type].is_float;
}

const char *reduce_name(enum reduce_op op)
{
    return ops[op].name;
}

bool reduce_applies(enum element_type type, enum reduce_op op)
{
    return ops[op].takes_float || !types[type].is_float;
}

/* wide: a narrow type may not hold the divisor. */
#define CASE_DIVIDE(TYPE, type, wide)                                                              \
    case TYPE:                                                                                     \
        for (size_t i = 0; i < count; i++)                                                         \
            ((type *)data)[i] = (type)((wide)((type *)data)[i] / (wide)divisor);                   \
        break;

static void divide_halves(enum precision precision, uint16_t *data, size_t count, float divisor)
{
    enum { SOME = 512 };
    float wide[SOME];

    for (size_t begin = 0; begin < count; begin += SOME) {
        size_t some = count - begin < SOME ? count - begin : SOME;

        precision_widen(precision, data + begin, some, wide);
        for (size_t i = 0; i < some; i++)
            wide[i] /= divisor;
        precision_narrow(precision, wide, some, data + begin);
    }
}

void reduce_divide(enum element_type type, void *data, size_t count, unsigned divisor)
{
    switch (type) {
        CASE_DIVIDE(ELEMENT_INT8, int8_t, int64_t)
        CASE_DIVIDE(ELEMENT_UINT8, uint8_t, uint64_t)
        CASE_DIVIDE(ELEMENT_INT16, int16_t, int64_t)
        CASE_DIVIDE(ELEMENT_UINT16, uint16_t, uint64_t)
        CASE_DIVIDE(ELEMENT_INT32, int32_t, int64_t)
        CASE_DIVIDE(ELEMENT_UINT32, uint32_t, uint64_t)
        CASE_DIVIDE(ELEMENT_INT64, int64_t, int64_t)
        CASE_DIVIDE(ELEMENT_UINT64, uint64_t, uint64_t)
        CASE_DIVIDE(ELEMENT_FP32, float, float)
        CASE_DIVIDE(ELEMENT_FP64, double, double)
    case ELEMENT_FP16:
        divide_halves(PRECISION_FP16, data, count, (float)divisor);
        break;
    case ELEMENT_BF16:
        divide_halves(PRECISION_BF16, data, count, (float)divisor);
        break;
    default:
        break;
    }
}
