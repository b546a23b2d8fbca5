/* SPDX-License-Identifier: Apache-2.0 */

/* gcc vectorizes whole loops only from -O3 on, and operations that may raise exceptions only with
 * no-trapping-math */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3", "no-trapping-math")
#endif

#include "collectives/precision/precision.h"
#include "collectives/precision/format.h"
#include "collectives/processor.h"

#include <float.h>
#include <string.h>

/* Every path is compiled from the same lines below, for its own instructions: integer operations
 * without branches, which the compiler vectorizes. The only floating-point operations are division,
 * product and operations that are exact in fp32; none depends on the vector length. */

#define INLINE static inline __attribute__((always_inline))

INLINE uint32_t bits_of(float number)
{
    uint32_t bits;

    memcpy(&bits, &number, sizeof bits);
    return bits;
}

INLINE float number_of(uint32_t bits)
{
    float number;

    memcpy(&number, &bits, sizeof number);
    return number;
}

INLINE uint32_t narrow_one(const struct precision_format *format, uint32_t bits)
{
    const uint32_t quiet = 1u << (format->mantissa_bits - 1);
    const uint32_t shift = 23 - format->mantissa_bits;
    uint32_t sign = bits >> 31 << (8 * format->bytes - 1), magnitude = bits & 0x7fffffff;
    int32_t exponent = (int32_t)(magnitude >> 23);
    /* subnormal in the format: the whole significand, shifted further */
    int32_t lacking = 1 - (exponent - 127 + format->bias);
    uint32_t normal = magnitude - ((uint32_t)(127 - format->bias) << 23);
    uint32_t denormal = (magnitude & 0x7fffff) | 0x800000;
    uint32_t further = (uint32_t)(lacking < 0 ? 0 : lacking > 24 ? 24 : lacking);
    uint32_t is_normal = (uint32_t) - (lacking <= 0 || format->bias == 127);
    uint32_t number = (normal & is_normal) | (denormal & ~is_normal);
    uint32_t places = shift + (further & ~is_normal), code;

    /* a shift by 26 places or more leaves nothing of 24 bits, and rounds to 0 */
    places = places > 26 ? 26 : places;
    code = (number + (1u << (places - 1)) - 1 + (number >> places & 1)) >> places;
    code = code > format->greatest ? format->greatest + 1 : code;
    code =
        magnitude > 0x7f800000
            ? format->nan | (magnitude >> shift & (quiet - 1) & ((1u << format->payload_bits) - 1))
            : code;
    return sign | code;
}

INLINE uint32_t widen_one(const struct precision_format *format, uint32_t code)
{
    const uint32_t shift = 23 - format->mantissa_bits, width = 8 * format->bytes;
    uint32_t sign = code >> (width - 1) << 31, magnitude = code & ((1u << (width - 1)) - 1);
    uint32_t normal = (magnitude << shift) + ((uint32_t)(127 - format->bias) << 23);
    /* subnormal: a multiple of the least number, which is exact in fp32 */
    uint32_t least = (uint32_t)(127 + 1 - format->bias - (int)format->mantissa_bits) << 23;
    uint32_t denormal = bits_of((float)(int32_t)magnitude * number_of(least));
    uint32_t special = 0x7f800000 | (magnitude > format->infinity ? 0x400000 : 0) |
                       (magnitude << shift & 0x7fffff);
    uint32_t is_normal = (uint32_t) - (magnitude >> format->mantissa_bits != 0);
    uint32_t bits = (normal & is_normal) | (denormal & ~is_normal);

    if (format->infinity == format->greatest) /* e4m3: above is NaN */
        bits = magnitude == 0x7f ? 0x7fc00000 : bits;
    else
        bits = magnitude >= format->infinity ? special : bits;
    return sign | bits;
}

INLINE void narrow_all(const struct precision_format *format, const float *in, size_t count,
                       void *out)
{
    for (size_t n = 0; n < count; n++) {
        uint32_t code = narrow_one(format, bits_of(in[n]));

        if (format->bytes == 1) {
            ((uint8_t *)out)[n] = (uint8_t)code;
        } else {
            uint16_t half = (uint16_t)code;

            memcpy((uint8_t *)out + 2 * n, &half, sizeof half);
        }
    }
}

INLINE void widen_all(const struct precision_format *format, bool is_bf16, const void *in,
                      size_t count, float *out)
{
    for (size_t n = 0; n < count; n++) {
        uint32_t code;

        if (format->bytes == 1) {
            code = ((const uint8_t *)in)[n];
        } else {
            uint16_t half;

            memcpy(&half, (const uint8_t *)in + 2 * n, sizeof half);
            code = half;
        }
        out[n] = number_of(is_bf16 ? code << 16 : widen_one(format, code));
    }
}

/* Returns the greatest magnitude of a block, as bits; above infinity's if there is a NaN. */
INLINE uint32_t greatest_of(const float *in, size_t count)
{
    uint32_t greatest = 0;

    for (size_t n = 0; n < count; n++) {
        uint32_t magnitude = bits_of(in[n]) & 0x7fffffff;

        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return greatest;
}

/* The nearest whole number, ties to even, in every rounding mode: the rest of truncation is
 * exact. */
INLINE int8_t whole_of(float ratio)
{
    int32_t cut = (int32_t)ratio;
    float rest = ratio - (float)cut, magnitude = __builtin_fabsf(rest);
    int32_t away = rest < 0 ? -1 : 1;

    /* away from 0 above one half; at exactly one half to even */
    away = magnitude > 0.5f ? away : magnitude == 0.5f ? away & -(cut & 1) : 0;
    cut += away;
    return (int8_t)(cut > 127 ? 127 : cut < -127 ? -127 : cut);
}

INLINE void int8_narrow_all(const float *in, size_t count, int8_t *out, float *scales)
{
    for (size_t begin = 0; begin < count; begin += PRECISION_INT8_BLOCK) {
        size_t some = count - begin < PRECISION_INT8_BLOCK ? count - begin : PRECISION_INT8_BLOCK;
        uint32_t greatest = greatest_of(in + begin, some);
        float scale = number_of(greatest) / 127;

        if (greatest == 0 || greatest >= 0x7f800000) {
            *scales++ = greatest == 0 ? 0 : number_of(0x7fc00000);
            memset(out + begin, 0, some);
            continue;
        }
        scale = scale < FLT_MIN ? FLT_MIN : scale;
        *scales++ = scale;
        for (size_t n = begin; n < begin + some; n++)
            out[n] = whole_of(in[n] / scale);
    }
}

INLINE void int8_widen_all(const int8_t *in, const float *scales, size_t count, float *out)
{
    for (size_t begin = 0; begin < count; begin += PRECISION_INT8_BLOCK) {
        size_t some = count - begin < PRECISION_INT8_BLOCK ? count - begin : PRECISION_INT8_BLOCK;
        float scale = *scales++;

        for (size_t n = begin; n < begin + some; n++)
            out[n] = (float)in[n] * scale;
    }
}

/* Defines a path for the instructions of `target`. The format is a constant in each case, so that
 * the compiler evaluates its conditions. */
#define CASE_NARROW(precision)                                                                     \
    case precision:                                                                                \
        narrow_all(&precision_formats[precision], in, count, out);                                 \
        break;
#define CASE_WIDEN(precision)                                                                      \
    case precision:                                                                                \
        widen_all(&precision_formats[precision], precision == PRECISION_BF16, in, count, out);     \
        break;
#define EACH_CASE(CASE)                                                                            \
    CASE(PRECISION_BF16)                                                                           \
    CASE(PRECISION_FP16)                                                                           \
    CASE(PRECISION_E4M3)                                                                           \
    CASE(PRECISION_E5M2)
#define DEFINE_PATH(path, target)                                                                  \
    target static void path##_narrow(enum precision precision, const float *in, size_t count,      \
                                     void *out)                                                    \
    {                                                                                              \
        switch (precision) {                                                                       \
            EACH_CASE(CASE_NARROW)                                                                 \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    target static void path##_widen(enum precision precision, const void *in, size_t count,        \
                                    float *out)                                                    \
    {                                                                                              \
        switch (precision) {                                                                       \
            EACH_CASE(CASE_WIDEN)                                                                  \
        default:                                                                                   \
            break;                                                                                 \
        }                                                                                          \
    }                                                                                              \
    target static void path##_int8_narrow(const float *in, size_t count, int8_t *out,              \
                                          float *scales)                                           \
    {                                                                                              \
        int8_narrow_all(in, count, out, scales);                                                   \
    }                                                                                              \
    target static void path##_int8_widen(const int8_t *in, const float *scales, size_t count,      \
                                         float *out)                                               \
    {                                                                                              \
        int8_widen_all(in, scales, count, out);                                                    \
    }                                                                                              \
    static const struct precision_path path##_path = {#path, path##_narrow, path##_widen,          \
                                                      path##_int8_narrow, path##_int8_widen};

PROCESSOR_EACH(DEFINE_PATH)

#define ROW(path, target) &path##_path,
PROCESSOR_PATHS(const struct precision_path *, precision_path_at, ROW)

void precision_narrow(enum precision precision, const float *in, size_t count, void *out)
{
    best->narrow(precision, in, count, out);
}

void precision_widen(enum precision precision, const void *in, size_t count, float *out)
{
    best->widen(precision, in, count, out);
}

void precision_int8_narrow(const float *in, size_t count, int8_t *out, float *scales)
{
    best->int8_narrow(in, count, out, scales);
}

void precision_int8_widen(const int8_t *in, const float *scales, size_t count, float *out)
{
    best->int8_widen(in, scales, count, out);
}

size_t precision_int8_scales(size_t count)
{
    return (count + PRECISION_INT8_BLOCK - 1) / PRECISION_INT8_BLOCK;
}
