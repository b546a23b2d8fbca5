/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/reduce/reduce.h"
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
    [REDUCE_SUM] = {"sum", true},    [REDUCE_MIN] = {"min", true},
    [REDUCE_MAX] = {"max", true},    [REDUCE_PRODUCT] = {"product", true},
    [REDUCE_BAND] = {"band", false}, [REDUCE_BOR] = {"bor", false},
    [REDUCE_BXOR] = {"bxor", false}, [REDUCE_LAND] = {"land", false},
    [REDUCE_LOR] = {"lor", false},   [REDUCE_LXOR] = {"lxor", false},
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
