/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/precision/format.h"

#include <math.h>

size_t precision_bytes(enum precision precision)
{
    return precision_formats[precision].bytes;
}

double precision_least(enum precision precision)
{
    const struct precision_format *format = &precision_formats[precision];

    return ldexp(1, 1 - format->bias - (int)format->mantissa_bits);
}

double precision_unit(enum precision precision)
{
    return ldexp(1, -1 - (int)precision_formats[precision].mantissa_bits);
}

double precision_bound(enum precision precision, unsigned roundings, unsigned additions,
                       double sum_magnitudes)
{
    double growth = roundings * log1p(precision_unit(precision)) + additions * log1p(0x1p-24);
    /* Rounding a subnormal number changes it by at most half the least number. Each addition takes
     * in one rounded number; without additions a number is rounded by itself. */
    double underflow = (roundings == 0          ? 0
                        : additions > roundings ? additions
                                                : roundings) *
                       precision_least(precision) / 2;

    return expm1(growth) * sum_magnitudes + underflow * exp(growth);
}

double precision_bound_int8(float scale)
{
    /* the quotient is up to 127.5 and rounded by 2^-24 of itself, and so is the product */
    return (double)scale * (0.5 + 0x1p-16);
}
