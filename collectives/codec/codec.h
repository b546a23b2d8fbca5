/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_H
#define MUSTER_CODEC_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lossless coding of gradients, block by block. Each block is independent: it can be encoded, sent,
 * checked, decoded and reduced while others are still on their way, and forwarded as it is. The
 * exponents go through 64 interleaved rANS coders (J. Duda, arXiv:1311.2540; F. Giesen,
 * arXiv:1402.3392) with a table per block; sign and mantissa are stored raw. doc/codec-format.md
 * defines the format; every path writes the same bytes.
 *
 * Coding does not allocate, keep state between calls or take a lock: threads may code at the same
 * time, each with its own scratch. Values and blocks need no alignment. Little-endian only. */

enum codec_type { CODEC_BF16, CODEC_FP16, CODEC_FP32, CODEC_TYPES };

enum {
    /* the most elements a block can have */
    CODEC_BLOCK_ELEMENTS_MAX = 65536,
    /* what a block should have: in a smaller block the table fits better, and it can be sent
     * sooner; in a larger one table and states take a smaller share. doc/codec-format.md has the
     * figures. */
    CODEC_BLOCK_ELEMENTS = 32768,
    /* blocks of fewer elements are stored uncoded: a table would take more than coding saves */
    CODEC_BLOCK_ELEMENTS_CODED = 256,
    /* bytes before a block's content */
    CODEC_BLOCK_HEADER_BYTES = 16,
};

/* Returns the bytes of an element. */
static inline size_t codec_type_bytes(enum codec_type type)
{
    return type == CODEC_FP32 ? 4 : 2;
}

/* The names are "bf16", "fp16" and "fp32"; codec_type_parse() returns false for others. */
const char *codec_type_name(enum codec_type type);
bool codec_type_parse(const char *name, enum codec_type *type);

/* Working memory of one coder or decoder, 64-byte aligned. It keeps nothing between calls. About
 * 240 KiB, of which a block touches what its elements need. */
struct codec_scratch;
struct codec_scratch *codec_scratch_create(void); /* NULL: out of memory */
void codec_scratch_destroy(struct codec_scratch *scratch);

/* An implementation: "portable", "avx2", "avx512". */
struct codec_path;

/* Returns the fastest path that this machine can run. */
const struct codec_path *codec_path_best(void);

/* Returns the path of a number, from 0 up, slowest first; NULL behind this machine's last. */
const struct codec_path *codec_path_at(unsigned number);
const struct codec_path *codec_path_named(const char *name); /* NULL: not on this machine */
const char *codec_path_name(const struct codec_path *path);

/* Returns the most bytes that a block of count elements can take: header and uncoded elements. */
size_t codec_block_bound(enum codec_type type, size_t count);

/* Encodes count elements, 0 to CODEC_BLOCK_ELEMENTS_MAX, into block, which has room for
 * codec_block_bound() bytes. Returns the block's size in bytes. Cannot fail. */
size_t codec_block_encode(const struct codec_path *path, enum codec_type type, const void *values,
                          size_t count, struct codec_scratch *scratch, void *block);

/* Reads the first CODEC_BLOCK_HEADER_BYTES of a block, so that a receiver knows how many bytes to
 * wait for. Only checks that the numbers are possible for a block, not the checksum. */
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
 * block holds. Returns -1 if the block is cut, altered or of another type or count; the values are
 * then undefined. */
int codec_block_decode(const struct codec_path *path, enum codec_type type, const void *block,
                       size_t bytes, struct codec_scratch *scratch, void *values, size_t count,
                       struct error *err);

/* The functions below code many elements in contiguous blocks of CODEC_BLOCK_ELEMENTS; the last may
 * have fewer. The bytes are the same as block by block; it is faster from memory, because the next
 * block is fetched meanwhile. */

/* Returns the most bytes that the blocks of count elements take. */
size_t codec_blocks_bound(enum codec_type type, size_t count);

/* Encodes count elements into blocks, which has room for codec_blocks_bound() bytes. Returns the
 * number of bytes. */
size_t codec_blocks_encode(const struct codec_path *path, enum codec_type type, const void *values,
                           size_t count, struct codec_scratch *scratch, void *blocks);

/* Decodes exactly `bytes` bytes of blocks that codec_blocks_encode() made of count elements of the
 * type. Returns -1 if they are other blocks, or one of them is cut or altered. */
int codec_blocks_decode(const struct codec_path *path, enum codec_type type, const void *blocks,
                        size_t bytes, struct codec_scratch *scratch, void *values, size_t count,
                        struct error *err);

#endif
