/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/precision/precision.h"
#include "tests/unit/collectives/gradients.h"
#include "tests/unit/tap.h"

#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------- the reference, in double */

/* A second, independent definition of the formats: the number of each finite code by OCP FP8 and
 * IEEE 754. */
static const struct reference {
    enum precision precision;
    const char *name;
    int exponent_bits, mantissa_bits;
    bool has_infinity;
    double greatest, least;
} references[] = {
    [PRECISION_BF16] = {PRECISION_BF16, "bf16", 8, 7, true, 0x1.fep127, 0x1p-133},
    [PRECISION_FP16] = {PRECISION_FP16, "fp16", 5, 10, true, 65504, 0x1p-24},
    [PRECISION_E4M3] = {PRECISION_E4M3, "e4m3", 4, 3, false, 448, 0x1p-9},
    [PRECISION_E5M2] = {PRECISION_E5M2, "e5m2", 5, 2, true, 57344, 0x1p-16},
};
enum { REFERENCES = sizeof references / sizeof *references };

static double number_by_definition(const struct reference *r, unsigned code)
{
    int bias = (1 << (r->exponent_bits - 1)) - 1;
    int exponent = (int)(code >> r->mantissa_bits) & ((1 << r->exponent_bits) - 1);
    double fraction = ldexp((double)(code & ((1u << r->mantissa_bits) - 1)), -r->mantissa_bits);
    double sign = code >> (r->exponent_bits + r->mantissa_bits) & 1 ? -1 : 1;
    bool is_top = exponent == (1 << r->exponent_bits) - 1;

    if (is_top && r->has_infinity)
        return fraction == 0 ? sign * INFINITY : copysign(NAN, sign);
    if (is_top && fraction == 0.875) /* e4m3 has no infinity and one NaN of each sign */
        return copysign(NAN, sign);
    return exponent == 0 ? sign * ldexp(fraction, 1 - bias)
                         : sign * ldexp(1 + fraction, exponent - bias);
}

static unsigned codes_of(const struct reference *r)
{
    return 1u << (r->exponent_bits + r->mantissa_bits);
}

/* Returns the number of a code; keeps all numbers of the last format that was used. */
static double number_of(const struct reference *r, unsigned code)
{
    static double numbers[1 << 16];
    static const struct reference *cached;

    if (cached != r) {
        for (unsigned c = 0; c < 2 * codes_of(r); c++)
            numbers[c] = number_by_definition(r, c);
        cached = r;
    }
    return numbers[code];
}

static unsigned greatest_code(const struct reference *r)
{
    unsigned code = codes_of(r) - 1;

    while (!isfinite(number_of(r, code)))
        code--;
    return code;
}

/* Returns the code of the nearest number, by search; in a tie the even code. */
static unsigned nearest(const struct reference *r, float value, bool *is_nan)
{
    unsigned low = 0, high = greatest_code(r), sign = signbit(value) ? codes_of(r) : 0;
    double x = fabs((double)value), beyond;

    *is_nan = isnan(value);
    if (*is_nan)
        return sign;
    /* the next number, if there were one more */
    beyond = 2 * number_of(r, high) - number_of(r, high - 1);
    if (x > (number_of(r, high) + beyond) / 2 ||
        (x == (number_of(r, high) + beyond) / 2 && high % 2)) {
        *is_nan = !r->has_infinity;
        return sign | (high + 1);
    }
    if (x >= number_of(r, high))
        return sign | high;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;

        if (number_of(r, middle) <= x)
            low = middle;
        else
            high = middle;
    }
    if (x - number_of(r, low) != number_of(r, high) - x)
        return sign | (x - number_of(r, low) < number_of(r, high) - x ? low : high);
    return sign | (low % 2 ? high : low);
}

/* ------------------------------------------------------------------------------------- tests */

static unsigned code_at(enum precision precision, const void *codes, size_t n)
{
    uint16_t half;

    if (precision_bytes(precision) == 1)
        return ((const uint8_t *)codes)[n];
    memcpy(&half, (const uint8_t *)codes + 2 * n, sizeof half);
    return half;
}

/* Sets values around each point where the nearest number changes, with both signs: the numbers of
 * the format, the middles between them, and the floats next to each; then specials and random
 * patterns. Returns their number. */
static size_t boundary_values(const struct reference *r, float *values, size_t room)
{
    struct random_numbers numbers = {31};
    size_t count = 0;

    for (unsigned code = 0; code <= greatest_code(r); code++) {
        double here = number_of(r, code),
               step = number_of(r, code > 0 ? code : 1) - number_of(r, code > 0 ? code - 1 : 0);
        double next = code < greatest_code(r) ? number_of(r, code + 1) : here + step;
        double middle = here + (next - here) / 2;
        float at[2] = {(float)here, (float)middle};

        for (int i = 0; i < 2; i++)
            for (int way = -1; way <= 1; way++) {
                float value = way == 0 ? at[i] : nextafterf(at[i], way * INFINITY);

                values[count++] = value;
                values[count++] = -value;
            }
    }
    for (int e = 0; e < 256; e++)
        for (int m = 0; m < 4; m++) {
            static const uint32_t mantissas[] = {0, 1, 0x400000, 0x7fffff};
            uint32_t bits = (uint32_t)e << 23 | mantissas[m];

            memcpy(&values[count++], &bits, 4);
            bits |= 0x80000000;
            memcpy(&values[count++], &bits, 4);
        }
    while (count < room) {
        uint32_t bits = (uint32_t)random_bits(&numbers);

        memcpy(&values[count++], &bits, 4);
    }
    return count;
}

static void narrowing_is_exact(const struct reference *r)
{
    const size_t room = 13 * codes_of(r) + 100000;
    float *values = malloc(room * sizeof *values);
    uint8_t *codes = malloc(2 * room + 1), *first = malloc(2 * room);
    unsigned *expected = malloc(room * sizeof *expected);
    bool *is_nan = malloc(room * sizeof *is_nan);
    size_t count = boundary_values(r, values, room), bytes = precision_bytes(r->precision);
    const struct precision_path *path;

    for (size_t n = 0; n < count; n++)
        expected[n] = nearest(r, values[n], &is_nan[n]);
    for (unsigned number = 0; (path = precision_path_at(number)); number++) {
        size_t wrong = 0;

        /* off alignment, so that a path has a first and a last part */
        path->narrow(r->precision, values, count, codes + 1);
        for (size_t n = 0; n < count; n++) {
            unsigned code = code_at(r->precision, codes + 1, n);
            double back = number_of(r, code);

            if (is_nan[n] ? isnan(back) && !signbit(back) == !signbit(values[n])
                          : code == expected[n])
                continue;
            if (wrong++ < 3)
                tap_diag("%a becomes 0x%x, expected %s0x%x", (double)values[n], code,
                         is_nan[n] ? "NaN " : "", expected[n]);
        }
        is_int(wrong, 0, "%s, %s: %zu numbers become the nearest", r->name, path->name, count);
        if (number == 0)
            memcpy(first, codes + 1, count * bytes);
        ok(memcmp(first, codes + 1, count * bytes) == 0,
           "... with the same bits as portable, also for NaNs");
    }
    fesetround(FE_UPWARD);
    precision_narrow(r->precision, values, count, codes);
    fesetround(FE_TONEAREST);
    ok(memcmp(first, codes, count * bytes) == 0,
       "... and the rounding mode FE_UPWARD changes nothing");
    free(values);
    free(codes);
    free(first);
    free(expected);
    free(is_nan);
}

static void widening_is_exact(const struct reference *r)
{
    const size_t count = 2 * codes_of(r);
    size_t bytes = precision_bytes(r->precision);
    uint8_t *codes = malloc(bytes * count), *again = malloc(bytes * count);
    float *values = malloc(count * sizeof *values), *first = malloc(count * sizeof *first);
    const struct precision_path *path;

    for (unsigned n = 0; n < count; n++)
        memcpy(codes + n * bytes, &n, bytes);
    for (unsigned number = 0; (path = precision_path_at(number)); number++) {
        size_t wrong = 0, changed = 0;

        path->widen(r->precision, codes, count, values);
        path->narrow(r->precision, values, count, again);
        for (unsigned n = 0; n < count; n++) {
            double expected = number_of(r, n);

            wrong += isnan(expected) ? !isnan(values[n]) : (double)values[n] != expected;
            wrong += !signbit(expected) != !signbit(values[n]);
            if (isfinite(expected))
                changed += code_at(r->precision, again, n) != n;
        }
        is_int(wrong, 0, "%s, %s: every code is widened to its number", r->name, path->name);
        is_int(changed, 0, "... and narrowed to itself");
        if (number == 0)
            memcpy(first, values, count * sizeof *first);
        ok(memcmp(first, values, count * sizeof *first) == 0, "... with the same bits as portable");
    }
    is_near(precision_least(r->precision), r->least, 0, "... least %g", r->least);
    is_near(precision_unit(r->precision), ldexp(1, -1 - r->mantissa_bits), 0,
            "... and the unit roundoff");
    free(codes);
    free(again);
    free(values);
    free(first);
}

/* Nothing outside count numbers is written, for each count up to several vectors. */
static void writes_only_its_count(void)
{
    enum { COUNT_MAX = 100 };
    float in[COUNT_MAX], back[COUNT_MAX + 1];
    const struct precision_path *path;
    size_t wrong = 0;

    for (size_t n = 0; n < COUNT_MAX; n++)
        in[n] = (float)n;
    for (unsigned number = 0; (path = precision_path_at(number)); number++)
        for (int p = 0; p < PRECISION_COUNT; p++)
            for (size_t count = 0; count < COUNT_MAX; count++) {
                size_t bytes = precision_bytes((enum precision)p);
                uint8_t out[2 * COUNT_MAX + 2];

                memset(out, 0xee, sizeof out);
                path->narrow((enum precision)p, in, count, out);
                wrong += out[count * bytes] != 0xee;
                back[count] = -7;
                path->widen((enum precision)p, out, count, back);
                wrong += back[count] != -7;
                for (size_t n = 0; n < count && n < 8; n++)
                    wrong += back[n] != in[n];
            }
    is_int(wrong, 0, "counts from 0 to 99 write exactly so many numbers");
}

/* --------------------------------------------------------------------------------------- int8 */

static void int8_blocks(void)
{
    enum { COUNT = 5 * PRECISION_INT8_BLOCK + 77, SCALES = 6 };
    struct random_numbers numbers = {41};
    float *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out);
    int8_t codes[COUNT], first[COUNT];
    float scales[SCALES + 1], first_scales[SCALES];
    const struct precision_path *path;
    static const double sigmas[] = {1, 1e-3, 1e30, 1e-42, 0, 1e-7};

    is_int(precision_int8_scales(COUNT), SCALES,
           "each block has a scale, also the last partial one");
    is_int(precision_int8_scales(0), 0, "... and there is none without numbers");
    for (size_t n = 0; n < COUNT; n++)
        in[n] = (float)(sigmas[n / PRECISION_INT8_BLOCK] * random_normal(&numbers));
    /* ties: multiples and halves of a scale of exactly 2 */
    for (size_t n = 0; n < PRECISION_INT8_BLOCK; n++)
        in[n] = (float)n - 128 > -127 ? (float)n - 128 : 254;
    for (unsigned number = 0; (path = precision_path_at(number)); number++) {
        size_t beyond = 0, uneven = 0;
        double worst = 0;

        scales[SCALES] = -7;
        path->int8_narrow(in, COUNT, codes, scales);
        path->int8_widen(codes, scales, COUNT, out);
        for (size_t n = 0; n < COUNT; n++) {
            float scale = scales[n / PRECISION_INT8_BLOCK];
            double off = fabs((double)out[n] - (double)in[n]);

            beyond += !(off <= precision_bound_int8(scale));
            if (scale > 0 && off / scale > worst)
                worst = off / scale;
            /* the nearest, in a tie the even one; a quotient in fp32 can make a tie */
            if (scale > 0)
                uneven += codes[n] != (int)nearbyint((double)(in[n] / scale));
        }
        is_int(beyond, 0, "int8, %s: all numbers are within the bound", path->name);
        ok(worst > 0.49, "... which is nearly reached: the largest error is %.4f of a scale",
           worst);
        is_int(uneven, 0, "... ties go to even");
        is_near((double)scales[0], 2, 0, "... the scale is the largest magnitude / 127");
        ok(scales[4] == 0 && scales[SCALES] == -7, "... and 0 for zeros");
        if (number == 0) {
            memcpy(first, codes, sizeof codes);
            memcpy(first_scales, scales, sizeof first_scales);
        }
        ok(memcmp(first, codes, sizeof codes) == 0 &&
               memcmp(first_scales, scales, sizeof first_scales) == 0,
           "... with the same bits as portable");
        in[300] = path->name[0] == 'p' ? NAN : -INFINITY;
        path->int8_narrow(in, COUNT, codes, scales);
        path->int8_widen(codes, scales, COUNT, out);
        ok(isnan(scales[1]) && isnan(out[256]) && isnan(out[511]) && !isnan(out[255]) &&
               !isnan(out[512]),
           "... a block with %s becomes NaNs, and no other block does",
           isnan(in[300]) ? "a NaN" : "an infinity");
        in[300] = 0;
        path->int8_narrow(in, COUNT, first, first_scales);
    }
    free(in);
    free(out);
}

/* ------------------------------------------------------------------------------------- bounds */

/* Reduces one element as the reduce-scatter of a ring does: each rank adds its own term to the sum
 * that the rank before it sent. */
static float ring(enum precision precision, const float *terms, unsigned ranks)
{
    float sum = terms[0];

    for (unsigned rank = 1; rank < ranks; rank++) {
        uint16_t sent;

        precision_narrow(precision, &sum, 1, &sent);
        precision_widen(precision, &sent, 1, &sum);
        sum += terms[rank];
    }
    return sum;
}

/* Reduces as halving does: each rank sends to its partner, which adds. */
static float tree(enum precision precision, const float *terms, unsigned ranks)
{
    float sums[64];

    memcpy(sums, terms, ranks * sizeof *sums);
    for (unsigned step = 1; step < ranks; step *= 2)
        for (unsigned rank = 0; rank + step < ranks; rank += 2 * step) {
            uint16_t sent;
            float other;

            precision_narrow(precision, &sums[rank + step], 1, &sent);
            precision_widen(precision, &sent, 1, &other);
            sums[rank] += other;
        }
    return sums[0];
}

/* Returns the bound for a ring, whose result is not rounded again: ranks - 1 roundings. */
static double bound_of_ring(enum precision precision, unsigned ranks, double sum_magnitudes)
{
    unsigned hops = ranks > 1 ? ranks - 1 : 0;

    return precision_bound(precision, hops, hops, sum_magnitudes);
}

/* Returns the bound for a tree, or halving and doubling: ceil(lg ranks) roundings. */
static double bound_of_tree(enum precision precision, unsigned ranks, double sum_magnitudes)
{
    unsigned depth = 0;

    while (depth < 31 && (1u << depth) < ranks)
        depth++;
    return precision_bound(precision, depth, ranks > 1 ? ranks - 1 : 0, sum_magnitudes);
}

static void bounds_hold(enum precision precision)
{
    struct random_numbers numbers = {43};
    size_t beyond_ring = 0, beyond_tree = 0;

    for (int t = 0; t < 3000; t++) {
        unsigned ranks = 2 + (unsigned)random_bits(&numbers) % 48;
        /* from denormal to large, but so that no sum overflows */
        double sigma =
            references[precision].greatest / 500 * pow(2, -(double)(random_bits(&numbers) % 30));
        double exact = 0, magnitudes = 0;
        float terms[64];

        for (unsigned rank = 0; rank < ranks; rank++) {
            terms[rank] = (float)(sigma * random_normal(&numbers));
            exact += (double)terms[rank];
            magnitudes += fabs((double)terms[rank]);
        }
        beyond_ring += fabs((double)ring(precision, terms, ranks) - exact) >
                       bound_of_ring(precision, ranks, magnitudes);
        beyond_tree += fabs((double)tree(precision, terms, ranks) - exact) >
                       bound_of_tree(precision, ranks, magnitudes);
    }
    is_int(beyond_ring, 0, "%s: 3000 random rings stay within the bound",
           references[precision].name);
    is_int(beyond_tree, 0, "... and so do trees");
}

/* Terms that round up by nearly u in each hop: the bound is nearly reached. */
static void bounds_are_nearly_reached(enum precision precision, unsigned ranks)
{
    double u = precision_unit(precision), just_over = u * (1 + 0x1p-10), exact, magnitudes, off;
    float terms[64];

    terms[0] = (float)(1 + just_over);
    exact = magnitudes = (double)terms[0];
    for (unsigned rank = 1; rank < ranks; rank++) {
        terms[rank] = (float)(just_over - 2 * u);
        exact += (double)terms[rank];
        magnitudes += fabs((double)terms[rank]);
    }
    off = fabs((double)ring(precision, terms, ranks) - exact);
    ok(off <= bound_of_ring(precision, ranks, magnitudes) &&
           off >= 0.5 * bound_of_ring(precision, ranks, magnitudes),
       "%s, %u ranks: a ring can be off by %.2f of the bound", references[precision].name, ranks,
       off / bound_of_ring(precision, ranks, magnitudes));
    /* a single number in the middle between two of the format */
    terms[0] = (float)(1 + u);
    off = fabs((double)ring(precision, (float[]){terms[0], 0}, 2) - (double)terms[0]);
    ok(off > 0.9 * precision_bound(precision, 1, 0, (double)terms[0]) * (1 - u),
       "... and one number by %.2f of it",
       off / precision_bound(precision, 1, 0, (double)terms[0]));
}

static void bounds(void)
{
    static const enum precision all[] = {PRECISION_BF16, PRECISION_FP16, PRECISION_E4M3,
                                         PRECISION_E5M2};

    for (size_t i = 0; i < 4; i++)
        bounds_hold(all[i]);
    bounds_are_nearly_reached(PRECISION_BF16, 8);
    bounds_are_nearly_reached(PRECISION_FP16, 16);
    bounds_are_nearly_reached(PRECISION_E4M3, 3);
    bounds_are_nearly_reached(PRECISION_E5M2, 2);
    /* COLLECTIVES.md, to first order */
    is_near(bound_of_ring(PRECISION_FP16, 5, 1), 4 * 0x1p-11, 4 * 0x1p-18,
            "a ring of 5: 4 u, u = 2^-11 for fp16");
    is_near(bound_of_tree(PRECISION_BF16, 9, 1), 4 * 0x1p-8, 4 * 0x1p-13,
            "a tree of 9: 4 u, u = 2^-8 for bf16");
    is_near(bound_of_ring(PRECISION_BF16, 1, 5), 0, 0, "the bound of one rank is 0");
    is_near(bound_of_tree(PRECISION_BF16, 1, 5), 0, 0, "... also for a tree");
}

/* Sums of small integers are exact in any order: COLLECTIVES.md, verification. */
static void integers_are_exact(void)
{
    struct random_numbers numbers = {47};
    static const struct {
        enum precision precision;
        int max;
    } cases[] = {
        {PRECISION_BF16, 256}, {PRECISION_FP16, 2048}, {PRECISION_E4M3, 16}, {PRECISION_E5M2, 8}};

    for (size_t c = 0; c < 4; c++) {
        size_t wrong = 0;

        for (int t = 0; t < 500; t++) {
            float terms[8];
            double sum = 0;

            for (unsigned rank = 0; rank < 8; rank++) {
                int max = cases[c].max / 8;

                terms[rank] = (float)((int)(random_bits(&numbers) % (uint64_t)(2 * max + 1)) - max);
                sum += (double)terms[rank];
            }
            wrong += (double)ring(cases[c].precision, terms, 8) != sum;
            wrong += (double)tree(cases[c].precision, terms, 8) != sum;
        }
        is_int(wrong, 0, "%s: integers up to %d add up exactly",
               references[cases[c].precision].name, cases[c].max);
    }
}

int main(void)
{
    for (int i = 0; i < REFERENCES; i++) {
        narrowing_is_exact(&references[i]);
        widening_is_exact(&references[i]);
    }
    writes_only_its_count();
    int8_blocks();
    bounds();
    integers_are_exact();
    return tap_done();
}
