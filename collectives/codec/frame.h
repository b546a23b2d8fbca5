/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_FRAME_H
#define MUSTER_CODEC_FRAME_H

#include "collectives/codec/codec.h"

/* Blocks in a file or a stream: a header with magic and version, the blocks, and an end record with
 * the number of elements and a checksum of the blocks' checksums. It detects a stream that is cut
 * between two blocks or whose blocks are exchanged. doc/codec-format.md. */

enum {
    CODEC_FRAME_HEADER_BYTES = 16,
    /* bytes behind the last whole element */
    CODEC_FRAME_REST_MAX = 3,
    CODEC_FRAME_END_BYTES_MAX = CODEC_BLOCK_HEADER_BYTES + 12 + CODEC_FRAME_REST_MAX,
};

struct codec_frame {
    enum codec_type type;
    size_t block_elements; /* the most that a block has */
    uint64_t elements;     /* so far */
    uint32_t chain;        /* CRC of the blocks' checksums so far */
};

/* Begins a frame and writes its header. block_elements is 1 to CODEC_BLOCK_ELEMENTS_MAX. */
void codec_frame_begin(struct codec_frame *frame, enum codec_type type, size_t block_elements,
                       uint8_t header[CODEC_FRAME_HEADER_BYTES]);

/* Counts a block that was written or decoded. */
void codec_frame_add(struct codec_frame *frame, const void *block, size_t count);

/* Writes the end record, with rest_bytes (0 to CODEC_FRAME_REST_MAX) behind the last whole element.
 * Returns the bytes of the record. */
size_t codec_frame_end(const struct codec_frame *frame, const void *rest, size_t rest_bytes,
                       uint8_t end[CODEC_FRAME_END_BYTES_MAX]);

/* Whether the `available` bytes begin with a frame's magic; false for fewer than 4 bytes. */
bool codec_frame_is_one(const void *bytes, size_t available);

/* Reads a header. Returns -1 if it is none, of another version, or altered. */
int codec_frame_open(struct codec_frame *frame, const uint8_t header[CODEC_FRAME_HEADER_BYTES],
                     struct error *err);

/* What comes next in a frame, by its first CODEC_BLOCK_HEADER_BYTES: a block or the end record. */
struct codec_frame_next {
    bool is_end;
    size_t bytes; /* of the whole block or record */
    size_t count; /* elements of the block */
};
int codec_frame_peek(const struct codec_frame *frame, const uint8_t *bytes,
                     struct codec_frame_next *next, struct error *err);

/* Reads an end record of exactly `bytes` bytes and compares it with the blocks added. Sets rest to
 * *rest_bytes bytes, at most CODEC_FRAME_REST_MAX. Returns -1 if the record does not fit. */
int codec_frame_close(const struct codec_frame *frame, const uint8_t *end, size_t bytes,
                      uint8_t rest[CODEC_FRAME_REST_MAX], size_t *rest_bytes, struct error *err);

#endif
