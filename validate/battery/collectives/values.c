/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/battery/collectives/values.h"

#include <string.h>

#include "validate/battery/pattern.h"

static const struct {
    const char *name;
    size_t size;
    bool is_signed, is_float;
    int64_t most; /* the greatest magnitude that a partial result may have */
} types[TYPE_COUNT] = {
    [TYPE_INT8] = {"int8", 1, true, false, INT8_MAX},
    [TYPE_UINT8] = {"uint8", 1, false, false, UINT8_MAX},
    [TYPE_INT16] = {"int16", 2, true, false, INT16_MAX},
    [TYPE_UINT16] = {"uint16", 2, false, false, UINT16_MAX},
    [TYPE_INT32] = {"int32", 4, true, false, INT32_MAX},
    [TYPE_UINT32] = {"uint32", 4, false, false, UINT32_MAX},
    [TYPE_INT64] = {"int64", 8, true, false, INT32_MAX},
    [TYPE_UINT64] = {"uint64", 8, false, false, UINT32_MAX},
    [TYPE_FLOAT] = {"float", 4, true, true, 1 << 24},
    [TYPE_DOUBLE] = {"double", 8, true, true, 1LL << 53},
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
    return !types[type].is_float || op <= OP_PROD;
}

/* A number from -most to most, from 0 for types without a sign. */
static int64_t within(enum value_type type, uint64_t word, int64_t most)
{
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
        return within(type, word, most > 0 ? most : 1);
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

/* What is left of a number in the type. */
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

void value_put(enum value_type type, void *buffer, size_t i, int64_t value)
{
    switch (type) {
#define X(name, c_type)                                                                            \
    case name: {                                                                                   \
        c_type narrowed = (c_type)value;                                                           \
        memcpy((char *)buffer + i * sizeof narrowed, &narrowed, sizeof narrowed);                  \
        break;                                                                                     \
    }
        EACH_TYPE
#undef X
    default:
        break;
    }
}

/* A damaged floating-point number may be anything, also none. */
static int64_t whole(double value)
{
    return value > -9e18 && value < 9e18 && (double)(int64_t)value == value ? (int64_t)value
                                                                            : INT64_MIN;
}

int64_t value_get(enum value_type type, const void *buffer, size_t i)
{
    switch (type) {
#define X(name, c_type)                                                                            \
    case name: {                                                                                   \
        c_type value;                                                                              \
        memcpy(&value, (const char *)buffer + i * sizeof value, sizeof value);                     \
        return name == TYPE_FLOAT || name == TYPE_DOUBLE ? whole((double)value) : (int64_t)value;  \
    }
        EACH_TYPE
#undef X
    default:
        return 0;
    }
}
