/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/block.h"
#include "lib/base/parse_name.h"

#include <stdlib.h>

struct codec_scratch *codec_scratch_create(void)
{
    return aligned_alloc(64, sizeof(struct codec_scratch));
}

void codec_scratch_destroy(struct codec_scratch *scratch)
{
    free(scratch);
}

static const char *const type_names[CODEC_TYPES] = {"bf16", "fp16", "fp32"};

const char *codec_type_name(enum codec_type type)
{
    return type_names[type];
}

PARSE_NAME(codec_type_parse, enum codec_type, codec_type_name, CODEC_TYPES)

size_t codec_block_bound(enum codec_type type, size_t count)
{
    return CODEC_BLOCK_HEADER_BYTES + count * codec_type_bytes(type);
}

/* ------------------------------------------------------------------------------------ coding */

static size_t finish(const struct codec_path *path, uint8_t *block, unsigned mode,
                     enum codec_type type, size_t tail_bytes, size_t count, size_t bytes)
{
    block[AT_MODE] = (uint8_t)mode;
    block[AT_TYPE] = (uint8_t)type;
    block[AT_TAIL_BYTES] = (uint8_t)tail_bytes;
    block[AT_TAIL_BYTES + 1] = (uint8_t)(tail_bytes >> 8);
    codec_store32(block + AT_BYTES, (uint32_t)bytes);
    codec_store32(block + AT_COUNT, (uint32_t)count);
    codec_store32(block + AT_CHECKSUM, path->crc(0, block + AT_MODE, bytes - AT_MODE));
    return bytes;
}

static size_t store(const struct codec_path *path, uint8_t *block, enum codec_type type,
                    const uint8_t *values, size_t count)
{
    size_t bytes = count * codec_type_bytes(type);

    if (bytes > 0)
        memcpy(block + CODEC_BLOCK_HEADER_BYTES, values, bytes);
    return finish(path, block, MODE_STORED, type, 0, count, CODEC_BLOCK_HEADER_BYTES + bytes);
}

/* Whether all elements are equal: then each byte equals that one element before. */
static bool all_the_same(const uint8_t *values, size_t bytes, size_t width)
{
    return bytes >= width && memcmp(values, values + width, bytes - width) == 0;
}

static size_t write_tail(struct codec_scratch *scratch)
{
    struct bits bits = {scratch->tail, 0};

    memset(scratch->tail, 0, sizeof scratch->tail);
    codec_table_write(scratch->frequencies, &bits);
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++)
        bits_put_number(&bits, scratch->states[lane] >> 16);
    return bits_bytes(&bits);
}

/* Encodes the exponents, `kept` elements in scratch->symbols, behind the raw bytes, the last of
 * which are carried in the states. Returns the end, or NULL if it would not be before limit. */
static uint8_t *encode_exponents(const struct codec_path *path, struct codec_scratch *scratch,
                                 size_t kept, uint8_t *raw_end, size_t carried,
                                 const uint8_t *limit, struct codec_ahead *ahead,
                                 size_t *tail_bytes)
{
    uint8_t *at = raw_end - carried;
    uint16_t *words_end = scratch->words + CODEC_BLOCK_ELEMENTS_MAX + CODEC_GROUP, *words;
    size_t words_bytes;

    codec_table_scale(scratch->counts, scratch->frequencies);
    /* Words take at least that less what the final states can hold: do not try in vain. */
    if (!codec_table_costs_less(scratch->counts, scratch->frequencies,
                                8 * (uint64_t)(limit - raw_end)))
        return NULL;
    codec_table_coder(scratch->frequencies, &scratch->coder);
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++)
        scratch->states[lane] = CODEC_STATE_LOW | (carried ? codec_load16(at + 2 * lane) : 0);
    words =
        path->encode(scratch->symbols, kept, &scratch->coder, scratch->states, words_end, ahead);
    words_bytes = (size_t)(words_end - words) * sizeof *words;
    *tail_bytes = write_tail(scratch);
    if (words_bytes + CODEC_LOW_HALVES_BYTES + *tail_bytes >= (size_t)(limit - at))
        return NULL;
    memcpy(at, words, words_bytes);
    at += words_bytes;
    for (unsigned lane = 0; lane < CODEC_GROUP; lane++, at += 2)
        codec_store16(at, (uint16_t)scratch->states[lane]);
    memcpy(at, scratch->tail, *tail_bytes);
    return at + *tail_bytes;
}

static size_t encode_block(const struct codec_path *path, enum codec_type type,
                           const uint8_t *values, size_t count, struct codec_ahead *ahead,
                           struct codec_scratch *scratch, uint8_t *block)
{
    size_t width = codec_type_bytes(type), map_bytes = zero_map_bytes(count);
    size_t kept, tail_bytes = 1;
    uint8_t *out = block, *raw = out + CODEC_BLOCK_HEADER_BYTES, *at, *limit;
    unsigned mode = MODE_CODED;

    if (count > 1 && all_the_same(values, count * width, width)) {
        memcpy(raw, values, width);
        return finish(path, out, MODE_FILL, type, 0, count, CODEC_BLOCK_HEADER_BYTES + width);
    }
    if (count < CODEC_BLOCK_ELEMENTS_CODED)
        return store(path, out, type, values, count);

    memset(scratch->zeros, 0, map_bytes);
    kept = path->split(type, values, count, scratch->symbols, raw, scratch->zeros, scratch->counts);
    at = raw + codec_raw_bytes(type, kept);
    if (kept == count)
        map_bytes = 0;
    limit = out + codec_block_bound(type, count) - map_bytes;
    if (scratch->counts[scratch->symbols[0]] == kept) {
        mode = MODE_SINGLE;
        *at++ = scratch->symbols[0];
    } else {
        at = encode_exponents(path, scratch, kept, at, carried_bytes((size_t)(at - raw)), limit,
                              ahead, &tail_bytes);
    }
    if (!at || at >= limit)
        return store(path, out, type, values, count);
    if (map_bytes > 0) {
        mode |= FLAG_ZEROS;
        memcpy(at, scratch->zeros, map_bytes);
        at += map_bytes;
    }
    return finish(path, out, mode, type, tail_bytes, count, (size_t)(at - out));
}

size_t codec_block_encode(const struct codec_path *path, enum codec_type type, const void *values,
                          size_t count, struct codec_scratch *scratch, void *block)
{
    struct codec_ahead none = {0};

    return encode_block(path, type, values, count, &none, scratch, block);
}

size_t codec_blocks_bound(enum codec_type type, size_t count)
{
    size_t blocks = (count + CODEC_BLOCK_ELEMENTS - 1) / CODEC_BLOCK_ELEMENTS;

    return blocks * CODEC_BLOCK_HEADER_BYTES + count * codec_type_bytes(type);
}

size_t codec_blocks_encode(const struct codec_path *path, enum codec_type type, const void *values,
                           size_t count, struct codec_scratch *scratch, void *blocks)
{
    size_t width = codec_type_bytes(type), bytes = 0;
    const uint8_t *in = values;

    while (count > 0) {
        size_t some = elements_of(count);
        struct codec_ahead ahead = {
            .at = in + some * width,
            .end = in + (some + elements_of(count - some)) * width,
            .lines = (unsigned)width,
        };

        bytes += encode_block(path, type, in, some, &ahead, scratch, (uint8_t *)blocks + bytes);
        in += some * width;
        count -= some;
    }
    return bytes;
}
