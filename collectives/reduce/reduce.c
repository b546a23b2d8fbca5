/* SPDX-License-Identifier: Apache-2.0 */

/* gcc vectorizes whole loops only from -O3 on, and comparisons that may raise exceptions only with
 * no-trapping-math */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include "collectives/reduce/reduce.h"
#include "collectives/precision/precision.h"
#include "collectives/processor.h"

#include <string.h>

/* Every path is compiled from the same lines, for its own instructions: one operation per element,
 * so that the result does not depend on the vector length. */

#define INLINE static inline __attribute__((always_inline))

/* Tells the compiler that no iteration depends on another: the output may only be one of the
 * inputs, element for element. */
#ifdef __clang__
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

/* ------------------------------------------------------------------------------ whole numbers */

/* One operation on all elements. */
#define CASE_EACH(OP, expression)                                                                  \
    case OP:                                                                                       \
        INDEPENDENT                                                                                \
        for (size_t i = 0; i < count; i++)                                                         \
            out[i] = expression;                                                                   \
        break;

/* wide: unsigned and at least 32 bits, so that nothing is promoted to a signed type. */
#define DEFINE_WHOLE(name, type, wide)                                                             \
    INLINE void name##_pair(enum reduce_op op, const void *l, const void *r, void *o,              \
                            size_t count)                                                          \
    {                                                                                              \
        const type *left = l, *right = r;                                                          \
        type *out = o;                                                                             \
                                                                                                   \
        switch (op) {                                                                              \
            CASE_EACH(REDUCE_SUM, (type)((wide)left[i] + (wide)right[i]))                          \
            CASE_EACH(REDUCE_PRODUCT, (type)((wide)left[i] * (wide)right[i]))                      \
            CASE_EACH(REDUCE_MIN, left[i] < right[i] ? left[i] : right[i])                         \
            CASE_EACH(REDUCE_MAX, left[i] > right[i] ? left[i] : right[i])                         \
            CASE_EACH(REDUCE_BAND, (type)(left[i] & right[i]))                                     \
            CASE_EACH(REDUCE_BOR, (type)(left[i] | right[i]))                                      \
            CASE_EACH(REDUCE_BXOR, (type)(left[i] ^ right[i]))                                     \
            CASE_EACH(REDUCE_LAND, (type)((left[i] != 0) & (right[i] != 0)))                       \
            CASE_EACH(REDUCE_LOR, (type)((left[i] != 0) | (right[i] != 0)))                        \
            CASE_EACH(REDUCE_LXOR, (type)((left[i] != 0) ^ (right[i] != 0)))                       \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }

DEFINE_WHOLE(int8, int8_t, uint32_t)
DEFINE_WHOLE(uint8, uint8_t, uint32_t)
DEFINE_WHOLE(int16, int16_t, uint32_t)
DEFINE_WHOLE(uint16, uint16_t, uint32_t)
DEFINE_WHOLE(int32, int32_t, uint32_t)
DEFINE_WHOLE(uint32, uint32_t, uint32_t)
DEFINE_WHOLE(int64, int64_t, uint64_t)
DEFINE_WHOLE(uint64, uint64_t, uint64_t)

/* ----------------------------------------------------------------------------- floating point */

/* min and max by bits: equal numbers have equal bits, except zeros of both signs, for which "or"
 * gives -0 and "and" +0. Of two NaNs the left one is the result, as in a sum. */
#define DEFINE_FLOAT(name, type, word)                                                             \
    INLINE type name##_joined(type left, type right, bool is_min)                                  \
    {                                                                                              \
        word l, r, both;                                                                           \
        type joined;                                                                               \
                                                                                                   \
        memcpy(&l, &left, sizeof l);                                                               \
        memcpy(&r, &right, sizeof r);                                                              \
        both = is_min ? l | r : l & r;                                                             \
        both = (is_min ? left < right : left > right) ? l : both;                                  \
        both = (is_min ? right < left : right > left) ? r : both;                                  \
        both = right != right ? r : both;                                                          \
        both = left != left ? l : both;                                                            \
        memcpy(&joined, &both, sizeof joined);                                                     \
        return joined;                                                                             \
    }                                                                                              \
    INLINE void name##_pair(enum reduce_op op, const void *l, const void *r, void *o,              \
                            size_t count)                                                          \
    {                                                                                              \
        const type *left = l, *right = r;                                                          \
        type *out = o;                                                                             \
                                                                                                   \
        switch (op) {                                                                              \
            CASE_EACH(REDUCE_SUM, left[i] + right[i])                                              \
            CASE_EACH(REDUCE_PRODUCT, left[i] * right[i])                                          \
            CASE_EACH(REDUCE_MIN, name##_joined(left[i], right[i], true))                          \
            CASE_EACH(REDUCE_MAX, name##_joined(left[i], right[i], false))                         \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }

DEFINE_FLOAT(fp32, float, uint32_t)
DEFINE_FLOAT(fp64, double, uint64_t)

/* Computes in fp32, on a few elements at a time, so that they stay in the nearest cache. */
INLINE void half_pair(enum precision precision, enum reduce_op op, const void *l, const void *r,
                      void *o, size_t count)
{
    enum { SOME = 512 };
    const uint16_t *left = l, *right = r;
    uint16_t *out = o;
    float a[SOME], b[SOME];

    for (size_t begin = 0; begin < count; begin += SOME) {
        size_t some = count - begin < SOME ? count - begin : SOME;

        precision_widen(precision, left + begin, some, a);
        precision_widen(precision, right + begin, some, b);
        fp32_pair(op, a, b, a, some);
        precision_narrow(precision, a, some, out + begin);
    }
}

/* -------------------------------------------------------------------------------------- paths */

#define CASE_PAIR(TYPE, name)                                                                      \
    case TYPE:                                                                                     \
        name##_pair(op, left, right, out, count);                                                  \
        break;
#define DEFINE_PATH(path, target)                                                                  \
    target static void path##_pair(enum element_type type, enum reduce_op op, const void *left,    \
                                   const void *right, void *out, size_t count)                     \
    {                                                                                              \
        switch (type) {                                                                            \
            CASE_PAIR(ELEMENT_INT8, int8)                                                          \
            CASE_PAIR(ELEMENT_UINT8, uint8)                                                        \
            CASE_PAIR(ELEMENT_INT16, int16)                                                        \
            CASE_PAIR(ELEMENT_UINT16, uint16)                                                      \
            CASE_PAIR(ELEMENT_INT32, int32)                                                        \
            CASE_PAIR(ELEMENT_UINT32, uint32)                                                      \
            CASE_PAIR(ELEMENT_INT64, int64)                                                        \
            CASE_PAIR(ELEMENT_UINT64, uint64)                                                      \
            CASE_PAIR(ELEMENT_FP32, fp32)                                                          \
            CASE_PAIR(ELEMENT_FP64, fp64)                                                          \
        case ELEMENT_FP16:                                                                         \
            half_pair(PRECISION_FP16, op, left, right, out, count);                                \
            break;                                                                                 \
        case ELEMENT_BF16:                                                                         \
            half_pair(PRECISION_BF16, op, left, right, out, count);                                \
            break;                                                                                 \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    static const struct reduce_path path##_path = {#path, path##_pair};

PROCESSOR_EACH(DEFINE_PATH)

#define ROW(path, target) &path##_path,
PROCESSOR_PATHS(const struct reduce_path *, reduce_path_at, ROW)

void reduce_pair(enum element_type type, enum reduce_op op, const void *left, const void *right,
                 void *out, size_t count)
{
    best->pair(type, op, left, right, out, count);
}
