/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/frame.h"
#include "collectives/codec/crc32c.h"
#include "collectives/codec/path.h"

#include <inttypes.h>

/* doc/codec-format.md: the header, and the end record, whose first 16 bytes are like a block's */
enum {
    AT_MAGIC = 0,
    AT_VERSION = 4,
    AT_TYPE = 5,
    AT_BLOCK_ELEMENTS = 8,
    AT_HEADER_CHECKSUM = 12,

    AT_END_CHECKSUM = 0,
    AT_END_MODE = 4,
    AT_END_TYPE = 5,
    AT_END_REST_BYTES = 6,
    AT_END_BYTES = 8,
    AT_END_COUNT = 12,
    AT_END_ELEMENTS = 16,
    AT_END_CHAIN = 24,
    AT_END_REST = 28,
};

enum { VERSION = 1, MODE_END = 0x0f };

/* the first byte is neither ASCII nor the start of a UTF-8 character */
static const uint8_t magic[4] = {0x8d, 'M', 'G', 'C'};

void codec_frame_begin(struct codec_frame *frame, enum codec_type type, size_t block_elements,
                       uint8_t header[CODEC_FRAME_HEADER_BYTES])
{
    *frame = (struct codec_frame){.type = type, .block_elements = block_elements};
    memset(header, 0, CODEC_FRAME_HEADER_BYTES);
    memcpy(header + AT_MAGIC, magic, sizeof magic);
    header[AT_VERSION] = VERSION;
    header[AT_TYPE] = (uint8_t)type;
    codec_store32(header + AT_BLOCK_ELEMENTS, (uint32_t)block_elements);
    codec_store32(header + AT_HEADER_CHECKSUM, crc32c(0, header, AT_HEADER_CHECKSUM));
}

void codec_frame_add(struct codec_frame *frame, const void *block, size_t count)
{
    frame->chain = crc32c(frame->chain, block, sizeof(uint32_t));
    frame->elements += count;
}

size_t codec_frame_end(const struct codec_frame *frame, const void *rest, size_t rest_bytes,
                       uint8_t end[CODEC_FRAME_END_BYTES_MAX])
{
    size_t bytes = AT_END_REST + rest_bytes;

    memset(end, 0, CODEC_FRAME_END_BYTES_MAX);
    end[AT_END_MODE] = MODE_END;
    end[AT_END_TYPE] = (uint8_t)frame->type;
    end[AT_END_REST_BYTES] = (uint8_t)rest_bytes;
    codec_store32(end + AT_END_BYTES, (uint32_t)bytes);
    codec_store64(end + AT_END_ELEMENTS, frame->elements);
    codec_store32(end + AT_END_CHAIN, frame->chain);
    if (rest_bytes > 0)
        memcpy(end + AT_END_REST, rest, rest_bytes);
    codec_store32(end + AT_END_CHECKSUM, crc32c(0, end + AT_END_MODE, bytes - AT_END_MODE));
    return bytes;
}

bool codec_frame_is_one(const void *bytes, size_t available)
{
    return available >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

int codec_frame_open(struct codec_frame *frame, const uint8_t header[CODEC_FRAME_HEADER_BYTES],
                     struct error *err)
{
    uint32_t checksum = crc32c(0, header, AT_HEADER_CHECKSUM);
    uint32_t block_elements = codec_load32(header + AT_BLOCK_ELEMENTS);

    if (!codec_frame_is_one(header, CODEC_FRAME_HEADER_BYTES))
        return error_set(err, "not in muster-codec's format");
    if (header[AT_VERSION] != VERSION)
        return error_set(err, "version %u of the format, this program reads version %d",
                         header[AT_VERSION], VERSION);
    if (codec_load32(header + AT_HEADER_CHECKSUM) != checksum)
        return error_set(err, "corrupt header: checksum is 0x%08x, expected 0x%08x", checksum,
                         codec_load32(header + AT_HEADER_CHECKSUM));
    if (header[AT_TYPE] >= CODEC_TYPES || codec_load16(header + AT_TYPE + 1) != 0 ||
        block_elements < 1 || block_elements > CODEC_BLOCK_ELEMENTS_MAX)
        return error_set(err, "header of type %u with blocks of %" PRIu32 " elements",
                         header[AT_TYPE], block_elements);
    *frame = (struct codec_frame){.type = (enum codec_type)header[AT_TYPE],
                                  .block_elements = block_elements};
    return 0;
}

int codec_frame_peek(const struct codec_frame *frame, const uint8_t *bytes,
                     struct codec_frame_next *next, struct error *err)
{
    struct codec_block_info info;

    *next = (struct codec_frame_next){0};
    if (bytes[AT_END_MODE] == MODE_END) {
        next->is_end = true;
        next->bytes = codec_load32(bytes + AT_END_BYTES);
        if (next->bytes < AT_END_REST || next->bytes > CODEC_FRAME_END_BYTES_MAX)
            return error_set(err, "end record of %zu bytes, expected %d to %d", next->bytes,
                             AT_END_REST, CODEC_FRAME_END_BYTES_MAX);
        return 0;
    }
    if (codec_block_peek(bytes, CODEC_BLOCK_HEADER_BYTES, &info, err) != 0)
        return -1;
    if (info.type != frame->type || info.count > frame->block_elements)
        return error_set(err, "block of %zu elements of %s in a frame of %s, at most %zu each",
                         info.count, codec_type_name(info.type), codec_type_name(frame->type),
                         frame->block_elements);
    next->bytes = info.bytes;
    next->count = info.count;
    return 0;
}

int codec_frame_close(const struct codec_frame *frame, const uint8_t *end, size_t bytes,
                      uint8_t rest[CODEC_FRAME_REST_MAX], size_t *rest_bytes, struct error *err)
{
    uint32_t checksum;
    size_t length;

    if (bytes < AT_END_REST || bytes > CODEC_FRAME_END_BYTES_MAX)
        return error_set(err, "end record of %zu bytes, expected %d to %d", bytes, AT_END_REST,
                         CODEC_FRAME_END_BYTES_MAX);
    checksum = crc32c(0, end + AT_END_MODE, bytes - AT_END_MODE);
    if (codec_load32(end + AT_END_CHECKSUM) != checksum)
        return error_set(err, "corrupt end record: checksum is 0x%08x, expected 0x%08x", checksum,
                         codec_load32(end + AT_END_CHECKSUM));
    length = codec_load16(end + AT_END_REST_BYTES);
    if (end[AT_END_MODE] != MODE_END || end[AT_END_TYPE] != frame->type ||
        codec_load32(end + AT_END_COUNT) != 0 || bytes != AT_END_REST + length ||
        length >= codec_type_bytes(frame->type))
        return error_set(err, "inconsistent end record");
    if (codec_load64(end + AT_END_ELEMENTS) != frame->elements)
        return error_set(err, "%" PRIu64 " elements where the end counts %" PRIu64, frame->elements,
                         codec_load64(end + AT_END_ELEMENTS));
    if (codec_load32(end + AT_END_CHAIN) != frame->chain)
        return error_set(err,
                         "blocks differ from those in the end record, or are in a different order");
    memcpy(rest, end + AT_END_REST, length);
    *rest_bytes = length;
    return 0;
}
