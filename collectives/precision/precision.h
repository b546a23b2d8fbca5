/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PRECISION_H
#define MUSTER_PRECISION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Converts fp32 to the formats that are sent, and back: bf16, fp16, the two of OCP FP8 (OCP 8-bit
 * Floating Point Specification, revision 1.0, section 5) and int8 with a scale per block. Rounds to
 * the nearest, ties to even, in any rounding mode of the processor (int8: in the default mode, to
 * nearest); every path gives the same bits.
 * NaN stays NaN and keeps its sign, 0 its sign. Nothing here allocates or fails. */

enum precision {
    PRECISION_BF16,
    PRECISION_FP16,
    PRECISION_E4M3, /* overflow and infinity become NaN: it has no infinity */
    PRECISION_E5M2, /* overflow becomes infinity */
    PRECISION_COUNT
};

size_t precision_bytes(enum precision precision);

/* Returns the least number above 0. */
double precision_least(enum precision precision);

/* Convert count numbers. The narrow numbers take precision_bytes() each and need not be aligned. */
void precision_narrow(enum precision precision, const float *in, size_t count, void *out);
void precision_widen(enum precision precision, const void *in, size_t count, float *out);

/* --------------------------------------------------------------------------------------- int8 */

enum { PRECISION_INT8_BLOCK = 256 };

/* Returns the number of scales for count numbers: one per block; the last block may be shorter. */
size_t precision_int8_scales(size_t count);

/* Convert count numbers. A block's scale is its greatest magnitude / 127 (at least FLT_MIN, unless
 * all numbers are 0); each number becomes the nearest multiple of the scale. A block with a number
 * that is not finite gets the scale NaN, and all its numbers come back as NaN. */
void precision_int8_narrow(const float *in, size_t count, int8_t *out, float *scales);
void precision_int8_widen(const int8_t *in, const float *scales, size_t count, float *out);

/* ------------------------------------------------------------------------------------- bounds */

/* Returns the unit roundoff u: without underflow, rounding changes a number by at most u times
 * itself. 2^-8 for bf16, 2^-11 for fp16, 2^-4 for e4m3, 2^-3 for e5m2. */
double precision_unit(enum precision precision);

/* Returns the largest error of a sum of `additions` + 1 numbers that is added in fp32, if on the
 * way of any number into the result partial sums were sent, and so rounded, at most `roundings`
 * times. sum_magnitudes is the sum of the numbers' magnitudes. If nothing overflows:
 *   ((1 + u)^roundings (1 + 2^-24)^additions - 1) sum_magnitudes + what underflow adds,
 * which is roundings u sum_magnitudes to the first order (N. Higham, Accuracy and Stability of
 * Numerical Algorithms, section 4.2). */
double precision_bound(enum precision precision, unsigned roundings, unsigned additions,
                       double sum_magnitudes);

/* Returns the largest error of one number of an int8 block with this scale: half the scale, and the
 * rounding of a division and a product in fp32. */
double precision_bound_int8(float scale);

/* -------------------------------------------------------------------------------------- paths */

/* An implementation of the functions above, which use the fastest path. For tests. */
struct precision_path {
    const char *name; /* "portable", "avx2", "avx512" */
    void (*narrow)(enum precision precision, const float *in, size_t count, void *out);
    void (*widen)(enum precision precision, const void *in, size_t count, float *out);
    void (*int8_narrow)(const float *in, size_t count, int8_t *out, float *scales);
    void (*int8_widen)(const int8_t *in, const float *scales, size_t count, float *out);
};

/* Returns the path of a number, from 0 up, slowest first; NULL behind this machine's last. */
const struct precision_path *precision_path_at(unsigned number);

#endif
