/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_BLOCK_H
#define MUSTER_CODEC_BLOCK_H

#include "collectives/codec/path.h"
#include "collectives/codec/table.h"

/* The layout of a block, for block.c, which writes it, and decoding.c, which reads it. */

/* doc/codec-format.md: a block's header */
enum {
    AT_CHECKSUM = 0,
    AT_MODE = 4,
    AT_TYPE = 5,
    AT_TAIL_BYTES = 6,
    AT_BYTES = 8,
    AT_COUNT = 12,
};

enum mode { MODE_STORED, MODE_FILL, MODE_SINGLE, MODE_CODED };
enum { MODE_MASK = 0x0f, FLAG_ZEROS = 0x10 };

/* The last raw bytes are carried in the 64 states with which a coder begins, 16 bits in each, if
 * there are enough. */
enum { CARRIED_BYTES = 2 * CODEC_GROUP };

static inline size_t carried_bytes(size_t raw_bytes)
{
    return raw_bytes < CARRIED_BYTES ? 0 : CARRIED_BYTES;
}

/* The tail of a coded block: frequencies, then the upper halves of 64 states. */
enum { TAIL_BYTES_MAX = (CODEC_TABLE_BITS_MAX + CODEC_GROUP * (4 + 15) + 7) / 8 };

struct codec_scratch {
    /* with room for a store of a whole vector behind the last group */
    uint8_t symbols[CODEC_BLOCK_ELEMENTS_MAX + CODEC_GROUP];
    uint16_t words[CODEC_BLOCK_ELEMENTS_MAX + CODEC_GROUP];
    struct codec_coder coder;
    uint8_t zeros[CODEC_GROUPS_MAX / 8];
    uint32_t states[CODEC_GROUP];
    /* of two blocks that are decoded at a time, or of one */
    struct half {
        struct codec_decoder decoder;
        uint32_t states[CODEC_GROUP];
    } halves[2];
    uint32_t counts[256];
    uint16_t frequencies[256];
    /* raw bytes of the last elements, including the carried ones, which are known only at the end:
     * less than a chunk more than those */
    uint8_t tail_raw[CARRIED_BYTES + 3 * CODEC_GROUP];
    uint8_t tail[TAIL_BYTES_MAX + 8];
} __attribute__((aligned(64)));

/* Bytes of the map with a bit for each group, set for groups of zeros. */
static inline size_t zero_map_bytes(size_t count)
{
    return ((count + CODEC_GROUP - 1) / CODEC_GROUP + 7) / 8;
}

/* Elements of the next block if `left` elements are left. */
static inline size_t elements_of(size_t left)
{
    return left < CODEC_BLOCK_ELEMENTS ? left : CODEC_BLOCK_ELEMENTS;
}

#endif
