/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_TEST_GRADIENTS_H
#define MUSTER_TEST_GRADIENTS_H

#include "collectives/codec/codec.h"

#include <stddef.h>
#include <stdint.h>

/* Repeatable random numbers: a seed gives the same numbers on every machine. */
struct random_numbers {
    uint64_t state; /* not 0 */
};
uint64_t random_bits(struct random_numbers *numbers);
double random_uniform(struct random_numbers *numbers); /* in (0, 1) */
double random_normal(struct random_numbers *numbers);
double random_laplace(struct random_numbers *numbers);

/* Kinds of values for tests of the codec: typical ones and extreme ones. */
enum gradients {
    GRADIENTS_NORMAL,
    GRADIENTS_LAPLACE,
    GRADIENTS_LAYERS,   /* normal, sigma changes every 5000 elements */
    GRADIENTS_ROWS,     /* normal, most rows of 192 are zeros */
    GRADIENTS_SPARSE,   /* normal, every second element zero */
    GRADIENTS_ZEROS,    /* all 0 */
    GRADIENTS_NEGATIVE, /* all -0 */
    GRADIENTS_CONSTANT,
    GRADIENTS_LAST,     /* zeros, the last element 1 */
    GRADIENTS_FIRST,    /* zeros, the first element 1 */
    GRADIENTS_BINADE,   /* all in [1, 2) */
    GRADIENTS_BITS,     /* any bits at all: NaNs, infinities, denormals */
    GRADIENTS_COUNTING, /* the bit patterns 0, 1, 2 ... */
    GRADIENTS_NANS,     /* NaNs of any payload, infinities */
    GRADIENTS_DENORMAL,
    GRADIENTS_RARE,  /* one exponent, but another one in one of 8192 elements */
    GRADIENTS_WIDE,  /* exponents uniform over 48 values */
    GRADIENTS_WIDER, /* exponents uniform over 160 values */
    GRADIENTS_STEEP, /* each exponent four times as frequent as the one below */
    GRADIENTS_KINDS,
};
const char *gradients_name(enum gradients kind);

/* Fills count elements of the type. */
void gradients_fill(enum gradients kind, enum codec_type type, struct random_numbers *numbers,
                    void *values, size_t count);

/* Returns Shannon's bound: the bits per element for exponents, if these are independent, from their
 * frequencies in all count elements. Sign and mantissa do not count. */
double gradients_exponent_entropy(enum codec_type type, const void *values, size_t count);

/* Recomputes the checksum of a block whose bytes were changed, to reach the code behind the
 * check. */
void codec_block_seal(void *block, size_t bytes);

#endif
