/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/values.h"

#include <math.h>
#include <string.h>

#include "validate/harness/pattern.h"

static const struct {
    const char *name;
    enum value_type stored; /* the type in memory */
    size_t size;
    bool is_signed, is_float;
    int64_t most;   /* the greatest magnitude that a partial result may have */
    bool has_steps; /* only 0 and `most` are exact, with either sign */
} types[TYPE_COUNT] = {
    [TYPE_INT8] = {"int8", TYPE_INT8, 1, true, false, INT8_MAX, false},
    [TYPE_UINT8] = {"uint8", TYPE_UINT8, 1, false, false, UINT8_MAX, false},
    [TYPE_INT16] = {"int16", TYPE_INT16, 2, true, false, INT16_MAX, false},
    [TYPE_UINT16] = {"uint16", TYPE_UINT16, 2, false, false, UINT16_MAX, false},
    [TYPE_INT32] = {"int32", TYPE_INT32, 4, true, false, INT32_MAX, false},
    [TYPE_UINT32] = {"uint32", TYPE_UINT32, 4, false, false, UINT32_MAX, false},
    [TYPE_INT64] = {"int64", TYPE_INT64, 8, true, false, INT32_MAX, false},
    [TYPE_UINT64] = {"uint64", TYPE_UINT64, 8, false, false, UINT32_MAX, false},
    [TYPE_FLOAT] = {"float", TYPE_FLOAT, 4, true, true, 1 << 24, false},
    [TYPE_DOUBLE] = {"double", TYPE_DOUBLE, 8, true, true, 1LL << 53, false},
    [TYPE_FP16] = {"fp16", TYPE_FP16, 2, true, true, 1 << 11, false},
    [TYPE_BF16] = {"bf16", TYPE_BF16, 2, true, true, 1 << 8, false},
    [TYPE_FLOAT_AS_BF16] = {"float as bf16", TYPE_FLOAT, 4, true, true, 1 << 8, false},
    [TYPE_FLOAT_AS_FP16] = {"float as fp16", TYPE_FLOAT, 4, true, true, 1 << 11, false},
    [TYPE_FLOAT_AS_E4M3] = {"float as e4m3", TYPE_FLOAT, 4, true, true, 1 << 4, false},
    [TYPE_FLOAT_AS_E5M2] = {"float as e5m2", TYPE_FLOAT, 4, true, true, 1 << 3, false},
    [TYPE_FLOAT_AS_INT8] = {"float as int8", TYPE_FLOAT, 4, true, true, 127, true},
    [TYPE_FLOAT_CODED] = {"float coded", TYPE_FLOAT, 4, true, true, 1 << 24, false},
    [TYPE_FP16_CODED] = {"fp16 coded", TYPE_FP16, 2, true, true, 1 << 11, false},
    [TYPE_BF16_CODED] = {"bf16 coded", TYPE_BF16, 2, true, true, 1 << 8, false},
};

static const char *const op_names[OP_COUNT] = {"sum", "min",  "max",  "prod", "band",
                                               "bor", "bxor", "land", "lor"};

const char *value_type_name(enum value_type type)
{
    return types[type].name;
}

const char *value_op_name(enum value_op op)
{
    return op_names[op];
}

size_t value_size(enum value_type type)
{
    return types[type].size;
}

bool value_op_applies(enum value_type type, enum value_op op)
{
    return !types[type].is_float || op < OP_PROD || (op == OP_PROD && !types[type].has_steps);
}

/* A number from -most to most, from 0 for types without a sign. */
static int64_t within(enum value_type type, uint64_t word, int64_t most)
{
    if (types[type].has_steps)
        return ((int64_t)(word % 3) - 1) * types[type].most;
    if (!types[type].is_signed)
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

int64_t value_contributed(enum value_type type, enum value_op op, uint64_t seed, int rank, int size,
                          size_t i)
{
    uint64_t word = word_of(seed, rank, 0, i);
    int64_t most = types[type].most / size;

    switch (op) {
    case OP_SUM:
        if (types[type].has_steps) /* of one rank alone, or sums would have another magnitude */
            return (int)(i % (size_t)size) == rank % size ? within(type, word, most) : 0;
        return within(type, word, most > 0 ? most : rank < types[type].most);
    case OP_PROD: /* one rank has a 3, the rest 1 or -1 */
        if ((int)(i % (size_t)size) == rank % size)
            return 3;
        return types[type].is_signed && word & 1 ? -1 : 1;
    case OP_LAND: /* mostly true, so that the result is not always false */
        return word % (uint64_t)(2 * size) != 0;
    case OP_LOR:
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

int64_t value_combine(enum value_type type, enum value_op op, int64_t a, int64_t b)
{
    switch (op) {
    case OP_SUM:
        return narrow(type, (int64_t)((uint64_t)a + (uint64_t)b));
    case OP_PROD:
        return narrow(type, (int64_t)((uint64_t)a * (uint64_t)b));
    case OP_MIN:
        return a < b ? a : b;
    case OP_MAX:
        return a > b ? a : b;
    case OP_BAND:
        return narrow(type, a & b);
    case OP_BOR:
        return narrow(type, a | b);
    case OP_BXOR:
        return narrow(type, a ^ b);
    case OP_LAND:
        return a && b;
    case OP_LOR:
        return a || b;
    default:
        return 0;
    }
}

/* Each type has its own line; X(enum, C type). */
#define EACH_TYPE                                                                                  \
    X(TYPE_INT8, int8_t)                                                                           \
    X(TYPE_UINT8, uint8_t)                                                                         \
    X(TYPE_INT16, int16_t)                                                                         \
    X(TYPE_UINT16, uint16_t)                                                                       \
    X(TYPE_INT32, int32_t)                                                                         \
    X(TYPE_UINT32, uint32_t)                                                                       \
    X(TYPE_INT64, int64_t)                                                                         \
    X(TYPE_UINT64, uint64_t)                                                                       \
    X(TYPE_FLOAT, float)                                                                           \
    X(TYPE_DOUBLE, double)

/* The upper half of a float, rounded to the nearest, ties to even. */
static uint16_t bf16_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static double bf16_value(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float value;

    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Returns the fp16 of a whole number below 65520, rounded likewise: sign, 5 bits of exponent + 15,
 * 10 of fraction. */
static uint16_t fp16_of(int64_t value)
{
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value, fraction;
    unsigned sign = value < 0 ? 0x8000 : 0;
    int exponent = 0;

    if (magnitude == 0)
        return 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    fraction = magnitude << 20 >> exponent; /* with 10 bits more than there is room for */
    fraction += 0x1ff + (fraction >> 10 & 1);
    /* a fraction that is rounded up to 2 goes into the exponent */
    return (uint16_t)(sign + ((unsigned)(exponent + 14) << 10) + (unsigned)(fraction >> 10));
}

static double fp16_value(uint16_t half)
{
    int exponent = half >> 10 & 31, fraction = half & 0x3ff;
    double value = exponent == 31  ? (double)NAN
                   : exponent == 0 ? ldexp(fraction, -24)
                                   : ldexp(fraction + 0x400, exponent - 25);

    return half & 0x8000 ? -value : value;
}

void value_put(enum value_type type, void *buffer, size_t i, int64_t value)
{
    uint16_t half;

    switch (types[type].stored) {
#define X(name, c_type)                                                                            \
    case name: {                                                                                   \
        c_type narrowed = (c_type)value;                                                           \
        memcpy((char *)buffer + i * sizeof narrowed, &narrowed, sizeof narrowed);                  \
        break;                                                                                     \
    }
        EACH_TYPE
#undef X
    default:
        half = types[type].stored == TYPE_BF16 ? bf16_of((float)value) : fp16_of(value);
        memcpy((char *)buffer + i * sizeof half, &half, sizeof half);
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
    uint16_t half;

    switch (types[type].stored) {
#define X(name, c_type)                                                                            \
    case name: {                                                                                   \
        c_type value;                                                                              \
        memcpy(&value, (const char *)buffer + i * sizeof value, sizeof value);                     \
        return name == TYPE_FLOAT || name == TYPE_DOUBLE ? whole((double)value) : (int64_t)value;  \
    }
        EACH_TYPE
#undef X
    default:
        memcpy(&half, (const char *)buffer + i * sizeof half, sizeof half);
        return whole(types[type].stored == TYPE_BF16 ? bf16_value(half) : fp16_value(half));
    }
}
