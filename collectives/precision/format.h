/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PRECISION_FORMAT_H
#define MUSTER_PRECISION_FORMAT_H

#include "collectives/precision/precision.h"

/* The parameters of a format: one table for conversions and bounds. */
struct precision_format {
    unsigned bytes;
    unsigned mantissa_bits;
    int bias;
    uint32_t greatest;     /* code of the greatest finite number; the next code is for overflow */
    uint32_t nan;          /* a code of NaN */
    uint32_t infinity;     /* code of infinity; codes above it are NaNs */
    uint32_t payload_bits; /* of a NaN, below its quiet bit, that are kept */
};

static const struct precision_format precision_formats[PRECISION_COUNT] = {
    [PRECISION_BF16] = {2, 7, 127, 0x7f7f, 0x7fc0, 0x7f80, 6},
    [PRECISION_FP16] = {2, 10, 15, 0x7bff, 0x7e00, 0x7c00, 9},
    /* has no infinity, so that its code here is that of 448, above which is NaN */
    [PRECISION_E4M3] = {1, 3, 7, 0x7e, 0x7f, 0x7e, 0},
    [PRECISION_E5M2] = {1, 2, 15, 0x7b, 0x7e, 0x7c, 1},
};

#endif
