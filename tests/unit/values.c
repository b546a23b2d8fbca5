/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/collectives/values.h"
#include "tests/unit/tap.h"

/* All orders of combining give the same: forwards, backwards, and as a tree. */
static int64_t fold(enum value_type type, enum value_op op, int size, size_t i, int order)
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

/* Through the type itself, as MPI has it: what is stored comes back. */
static int is_exact(enum value_type type, int64_t value)
{
    char buffer[8];

    value_put(type, buffer, 0, value);
    return value_get(type, buffer, 0) == value;
}

static void holds(enum value_type type, enum value_op op, int size)
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
       value_type_name(type), value_op_name(op), size);
}

int main(void)
{
    char buffer[64] = {0};
    int same = 0;

    for (enum value_type type = 0; type < TYPE_COUNT; type++)
        for (enum value_op op = 0; op < OP_COUNT; op++)
            if (value_op_applies(type, op))
                for (int size = 1; size <= 64; size += 21)
                    holds(type, op, size);
    ok(!value_op_applies(TYPE_FLOAT, OP_BAND) && !value_op_applies(TYPE_DOUBLE, OP_LOR),
       "no bits and no truth of floating-point numbers");
    ok(value_op_applies(TYPE_DOUBLE, OP_PROD), "but products");
    for (size_t i = 0; i < 1000; i++)
        same += value_moved(TYPE_INT32, 3, 0, 1, i) == value_moved(TYPE_INT32, 3, 1, 0, i);
    ok(same < 3, "each direction has its own data");
    value_put(TYPE_INT16, buffer, 3, -5);
    is_int(value_get(TYPE_INT16, buffer, 3), -5, "int16 is stored and read");
    is_int(buffer[5] | buffer[8], 0, "... and its neighbours are left alone");
    is_int(value_combine(TYPE_INT8, OP_SUM, 127, 1), -128, "a sum is held as the type holds it");
    is_int(value_combine(TYPE_UINT8, OP_SUM, 255, 1), 0, "... without a sign too");
    return tap_done();
}
