/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/collectives/gradients.h"
#include "collectives/codec/block.h"
#include "collectives/codec/crc32c.h"

#include <math.h>
#include <string.h>

static const char *const names[GRADIENTS_KINDS] = {
    [GRADIENTS_NORMAL] = "normal",
    [GRADIENTS_LAPLACE] = "Laplace",
    [GRADIENTS_LAYERS] = "layers of several sigma",
    [GRADIENTS_ROWS] = "rows of zeros",
    [GRADIENTS_SPARSE] = "every second zero",
    [GRADIENTS_ZEROS] = "zeros",
    [GRADIENTS_NEGATIVE] = "negative zeros",
    [GRADIENTS_CONSTANT] = "constant",
    [GRADIENTS_LAST] = "zeros but the last",
    [GRADIENTS_FIRST] = "zeros but the first",
    [GRADIENTS_BINADE] = "one binade",
    [GRADIENTS_BITS] = "any bits",
    [GRADIENTS_COUNTING] = "all patterns",
    [GRADIENTS_NANS] = "NaNs and infinities",
    [GRADIENTS_DENORMAL] = "denormals",
    [GRADIENTS_RARE] = "one rare exponent",
    [GRADIENTS_WIDE] = "48 exponents",
    [GRADIENTS_WIDER] = "160 exponents",
    [GRADIENTS_STEEP] = "steep exponents",
};

const char *gradients_name(enum gradients kind)
{
    return names[kind];
}

/* xorshift64*, S. Vigna, arXiv:1402.6246 */
uint64_t random_bits(struct random_numbers *numbers)
{
    numbers->state ^= numbers->state >> 12;
    numbers->state ^= numbers->state << 25;
    numbers->state ^= numbers->state >> 27;
    return numbers->state * 0x2545f4914f6cdd1d;
}

double random_uniform(struct random_numbers *numbers)
{
    return ((double)(random_bits(numbers) >> 12) + 0.5) / 4503599627370496.0;
}

double random_normal(struct random_numbers *numbers)
{
    double radius = sqrt(-2 * log(random_uniform(numbers)));

    return radius * cos(6.283185307179586 * random_uniform(numbers));
}

double random_laplace(struct random_numbers *numbers)
{
    double u = random_uniform(numbers) - 0.5;

    return u < 0 ? log(1 + 2 * u) : -log(1 - 2 * u);
}

/* Returns the number of mantissa bits of a type. */
static unsigned mantissa_bits(enum codec_type type)
{
    return type == CODEC_BF16 ? 7 : type == CODEC_FP16 ? 10 : 23;
}

static uint32_t highest_exponent(enum codec_type type)
{
    return type == CODEC_FP16 ? 31 : 255;
}

static uint32_t assemble(enum codec_type type, uint32_t exponent, uint64_t bits)
{
    unsigned mantissa = mantissa_bits(type), width = type == CODEC_FP32 ? 32 : 16;

    if (exponent > highest_exponent(type))
        exponent = highest_exponent(type);
    return (uint32_t)(bits >> 63) << (width - 1) | exponent << mantissa |
           (uint32_t)(bits & ((1u << mantissa) - 1));
}

/* Returns the bit pattern of a number, with the mantissa truncated. For fp16, numbers below its
 * normal range become 0. */
static uint32_t pattern_of(enum codec_type type, double number)
{
    float single = (float)number;
    uint32_t word;
    int exponent;

    memcpy(&word, &single, sizeof word);
    if (type == CODEC_FP32)
        return word;
    if (type == CODEC_BF16)
        return word >> 16;
    exponent = (int)(word >> 23 & 0xff) - 127 + 15;
    if (exponent <= 0)
        return word >> 16 & 0x8000;
    return (word >> 16 & 0x8000) | (uint32_t)exponent << 10 | (word >> 13 & 0x3ff);
}

static uint32_t pattern_at(enum gradients kind, enum codec_type type,
                           struct random_numbers *numbers, size_t n, size_t count)
{
    static const double sigmas[] = {1e-3, 3e-2, 2e-4, 1e-3, 0.5};
    uint64_t bits = random_bits(numbers);
    uint32_t one = pattern_of(type, 1);

    switch (kind) {
    case GRADIENTS_NORMAL:
        return pattern_of(type, 0.01 * random_normal(numbers));
    case GRADIENTS_LAPLACE:
        return pattern_of(type, 0.01 * random_laplace(numbers));
    case GRADIENTS_LAYERS:
        return pattern_of(type, sigmas[n / 5000 % 5] * random_normal(numbers));
    case GRADIENTS_ROWS:
        return n / 192 * 2654435761u % 8 > 1 ? 0 : pattern_of(type, 0.01 * random_normal(numbers));
    case GRADIENTS_SPARSE:
        return n % 2 ? 0 : pattern_of(type, 0.01 * random_normal(numbers));
    case GRADIENTS_ZEROS:
        return 0;
    case GRADIENTS_NEGATIVE:
        return pattern_of(type, -0.0);
    case GRADIENTS_CONSTANT:
        return pattern_of(type, 0.3);
    case GRADIENTS_LAST:
        return n + 1 == count ? one : 0;
    case GRADIENTS_FIRST:
        return n == 0 ? one : 0;
    case GRADIENTS_BINADE:
        return assemble(type, one >> mantissa_bits(type), bits);
    case GRADIENTS_BITS:
        return (uint32_t)bits;
    case GRADIENTS_COUNTING:
        return type == CODEC_FP32 ? (uint32_t)n * 65537u : (uint32_t)n;
    case GRADIENTS_NANS:
        return assemble(type, highest_exponent(type),
                        n % 7 == 0 ? bits & ~UINT64_C(0xffffffff) : bits);
    case GRADIENTS_DENORMAL:
        return assemble(type, 0, bits | 1);
    case GRADIENTS_RARE:
        return assemble(type, n % 8192 == 77 ? 3 : 15, bits);
    case GRADIENTS_WIDE:
        return assemble(type, 100 + (uint32_t)(bits >> 32) % 48, bits);
    case GRADIENTS_WIDER:
        return assemble(type, 40 + (uint32_t)(bits >> 32) % 160, bits);
    default:
        return assemble(type, 20 - (uint32_t)__builtin_ctzll(bits | 1u << 20) / 2, bits);
    }
}

void gradients_fill(enum gradients kind, enum codec_type type, struct random_numbers *numbers,
                    void *values, size_t count)
{
    unsigned char *at = values;

    for (size_t n = 0; n < count; n++) {
        uint32_t pattern = pattern_at(kind, type, numbers, n, count);
        uint16_t half = (uint16_t)pattern;

        if (type == CODEC_FP32)
            memcpy(at + 4 * n, &pattern, sizeof pattern);
        else
            memcpy(at + 2 * n, &half, sizeof half);
    }
}

double gradients_exponent_entropy(enum codec_type type, const void *values, size_t count)
{
    const unsigned char *at = values;
    size_t counts[256] = {0};
    double bits = 0;

    for (size_t n = 0; n < count; n++) {
        uint32_t word = 0;

        memcpy(&word, at + n * codec_type_bytes(type), codec_type_bytes(type));
        counts[word >> mantissa_bits(type) & highest_exponent(type)]++;
    }
    for (unsigned s = 0; s < 256; s++)
        if (counts[s] > 0)
            bits -= (double)counts[s] * log2((double)counts[s] / (double)count);
    return count == 0 ? 0 : bits / (double)count;
}

void codec_block_seal(void *block, size_t bytes)
{
    uint8_t *at = block;

    if (bytes >= CODEC_BLOCK_HEADER_BYTES)
        codec_store32(at + AT_CHECKSUM, crc32c(0, at + AT_MODE, bytes - AT_MODE));
}
