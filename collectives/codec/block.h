/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_BLOCK_H
#define MUSTER_CODEC_BLOCK_H

#include "collectives/codec/path.h"
#include "collectives/codec/table.h"

/* What a block looks like, for those who write it (block.c) and read it (decoding.c). */

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

/* The last raw bytes travel in the 64 states a coder begins with, 16 bits in each, where there are
 * enough. */
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
    /* of two blocks that are decoded at a time, or the first's alone */
    struct half {
        struct codec_decoder decoder;
        uint32_t states[CODEC_GROUP];
    } halves[2];
    uint32_t counts[256];
    uint16_t frequencies[256];
    /* of the last elements, those that are known only at the end among them: less than a chunk
     * more than what is carried */
    uint8_t tail_raw[CARRIED_BYTES + 3 * CODEC_GROUP];
    uint8_t tail[TAIL_BYTES_MAX + 8];
} __attribute__((aligned(64)));

/* Of the bits that say which groups are of zeros. */
static inline size_t zero_map_bytes(size_t count)
{
    return ((count + CODEC_GROUP - 1) / CODEC_GROUP + 7) / 8;
}

/* Elements of the next block where `left` are left. */
static inline size_t elements_of(size_t left)
{
    return left < CODEC_BLOCK_ELEMENTS ? left : CODEC_BLOCK_ELEMENTS;
}

#endif
