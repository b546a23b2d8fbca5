/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/reduce/reduce.h"
#include "collectives/precision/precision.h"
#include "collectives/reduce/nontemporal.h"
#include "tests/unit/tap.h"

#include <math.h>
#include <string.h>

enum { ELEMENTS_MAX = 1031 }; /* odd, and larger than any block of vectors */

static uint64_t state = 1;

static uint64_t draw(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void fill(void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        ((uint8_t *)bytes)[i] = (uint8_t)(draw() >> 32);
}

/* ---------------------------------------------------------------------------- the definition */

static __int128 integer_at(enum element_type type, const void *buffer, size_t i)
{
    switch (type) {
    case ELEMENT_INT8:
        return ((const int8_t *)buffer)[i];
    case ELEMENT_UINT8:
        return ((const uint8_t *)buffer)[i];
    case ELEMENT_INT16:
        return ((const int16_t *)buffer)[i];
    case ELEMENT_UINT16:
        return ((const uint16_t *)buffer)[i];
    case ELEMENT_INT32:
        return ((const int32_t *)buffer)[i];
    case ELEMENT_UINT32:
        return ((const uint32_t *)buffer)[i];
    case ELEMENT_INT64:
        return ((const int64_t *)buffer)[i];
    default:
        return ((const uint64_t *)buffer)[i];
    }
}

/* Returns 64 bits; the low bits that an element has are its result, as integers wrap around. */
static uint64_t integer_reduced(enum reduce_op op, __int128 l, __int128 r)
{
    uint64_t a = (uint64_t)l, b = (uint64_t)r;

    switch (op) {
    case REDUCE_MIN:
        return (uint64_t)(l < r ? l : r);
    case REDUCE_MAX:
        return (uint64_t)(l > r ? l : r);
    case REDUCE_PRODUCT:
        return a * b;
    case REDUCE_BAND:
        return a & b;
    case REDUCE_BOR:
        return a | b;
    case REDUCE_BXOR:
        return a ^ b;
    case REDUCE_LAND:
        return l && r;
    case REDUCE_LOR:
        return l || r;
    case REDUCE_LXOR:
        return !l != !r;
    default:
        return a + b;
    }
}

static double float_at(enum element_type type, const void *buffer, size_t i)
{
    float wide;

    switch (type) {
    case ELEMENT_FP64:
        return ((const double *)buffer)[i];
    case ELEMENT_FP32:
        return (double)((const float *)buffer)[i];
    default:
        precision_widen(type == ELEMENT_FP16 ? PRECISION_FP16 : PRECISION_BF16,
                        (const uint16_t *)buffer + i, 1, &wide);
        return (double)wide;
    }
}

static double float_reduced(enum element_type type, enum reduce_op op, double l, double r)
{
    bool is_single = type != ELEMENT_FP64;

    switch (op) {
    case REDUCE_MIN:
    case REDUCE_MAX:
        if (isnan(l) || isnan(r))
            return NAN;
        if (l == r)
            return op == REDUCE_MIN ? (signbit(l) ? l : r) : (signbit(l) ? r : l);
        return (l < r) == (op == REDUCE_MIN) ? l : r;
    case REDUCE_PRODUCT:
        return is_single ? (double)((float)l * (float)r) : l * r;
    default:
        return is_single ? (double)((float)l + (float)r) : l + r;
    }
}

static bool is_float_right(enum element_type type, const void *out, size_t i, double expected)
{
    double found = float_at(type, out, i);
    float narrow = (float)expected, back;
    uint16_t code;

    if (type == ELEMENT_FP16 || type == ELEMENT_BF16) {
        precision_narrow(type == ELEMENT_FP16 ? PRECISION_FP16 : PRECISION_BF16, &narrow, 1, &code);
        precision_widen(type == ELEMENT_FP16 ? PRECISION_FP16 : PRECISION_BF16, &code, 1, &back);
        expected = (double)back;
    }
    return isnan(expected) ? isnan(found)
                           : found == expected && signbit(found) == signbit(expected);
}

static bool is_element_right(enum element_type type, enum reduce_op op, const void *left,
                             const void *right, const void *out, size_t i)
{
    size_t bytes = element_bytes(type);
    uint64_t expected, found = 0;

    if (element_is_float(type))
        return is_float_right(
            type, out, i,
            float_reduced(type, op, float_at(type, left, i), float_at(type, right, i)));
    expected = integer_reduced(op, integer_at(type, left, i), integer_at(type, right, i));
    memcpy(&found, (const char *)out + i * bytes, bytes);
    return memcmp(&found, &expected, bytes) == 0;
}

/* -------------------------------------------------------------------------------------- cases */

/* Writes values that random bits rarely give: zeros of both signs, infinities, NaN. */
static void put_special(enum element_type type, void *buffer, size_t count)
{
    const double special_values[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1.0, -1.0};
    const uint64_t masks[] = {1, 2, 4, 8, 16, 32, 64};

    for (size_t i = 0; i < count; i++) {
        size_t index = draw() % 16;

        if (index >= sizeof special_values / sizeof *special_values)
            continue;
        if (type == ELEMENT_FP32)
            ((float *)buffer)[i] = (float)special_values[index];
        else if (type == ELEMENT_FP64)
            ((double *)buffer)[i] = special_values[index];
        else if (!element_is_float(type))
            memcpy((char *)buffer + i * element_bytes(type), &masks[index % 2],
                   element_bytes(type));
    }
}

static bool is_correct(enum element_type type, enum reduce_op op)
{
    static _Alignas(64) uint64_t left[ELEMENTS_MAX], right[ELEMENTS_MAX], out[ELEMENTS_MAX],
        again[ELEMENTS_MAX];
    const size_t counts[] = {0, 1, 7, 64, ELEMENTS_MAX};
    size_t bytes = element_bytes(type);
    const struct reduce_path *path;

    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        fill(left, sizeof left);
        fill(right, sizeof right);
        put_special(type, left, counts[c]);
        put_special(type, right, counts[c]);
        memset(out, 0x33, sizeof out);
        reduce_pair(type, op, left, right, out, counts[c]);
        for (size_t i = 0; i < counts[c]; i++)
            if (!is_element_right(type, op, left, right, out, i)) {
                tap_diag("%s %s: element %zu of %zu", element_name(type), reduce_name(op), i,
                         counts[c]);
                return false;
            }
        for (size_t i = counts[c] * bytes; i < sizeof out; i++)
            if (((uint8_t *)out)[i] != 0x33)
                return false;
        for (unsigned number = 0; (path = reduce_path_at(number)); number++) {
            memcpy(again, left, sizeof again);
            path->pair(type, op, again, right, again, counts[c]);
            if (memcmp(again, out, counts[c] * bytes) != 0) {
                tap_diag("%s %s: %s gives other bits", element_name(type), reduce_name(op),
                         path->name);
                return false;
            }
            memcpy(again, right, sizeof again);
            path->pair(type, op, left, again, again, counts[c]);
            if (memcmp(again, out, counts[c] * bytes) != 0)
                return false;
        }
    }
    return true;
}

/* ------------------------------------------------------------------------- past the caches */

/* Tests every length up to three cache lines, to every offset in a line from varying offsets, and
 * that nothing beside the copy is written. */
static bool copy_is_exact(nontemporal_copy_fn *copy)
{
    enum { LINE = 64, LONGEST = 3 * LINE + 1, ROOM = LINE + LONGEST + LINE };
    static _Alignas(LINE) uint8_t in[ROOM], out[ROOM], expected[ROOM];

    for (size_t bytes = 0; bytes <= LONGEST; bytes++)
        for (size_t to = 0; to < LINE; to++) {
            size_t from = (to * 7 + bytes) % LINE;

            fill(in, sizeof in);
            memset(out, 0x77, sizeof out);
            memset(expected, 0x77, sizeof expected);
            memcpy(expected + to, in + from, bytes);
            copy(out + to, in + from, bytes);
            if (memcmp(out, expected, sizeof out) != 0) {
                tap_diag("%zu bytes to %zu from %zu of a line", bytes, to, from);
                return false;
            }
        }
    memcpy(out, expected, sizeof out);
    copy(out, out, sizeof out);
    return memcmp(out, expected, sizeof out) == 0;
}

/* Tests that nontemporal_reduce_pair() gives the result of reduce_pair(); is_in_place: into the
 * left operand. */
static bool reduction_is_exact(size_t count, bool is_in_place)
{
    static float left[ELEMENTS_MAX * 2], right[ELEMENTS_MAX * 2], out[ELEMENTS_MAX * 2 + 1],
        expected[ELEMENTS_MAX * 2 + 1];

    for (size_t i = 0; i < count; i++) {
        left[i] = (float)(draw() % 1000);
        right[i] = (float)(draw() % 1000);
    }
    memset(out, 0x77, sizeof out);
    memset(expected, 0x77, sizeof expected);
    reduce_pair(ELEMENT_FP32, REDUCE_SUM, left, right, expected, count);
    if (is_in_place)
        memcpy(out, left, count * sizeof *out);
    nontemporal_reduce_pair(ELEMENT_FP32, REDUCE_SUM, is_in_place ? out : left, right, out, count);
    return memcmp(out, expected, sizeof out) == 0;
}

static void test_nontemporal(void)
{
    bool correct = true;

    for (unsigned number = 0; nontemporal_path_at(number); number++)
        correct &= copy_is_exact(nontemporal_path_at(number));
    ok(correct, "nontemporal copies are exact, on all paths");
    for (size_t count = 0; count <= (size_t)ELEMENTS_MAX * 2; count += 1 + count / 7)
        correct &= reduction_is_exact(count, false) && reduction_is_exact(count, true);
    ok(correct, "... and nontemporal reductions are those of reduce_pair()");
}

int main(void)
{
    enum element_type type;

    for (unsigned t = 0; t < ELEMENT_TYPES; t++) {
        bool correct = true;

        for (unsigned o = 0; o < REDUCE_OPS; o++)
            if (reduce_applies((enum element_type)t, (enum reduce_op)o))
                correct &= is_correct((enum element_type)t, (enum reduce_op)o);
        ok(correct, "%s: all operations, on all paths", element_name((enum element_type)t));
        ok(element_parse(element_name((enum element_type)t), &type) && type == t,
           "... and its name is parsed");
    }
    ok(!reduce_applies(ELEMENT_FP32, REDUCE_BAND) && reduce_applies(ELEMENT_INT8, REDUCE_BAND),
       "bitwise operations apply to integers only");
    ok(!element_parse("float", &type), "an unknown type name is refused");
    test_nontemporal();
    return tap_done();
}
