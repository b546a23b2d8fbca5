/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_H
#define MUSTER_CODEC_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lossless coding of gradients, block by block. A block stands for itself: it can be coded, sent,
 * checked, decoded and reduced while others are still on their way, and forwarded as it is. The
 * exponents go through 64 interleaved rANS coders (J. Duda, arXiv:1311.2540; F. Giesen,
 * arXiv:1402.3392) with a table of their own per block; sign and mantissa stand raw. The format is
 * doc/codec-format.md; every path writes the same bytes.
 *
 * Nothing here allocates, keeps state between calls or takes a lock: threads may code at the same
 * time, each with a scratch of its own. Values and blocks need no alignment. Little-endian only. */

enum codec_type { CODEC_BF16, CODEC_FP16, CODEC_FP32, CODEC_TYPES };

enum {
    /* the most elements a block can have */
    CODEC_BLOCK_ELEMENTS_MAX = 65536,
    /* what a block should have: the smaller, the better its table fits and the sooner it can be
     * sent; the larger, the less table and states weigh. doc/codec-format.md has the figures. */
    CODEC_BLOCK_ELEMENTS = 32768,
    /* fewer are stored: a table would take what they save */
    CODEC_BLOCK_ELEMENTS_CODED = 256,
    /* bytes before a block's content */
    CODEC_BLOCK_HEADER_BYTES = 16,
};

/* Bytes of an element. */
static inline size_t codec_type_bytes(enum codec_type type)
{
    return type == CODEC_FP32 ? 4 : 2;
}

/* "bf16", "fp16", "fp32", and back; false for another name. */
const char *codec_type_name(enum codec_type type);
bool codec_type_parse(const char *name, enum codec_type *type);

/* Working memory of one coder or decoder, 64-byte aligned, contents of no importance before and
 * after a call. About 240 KiB, of which a block touches what its elements need. */
struct codec_scratch;
size_t codec_scratch_bytes(void);
struct codec_scratch *codec_scratch_create(void); /* NULL: out of memory */
void codec_scratch_destroy(struct codec_scratch *scratch);

/* How the work is done: "portable", "avx2", "avx512". */
struct codec_path;

/* The fastest that this machine has. */
const struct codec_path *codec_path_best(void);

/* By its number, from 0 up, slowest first; NULL behind the last that this machine has. */
const struct codec_path *codec_path_at(unsigned number);
const struct codec_path *codec_path_named(const char *name); /* NULL: not on this machine */
const char *codec_path_name(const struct codec_path *path);

/* The most bytes that a block of count elements can take: header and the elements as they are. */
size_t codec_block_bound(enum codec_type type, size_t count);

/* Codes count elements, 0 to CODEC_BLOCK_ELEMENTS_MAX, into block, which has room for
 * codec_block_bound() bytes. Returns the block's size in bytes. Cannot fail. */
size_t codec_block_encode(const struct codec_path *path, enum codec_type type, const void *values,
                          size_t count, struct codec_scratch *scratch, void *block);

/* What the first CODEC_BLOCK_HEADER_BYTES of a block say, so that a receiver knows for how much to
 * wait. The checksum is not looked at: the numbers are within what a block can have, no more. */
struct codec_block_info {
    enum codec_type type;
    size_t count; /* elements */
    size_t bytes; /* of the block with its header */
    const char *mode;
};
int codec_block_peek(const void *block, size_t available, struct codec_block_info *info,
                     struct error *err);

/* Decodes the block of exactly `bytes` bytes into values, which has room for exactly count elements
 * of the type. Reads nothing outside the block and writes nothing outside values, whatever the
 * block holds. -1: the block is cut, altered or another's; values then hold nothing of use. */
int codec_block_decode(const struct codec_path *path, enum codec_type type, const void *block,
                       size_t bytes, struct codec_scratch *scratch, void *values, size_t count,
                       struct error *err);

/* Many elements in blocks of CODEC_BLOCK_ELEMENTS, of which the last may have fewer, one behind the
 * other: the same bytes as block by block, and faster from memory, because the next block is
 * fetched while one is worked on. */

/* The most bytes that they take. */
size_t codec_blocks_bound(enum codec_type type, size_t count);

/* Codes count elements into blocks, which has room for codec_blocks_bound() bytes. Returns how many
 * bytes they are. */
size_t codec_blocks_encode(const struct codec_path *path, enum codec_type type, const void *values,
                           size_t count, struct codec_scratch *scratch, void *blocks);

/* Decodes the blocks that codec_blocks_encode() made of count elements of the type: exactly `bytes`
 * bytes into values. -1: they are other blocks, or one of them is cut or altered. */
int codec_blocks_decode(const struct codec_path *path, enum codec_type type, const void *blocks,
                        size_t bytes, struct codec_scratch *scratch, void *values, size_t count,
                        struct error *err);

/* Puts the checksum over a block of which bytes were changed, as tests and fuzzers do to reach what
 * lies behind it. */
void codec_block_seal(void *block, size_t bytes);

#endif
