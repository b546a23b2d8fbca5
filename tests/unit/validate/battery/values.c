/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/values.h"
#include "tests/unit/tap.h"

/* Combines the values of all ranks. order: 0 forwards, 1 backwards, 2 as a tree. */
static int64_t fold(enum value_type type, enum reduce_op op, int size, size_t i, int order)
{
    int64_t parts[64] = {0}, result;

    for (int rank = 0; rank < size; rank++)
        parts[rank] = value_contributed(type, op, 11, rank, size, i);
    if (order == 2) {
        for (int width = size; width > 1; width = (width + 1) / 2)
            for (int k = 0; k < width / 2; k++)
                parts[k] = value_combine(type, op, parts[k], parts[width - 1 - k]);
        return parts[0];
    }
    result = parts[order ? size - 1 : 0];
    for (int k = 1; k < size; k++)
        result = value_combine(type, op, result, parts[order ? size - 1 - k : k]);
    return result;
}

/* Whether the type stores the value exactly, as MPI does. */
static int is_exact(enum value_type type, int64_t value)
{
    char buffer[8];

    value_put(type, buffer, 0, value);
    return value_get(type, buffer, 0) == value;
}

static void check_exact(enum value_type type, enum reduce_op op, int size)
{
    int inexact = 0, orders_differ = 0;

    for (size_t i = 0; i < 200; i++) {
        for (int rank = 0; rank < size; rank++)
            inexact += !is_exact(type, value_contributed(type, op, 11, rank, size, i));
        inexact += !is_exact(type, fold(type, op, size, i, 0));
        orders_differ += fold(type, op, size, i, 0) != fold(type, op, size, i, 1) ||
                         fold(type, op, size, i, 0) != fold(type, op, size, i, 2);
    }
    ok(inexact == 0 && orders_differ == 0, "%s %s of %d ranks is exact in any order",
       value_type_name(type), reduce_name(op), size);
}

/* Checks the bits of an IEEE 754 half or a bfloat16 (the upper half of a float). */
static void is_bits(enum value_type type, int64_t value, uint16_t expected)
{
    uint16_t found;

    value_put(type, &found, 0, value);
    is_int(found, expected, "%lld is %#x in %s", (long long)value, expected, value_type_name(type));
}

int main(void)
{
    int bad = 0;
    char buffer[64] = {0};
    int same = 0;

    for (enum value_type type = 0; type < TYPE_COUNT; type++)
        for (enum reduce_op op = 0; op < OP_COUNT; op++)
            if (value_op_applies(type, op))
                for (int size = 1; size <= 64; size += 21)
                    check_exact(type, op, size);
    ok(!value_op_applies(TYPE_FLOAT, REDUCE_BAND) && !value_op_applies(TYPE_DOUBLE, REDUCE_LOR),
       "floating-point types have no bitwise and no logical operations");
    ok(value_op_applies(TYPE_DOUBLE, REDUCE_PRODUCT), "... but products");
    ok(!value_op_applies(TYPE_FLOAT_AS_INT8, REDUCE_PRODUCT),
       "... block-scaled int8 has no products");
    for (enum value_type type = 0; type < TYPE_COUNT; type++)
        for (int64_t value = 0; value < 300; value++) {
            int64_t right = value_moved(type, 3, 0, 1, (size_t)value);
            int64_t wrong = value_damaged(type, right);

            bad += wrong == right || !is_exact(type, wrong);
        }
    is_int(bad, 0, "a damaged value differs, and each type holds it exactly");
    bad = 0;
    for (int64_t value = -2048; value <= 2048; value++)
        bad += !is_exact(TYPE_FP16, value) ||
               (value >= -256 && value <= 256 && !is_exact(TYPE_BF16, value));
    is_int(bad, 0, "fp16 holds all integers up to 2048, bf16 up to 256");
    is_bits(TYPE_FP16, 1000, 0x63d0);
    is_bits(TYPE_FP16, -1, 0xbc00);
    is_bits(TYPE_FP16, 2049, 0x6800);
    is_bits(TYPE_BF16, -3, 0xc040);
    is_bits(TYPE_BF16, 257, 0x4380);
    for (size_t i = 0; i < 1000; i++)
        same += value_moved(TYPE_INT32, 3, 0, 1, i) == value_moved(TYPE_INT32, 3, 1, 0, i);
    ok(same < 3, "each direction has its own data");
    value_put(TYPE_INT16, buffer, 3, -5);
    is_int(value_get(TYPE_INT16, buffer, 3), -5, "int16 is stored and read");
    is_int(buffer[5] | buffer[8], 0, "... and its neighbors are left alone");
    is_int(value_combine(TYPE_INT8, REDUCE_SUM, 127, 1), -128,
           "a signed sum wraps around as in its type");
    is_int(value_combine(TYPE_UINT8, REDUCE_SUM, 255, 1), 0, "... and so does an unsigned one");
    return tap_done();
}
