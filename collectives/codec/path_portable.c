/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/crc32c.h"
#include "collectives/codec/path.h"

/* The codec as in doc/codec-format.md, one element at a time: the reference for the other paths,
 * which also use it for elements beyond whole groups. */

/* A function whose type is a constant argument, so that each type has its own loop. */
#define INLINE static inline __attribute__((always_inline))

static bool usable(void)
{
    return true;
}

/* Splits one group, or the last few elements; count is 1 to 64. */
INLINE void split_group(enum codec_type type, const uint8_t *values, size_t count, uint8_t *symbols,
                        uint8_t *raw)
{
    uint64_t planes[3] = {0};

    for (size_t n = 0; n < count; n++) {
        if (type == CODEC_FP32) {
            uint32_t word = codec_rotate32(codec_load32(values + 4 * n));

            symbols[n] = (uint8_t)(word >> 24);
            raw[3 * n] = (uint8_t)word;
            raw[3 * n + 1] = (uint8_t)(word >> 8);
            raw[3 * n + 2] = (uint8_t)(word >> 16);
        } else {
            uint32_t word = codec_rotate16(codec_load16(values + 2 * n));

            raw[n] = (uint8_t)word;
            if (type == CODEC_BF16) {
                symbols[n] = (uint8_t)(word >> 8);
            } else {
                symbols[n] = (uint8_t)(word >> 11);
                for (int p = 0; p < 3; p++)
                    planes[p] |= (uint64_t)(word >> (8 + p) & 1) << n;
            }
        }
    }
    if (type == CODEC_FP16) {
        size_t plane_bytes = (count + 7) / 8;

        for (size_t p = 0; p < 3; p++)
            memcpy(raw + count + p * plane_bytes, &planes[p], plane_bytes);
    }
}

INLINE void merge_group(enum codec_type type, const uint8_t *symbols, const uint8_t *raw,
                        size_t count, uint8_t *values)
{
    uint64_t planes[3] = {0};

    if (type == CODEC_FP16) {
        size_t plane_bytes = (count + 7) / 8;

        for (size_t p = 0; p < 3; p++)
            memcpy(&planes[p], raw + count + p * plane_bytes, plane_bytes);
    }
    for (size_t n = 0; n < count; n++) {
        if (type == CODEC_FP32) {
            uint32_t word = (uint32_t)symbols[n] << 24 | (uint32_t)raw[3 * n + 2] << 16 |
                            (uint32_t)raw[3 * n + 1] << 8 | raw[3 * n];

            codec_store32(values + 4 * n, word >> 1 | word << 31);
        } else {
            uint32_t word = raw[n];
            uint16_t value;

            if (type == CODEC_BF16) {
                word |= (uint32_t)symbols[n] << 8;
            } else {
                word |= (uint32_t)symbols[n] << 11;
                for (int p = 0; p < 3; p++)
                    word |= (uint32_t)(planes[p] >> n & 1) << (8 + p);
            }
            value = (uint16_t)(word >> 1 | word << 15);
            memcpy(values + 2 * n, &value, sizeof value);
        }
    }
}

static bool all_zero(const uint8_t *bytes, size_t length)
{
    size_t i = 0;
    uint64_t any = 0;

    for (; i + 8 <= length; i += 8)
        any |= codec_load64(bytes + i);
    for (; i < length; i++)
        any |= bytes[i];
    return any == 0;
}

INLINE size_t split(enum codec_type type, const uint8_t *values, size_t count, uint8_t *symbols,
                    uint8_t *raw, uint8_t *zeros)
{
    size_t width = codec_type_bytes(type), kept = 0;

    for (size_t n = 0; n < count; n += CODEC_GROUP) {
        size_t some = count - n < CODEC_GROUP ? count - n : CODEC_GROUP;

        if (all_zero(values + n * width, some * width)) {
            zeros[n / CODEC_GROUP / 8] |= (uint8_t)(1u << n / CODEC_GROUP % 8);
            continue;
        }
        split_group(type, values + n * width, some, symbols, raw);
        symbols += some;
        raw += codec_raw_bytes(type, some);
        kept += some;
    }
    return kept;
}

size_t codec_portable_split(enum codec_type type, const uint8_t *values, size_t count,
                            uint8_t *symbols, uint8_t *raw, uint8_t *zeros)
{
    CODEC_BY_TYPE(type, split, values, count, symbols, raw, zeros);
}

INLINE void merge(enum codec_type type, const uint8_t *symbols, const uint8_t *raw, size_t count,
                  uint8_t *values)
{
    for (size_t n = 0; n < count; n += CODEC_GROUP) {
        size_t some = count - n < CODEC_GROUP ? count - n : CODEC_GROUP;

        merge_group(type, symbols, raw, some, values);
        symbols += some;
        raw += codec_raw_bytes(type, some);
        values += some * codec_type_bytes(type);
    }
}

void codec_portable_merge(enum codec_type type, const uint8_t *symbols, const uint8_t *raw,
                          size_t count, uint8_t *values)
{
    CODEC_BY_TYPE(type, merge, symbols, raw, count, values);
}

/* Neighbors often have the same symbol: four tables keep an increment from waiting for the one
 * before it. */
void codec_portable_count(const uint8_t *symbols, size_t count, uint32_t counts[256])
{
    uint32_t part[4][256] = {{0}};
    size_t n = 0;

    for (; n + 8 <= count; n += 8) {
        uint64_t eight = codec_load64(symbols + n);

        part[0][eight & 0xff]++;
        part[1][eight >> 8 & 0xff]++;
        part[2][eight >> 16 & 0xff]++;
        part[3][eight >> 24 & 0xff]++;
        part[0][eight >> 32 & 0xff]++;
        part[1][eight >> 40 & 0xff]++;
        part[2][eight >> 48 & 0xff]++;
        part[3][eight >> 56]++;
    }
    for (; n < count; n++)
        part[0][symbols[n]]++;
    for (unsigned s = 0; s < 256; s++)
        counts[s] += part[0][s] + part[1][s] + part[2][s] + part[3][s];
}

static size_t portable_split(enum codec_type type, const uint8_t *values, size_t count,
                             uint8_t *symbols, uint8_t *raw, uint8_t *zeros, uint32_t counts[256])
{
    size_t kept = codec_portable_split(type, values, count, symbols, raw, zeros);

    memset(counts, 0, 256 * sizeof *counts);
    codec_portable_count(symbols, kept, counts);
    return kept;
}

/* The element of a group that belongs to a lane. */
INLINE unsigned element_of(unsigned lane)
{
    return lane % 16 * 4 + lane / 16;
}

/* Encodes a symbol into a state. Returns the lowest word written. */
INLINE uint16_t *encode_symbol(const struct codec_coder *coder, uint8_t symbol, uint32_t *state,
                               uint16_t *at)
{
    uint32_t span = coder->span[symbol], f = span >> 16, x = *state, quotient;
    /* true for one symbol in six: a branch would be mispredicted as often */
    bool full = x >> 20 >= f;

    at[-1] = (uint16_t)x;
    at -= full;
    x = full ? x >> 16 : x;
    quotient = (uint32_t)(x * coder->inverse[symbol] >> 44);
    *state = x + quotient * (CODEC_SCALE - f) + (span & 0xffff);
    return at;
}

uint16_t *codec_portable_encode(const uint8_t *symbols, size_t count,
                                const struct codec_coder *coder, uint32_t states[CODEC_GROUP],
                                uint16_t *end, struct codec_ahead *ahead)
{
    uint16_t *at = end;
    size_t rest = count % CODEC_GROUP, groups = count / CODEC_GROUP;

    for (unsigned lane = CODEC_GROUP; rest > 0 && lane-- > 0;)
        if (element_of(lane) < rest)
            at = encode_symbol(coder, symbols[groups * CODEC_GROUP + element_of(lane)],
                               &states[lane], at);
    while (groups-- > 0) {
        const uint8_t *group = symbols + groups * CODEC_GROUP;

        codec_fetch_ahead(ahead);
        for (unsigned j = 4; j-- > 0;)
            for (unsigned i = 16; i-- > 0;)
                at = encode_symbol(coder, group[4 * i + j], &states[16 * j + i], at);
    }
    return at;
}

/* Decodes a symbol from a state. Returns where the next words are. */
INLINE const uint8_t *decode_symbol(const uint32_t *table, uint32_t *state, const uint8_t *words,
                                    uint8_t *symbol)
{
    uint32_t x = *state, entry = table[x % CODEC_SCALE], low;

    *symbol = (uint8_t)entry;
    x = (entry >> 8 & (CODEC_SCALE - 1)) * (x >> CODEC_PROBABILITY) + (entry >> 20);
    /* as seldom, and as hard to predict, as in encoding */
    low = x < CODEC_STATE_LOW;
    *state = x << 16 * low | (codec_load16(words) & -low);
    return words + 2 * low;
}

INLINE const uint8_t *decode(enum codec_type type, const uint32_t *table,
                             uint32_t states[CODEC_GROUP], const uint8_t *words,
                             const uint8_t *words_end, const uint8_t *raw, size_t groups,
                             uint8_t *values, struct codec_ahead *ahead)
{
    size_t raw_bytes = codec_raw_bytes(type, CODEC_GROUP);
    size_t value_bytes = CODEC_GROUP * codec_type_bytes(type);

    for (size_t g = 0; g < groups; g++) {
        uint8_t buffer[CODEC_GROUP], *symbols = raw ? buffer : values + g * CODEC_GROUP;

        if (words > words_end)
            return NULL;
        codec_fetch_ahead(ahead);
        for (unsigned j = 0; j < 4; j++)
            for (unsigned i = 0; i < 16; i++)
                words = decode_symbol(table, &states[16 * j + i], words, &symbols[4 * i + j]);
        if (raw)
            merge_group(type, symbols, raw + g * raw_bytes, CODEC_GROUP, values + g * value_bytes);
    }
    return words > words_end ? NULL : words;
}

static const uint8_t *portable_decode(enum codec_type type, const struct codec_decoder *decoder,
                                      uint32_t states[CODEC_GROUP], const uint8_t *words,
                                      const uint8_t *words_end, const uint8_t *raw, size_t groups,
                                      uint8_t *values, struct codec_ahead *ahead)
{
    CODEC_BY_TYPE(type, decode, decoder->table, states, words, words_end, raw, groups, values,
                  ahead);
}

const struct codec_path codec_path_portable = {
    .name = "portable",
    .usable = usable,
    .split = portable_split,
    .encode = codec_portable_encode,
    .decode = portable_decode,
    .merge = codec_portable_merge,
    .crc = crc32c_portable,
};
