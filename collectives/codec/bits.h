/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_BITS_H
#define MUSTER_CODEC_BITS_H

#include "collectives/codec/path.h"

/* A stream of numbers of some bits each, the first in the lowest bits of the first byte. Neither
 * writer nor reader checks for the end: both buffers have room for 8 bytes behind all that is put
 * or taken, and the reader's is 0 behind its content. */

struct bits {
    uint8_t *bytes;
    size_t position; /* in bits */
};

/* Puts value, below 2^width; width is at most 32. The writer's bytes must be 0 before. */
static inline void bits_put(struct bits *bits, unsigned width, uint32_t value)
{
    uint8_t *at = bits->bytes + bits->position / 8;

    codec_store64(at, codec_load64(at) | (uint64_t)value << bits->position % 8);
    bits->position += width;
}

static inline uint32_t bits_take(struct bits *bits, unsigned width)
{
    uint64_t word = codec_load64(bits->bytes + bits->position / 8) >> bits->position % 8;

    bits->position += width;
    return (uint32_t)(word & ((UINT64_C(1) << width) - 1));
}

/* Puts a number from 1 to 65535: the index of its highest bit in four bits, then the bits below. */
static inline void bits_put_number(struct bits *bits, uint32_t number)
{
    unsigned below = 31 - (unsigned)__builtin_clz(number);

    bits_put(bits, 4 + below, below | (number ^ 1u << below) << 4);
}

static inline uint32_t bits_take_number(struct bits *bits)
{
    /* 4 + 15 bits are in one word, wherever they begin in it */
    uint64_t word = codec_load64(bits->bytes + bits->position / 8) >> bits->position % 8;
    unsigned below = word & 15;

    bits->position += 4 + below;
    return 1u << below | (uint32_t)(word >> 4 & ((1u << below) - 1));
}

static inline size_t bits_bytes(const struct bits *bits)
{
    return (bits->position + 7) / 8;
}

#endif
