/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/values.h"

#include <string.h>

#include "collectives/precision/precision.h"
#include "validate/harness/pattern.h"

static const struct {
    const char *name;
    enum element_type element;
    enum wire_format wire;
    int64_t most;   /* the greatest magnitude that a partial result may have */
    bool has_steps; /* only 0 and `most` are exact, with either sign */
    bool is_unsigned;
} types[TYPE_COUNT] = {
    [TYPE_INT8] = {"int8", ELEMENT_INT8, WIRE_AS_IS, INT8_MAX},
    [TYPE_UINT8] = {"uint8", ELEMENT_UINT8, WIRE_AS_IS, UINT8_MAX, .is_unsigned = true},
    [TYPE_INT16] = {"int16", ELEMENT_INT16, WIRE_AS_IS, INT16_MAX},
    [TYPE_UINT16] = {"uint16", ELEMENT_UINT16, WIRE_AS_IS, UINT16_MAX, .is_unsigned = true},
    [TYPE_INT32] = {"int32", ELEMENT_INT32, WIRE_AS_IS, INT32_MAX},
    [TYPE_UINT32] = {"uint32", ELEMENT_UINT32, WIRE_AS_IS, UINT32_MAX, .is_unsigned = true},
    [TYPE_INT64] = {"int64", ELEMENT_INT64, WIRE_AS_IS, INT32_MAX},
    [TYPE_UINT64] = {"uint64", ELEMENT_UINT64, WIRE_AS_IS, UINT32_MAX, .is_unsigned = true},
    [TYPE_FLOAT] = {"float", ELEMENT_FP32, WIRE_AS_IS, 1 << 24},
    [TYPE_DOUBLE] = {"double", ELEMENT_FP64, WIRE_AS_IS, 1LL << 53},
    [TYPE_FP16] = {"fp16", ELEMENT_FP16, WIRE_AS_IS, 1 << 11},
    [TYPE_BF16] = {"bf16", ELEMENT_BF16, WIRE_AS_IS, 1 << 8},
    [TYPE_FLOAT_AS_BF16] = {"float as bf16", ELEMENT_FP32, WIRE_BF16, 1 << 8},
    [TYPE_FLOAT_AS_FP16] = {"float as fp16", ELEMENT_FP32, WIRE_FP16, 1 << 11},
    [TYPE_FLOAT_AS_E4M3] = {"float as e4m3", ELEMENT_FP32, WIRE_E4M3, 1 << 4},
    [TYPE_FLOAT_AS_E5M2] = {"float as e5m2", ELEMENT_FP32, WIRE_E5M2, 1 << 3},
    [TYPE_FLOAT_AS_INT8] = {"float as int8", ELEMENT_FP32, WIRE_INT8, 127, true},
    [TYPE_FLOAT_CODED] = {"float coded", ELEMENT_FP32, WIRE_LOSSLESS, 1 << 24},
    [TYPE_FP16_CODED] = {"fp16 coded", ELEMENT_FP16, WIRE_LOSSLESS, 1 << 11},
    [TYPE_BF16_CODED] = {"bf16 coded", ELEMENT_BF16, WIRE_LOSSLESS, 1 << 8},
};

const char *value_type_name(enum value_type type)
{
    return types[type].name;
}

enum element_type value_element(enum value_type type)
{
    return types[type].element;
}

enum wire_format value_wire(enum value_type type)
{
    return types[type].wire;
}

bool value_op_applies(enum value_type type, enum reduce_op op)
{
    return reduce_applies(types[type].element, op) &&
           (op != REDUCE_PRODUCT || !types[type].has_steps);
}

/* A number from -most to most, from 0 for types without a sign. */
static int64_t within(enum value_type type, uint64_t word, int64_t most)
{
    if (types[type].has_steps)
        return ((int64_t)(word % 3) - 1) * types[type].most;
    if (types[type].is_unsigned)
        return (int64_t)(word % (uint64_t)(most + 1));
    return (int64_t)(word % (uint64_t)(2 * most + 1)) - most;
}

static uint64_t word_of(uint64_t seed, int from, int to, size_t i)
{
    return pattern_mix(seed << 32 ^ (uint64_t)(uint32_t)from << 16 ^ (uint64_t)(uint32_t)to, i);
}

int64_t value_moved(enum value_type type, uint64_t seed, int from, int to, size_t i)
{
    return within(type, word_of(seed, from, to, i), types[type].most);
}

int64_t value_contributed(enum value_type type, enum reduce_op op, uint64_t seed, int rank,
                          int size, size_t i)
{
    uint64_t word = word_of(seed, rank, 0, i);
    int64_t most = types[type].most / size;

    switch (op) {
    case REDUCE_SUM:
        if (types[type].has_steps) /* of one rank alone, or sums would have another magnitude */
            return (int)(i % (size_t)size) == rank % size ? within(type, word, most) : 0;
        return within(type, word, most > 0 ? most : rank < types[type].most);
    case REDUCE_PRODUCT: /* one rank has a 3, the rest 1 or -1 */
        if ((int)(i % (size_t)size) == rank % size)
            return 3;
        return !types[type].is_unsigned && word & 1 ? -1 : 1;
    case REDUCE_LAND: /* mostly true, so that the result is not always false */
        return word % (uint64_t)(2 * size) != 0;
    case REDUCE_LOR:
        return word % (uint64_t)(2 * size) == 0;
    default:
        return within(type, word, types[type].most);
    }
}

int64_t value_damaged(enum value_type type, int64_t value)
{
    int64_t other = value ^ 1, most = types[type].most;

    if (types[type].has_steps)
        return value != 0 ? 0 : most;
    if (other > most)
        return value - 1;
    return other < -most ? value + 1 : other;
}

/* Returns the number as the type holds it. */
static int64_t narrow(enum value_type type, int64_t value)
{
    char buffer[8];

    value_put(type, buffer, 0, value);
    return value_get(type, buffer, 0);
}

int64_t value_combine(enum value_type type, enum reduce_op op, int64_t a, int64_t b)
{
    switch (op) {
    case REDUCE_SUM:
        return narrow(type, (int64_t)((uint64_t)a + (uint64_t)b));
    case REDUCE_PRODUCT:
        return narrow(type, (int64_t)((uint64_t)a * (uint64_t)b));
    case REDUCE_MIN:
        return a < b ? a : b;
    case REDUCE_MAX:
        return a > b ? a : b;
    case REDUCE_BAND:
        return narrow(type, a & b);
    case REDUCE_BOR:
        return narrow(type, a | b);
    case REDUCE_BXOR:
        return narrow(type, a ^ b);
    case REDUCE_LAND:
        return a && b;
    case REDUCE_LOR:
        return a || b;
    default:
        return 0;
    }
}

void number_put(enum element_type type, void *buffer, size_t i, double value)
{
    char *at = (char *)buffer + i * element_bytes(type);
    float narrow = (float)value;

    if (type == ELEMENT_FP64)
        memcpy(at, &value, sizeof value);
    else if (type == ELEMENT_FP32)
        memcpy(at, &narrow, sizeof narrow);
    else
        precision_narrow(type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, &narrow, 1, at);
}

double number_get(enum element_type type, const void *buffer, size_t i)
{
    const char *at = (const char *)buffer + i * element_bytes(type);
    double value;
    float narrow;

    if (type == ELEMENT_FP64) {
        memcpy(&value, at, sizeof value);
        return value;
    }
    if (type == ELEMENT_FP32)
        memcpy(&narrow, at, sizeof narrow);
    else
        precision_widen(type == ELEMENT_BF16 ? PRECISION_BF16 : PRECISION_FP16, at, 1, &narrow);
    return (double)narrow;
}

/* Each integer type has its own line; X(enum, C type). */
#define EACH_INTEGER                                                                               \
    X(ELEMENT_INT8, int8_t)                                                                        \
    X(ELEMENT_UINT8, uint8_t)                                                                      \
    X(ELEMENT_INT16, int16_t)                                                                      \
    X(ELEMENT_UINT16, uint16_t)                                                                    \
    X(ELEMENT_INT32, int32_t)                                                                      \
    X(ELEMENT_UINT32, uint32_t)                                                                    \
    X(ELEMENT_INT64, int64_t)                                                                      \
    X(ELEMENT_UINT64, uint64_t)

void value_put(enum value_type type, void *buffer, size_t i, int64_t value)
{
    switch (types[type].element) {
#define X(name, c_type)                                                                            \
    case name: {                                                                                   \
        c_type narrowed = (c_type)value;                                                           \
        memcpy((char *)buffer + i * sizeof narrowed, &narrowed, sizeof narrowed);                  \
        break;                                                                                     \
    }
        EACH_INTEGER
#undef X
    default:
        number_put(types[type].element, buffer, i, (double)value);
    }
}

/* Returns the whole number, or INT64_MIN if it is none: a damaged floating-point number may be
 * anything. */
static int64_t whole(double value)
{
    return value > -9e18 && value < 9e18 && (double)(int64_t)value == value ? (int64_t)value
                                                                            : INT64_MIN;
}

int64_t value_get(enum value_type type, const void *buffer, size_t i)
{
    switch (types[type].element) {
#define X(name, c_type)                                                                            \
    case name: {                                                                                   \
        c_type value;                                                                              \
        memcpy(&value, (const char *)buffer + i * sizeof value, sizeof value);                     \
        return (int64_t)value;                                                                     \
    }
        EACH_INTEGER
#undef X
    default:
        return whole(number_get(types[type].element, buffer, i));
    }
}
