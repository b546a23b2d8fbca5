/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/crc32c.h"
#include "collectives/codec/frequent.h"
#include "collectives/codec/path.h"

#ifdef __x86_64__
#include <immintrin.h>

/* Intel since Haswell, AMD since Zen. A group's 64 lanes are eight vectors of eight states; lane
 * 8 v + i is lane i of vector v and belongs to element 32 (v mod 2) + 4 i + v / 2. */

#define AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))

/* A function whose constant arguments, such as the type, give each caller a loop of its own. */
#define AVX2_INLINE AVX2 static inline __attribute__((always_inline))

static bool usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

/* AVX2 cannot expand or compress by a mask of lanes: for each mask of eight lanes, which word goes
 * where. Filled before main(), so that threads need no synchronization. */
static uint8_t spread[256][8];  /* the lane's word, 0 where its bit is not set */
static uint8_t gather[256][16]; /* bytes of the words whose bits are set, at the upper end */

__attribute__((constructor)) static void fill_masks(void)
{
    for (unsigned mask = 0; mask < 256; mask++) {
        unsigned next = 0, at = 8 - (unsigned)__builtin_popcount(mask);

        memset(gather[mask], 0, 16);
        for (unsigned lane = 0; lane < 8; lane++)
            if (mask >> lane & 1) {
                spread[mask][lane] = (uint8_t)next++;
                gather[mask][2 * at] = (uint8_t)(2 * lane);
                gather[mask][2 * at + 1] = (uint8_t)(2 * lane + 1);
                at++;
            }
    }
}

AVX2_INLINE __m256i load(const void *bytes)
{
    return _mm256_loadu_si256((const __m256i *)bytes);
}

AVX2_INLINE void store(void *bytes, __m256i vector)
{
    _mm256_storeu_si256((__m256i *)bytes, vector);
}

/* ------------------------------------------------------------------------- apart and together */

/* The low bytes of 32 words of 16 bits, or the high ones. */
AVX2_INLINE __m256i pack(__m256i first, __m256i second)
{
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(first, second), 0xd8);
}

/* Half a group of fp32, 32 elements. */
AVX2_INLINE void split_half_fp32(const uint8_t *values, uint8_t *symbols, uint8_t *raw)
{
    const __m256i three = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
                                           0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m256i v[4], pairs[2];

    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        __m256i packed;
        __m128i low, high;

        v[i] = load(values + 32 * i);
        v[i] = _mm256_or_si256(_mm256_slli_epi32(v[i], 1), _mm256_srli_epi32(v[i], 31));
        packed = _mm256_shuffle_epi8(v[i], three);
        low = _mm256_castsi256_si128(packed);
        high = _mm256_extracti128_si256(packed, 1);
        /* 24 bytes: 12 of each half */
        low = _mm_or_si128(low, _mm_slli_si128(high, 12));
        _mm_storeu_si128((__m128i *)(raw + 24 * i), low);
        _mm_storel_epi64((__m128i *)(raw + 24 * i + 16), _mm_srli_si128(high, 4));
        v[i] = _mm256_srli_epi32(v[i], 24);
    }
    pairs[0] = _mm256_packus_epi32(v[0], v[1]);
    pairs[1] = _mm256_packus_epi32(v[2], v[3]);
    store(symbols, _mm256_permutevar8x32_epi32(_mm256_packus_epi16(pairs[0], pairs[1]),
                                               _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

/* Half a group of the other types; planes of fp16: the part of this half in the group's planes. */
AVX2_INLINE void split_half(enum codec_type type, const uint8_t *values, uint8_t *symbols,
                            uint8_t *raw, uint8_t *planes)
{
    const __m256i low_byte = _mm256_set1_epi16(0xff);
    __m256i v[2], high;

    UNROLL
    for (unsigned i = 0; i < 2; i++) {
        v[i] = load(values + 32 * i);
        v[i] = _mm256_or_si256(_mm256_slli_epi16(v[i], 1), _mm256_srli_epi16(v[i], 15));
    }
    store(raw, pack(_mm256_and_si256(v[0], low_byte), _mm256_and_si256(v[1], low_byte)));
    high = pack(_mm256_srli_epi16(v[0], 8), _mm256_srli_epi16(v[1], 8));
    if (type == CODEC_FP16) {
        UNROLL
        for (int p = 0; p < 3; p++)
            codec_store32(planes + 8 * p,
                          (uint32_t)_mm256_movemask_epi8(_mm256_slli_epi16(high, 7 - p)));
        high = _mm256_and_si256(_mm256_srli_epi16(high, 3), _mm256_set1_epi8(31));
    }
    store(symbols, high);
}

AVX2_INLINE bool split_group(enum codec_type type, const uint8_t *values, uint8_t *symbols,
                             uint8_t *raw)
{
    __m256i any = _mm256_setzero_si256();

    for (unsigned i = 0; i < (type == CODEC_FP32 ? 8 : 4); i++)
        any = _mm256_or_si256(any, load(values + 32 * i));
    if (_mm256_testz_si256(any, any))
        return false;
    if (type == CODEC_FP32) {
        split_half_fp32(values, symbols, raw);
        split_half_fp32(values + 128, symbols + 32, raw + 96);
    } else {
        split_half(type, values, symbols, raw, raw + 64);
        split_half(type, values + 64, symbols + 32, raw + 32, raw + 68);
    }
    return true;
}

AVX2_INLINE size_t split(enum codec_type type, const uint8_t *values, size_t count,
                         uint8_t *symbols, uint8_t *raw, uint8_t *zeros)
{
    size_t groups = count / CODEC_GROUP, kept = 0;
    size_t group_bytes = CODEC_GROUP * codec_type_bytes(type);
    size_t chunk_bytes = codec_raw_bytes(type, CODEC_GROUP);

    for (size_t g = 0; g < groups; g++) {
        if (split_group(type, values + g * group_bytes, symbols + kept, raw)) {
            kept += CODEC_GROUP;
            raw += chunk_bytes;
        } else {
            zeros[g / 8] |= (uint8_t)(1u << g % 8);
        }
    }
    if (count % CODEC_GROUP > 0) {
        uint8_t last = 0;

        kept += codec_portable_split(type, values + groups * group_bytes, count % CODEC_GROUP,
                                     symbols + kept, raw, &last);
        zeros[groups / 8] |= (uint8_t)(last << groups % 8);
    }
    return kept;
}

/* 32 elements of fp32. Reads their raw bytes from 4 bytes before them, which belong to the block,
 * to their end and no further. */
AVX2_INLINE void merge_half_fp32(__m256i symbols, const uint8_t *raw, uint8_t *values)
{
    const __m256i spread_three =
        _mm256_setr_epi8(4, 5, 6, -1, 7, 8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1, 4, 5, 6, -1, 7,
                         8, 9, -1, 10, 11, 12, -1, 13, 14, 15, -1);
    uint8_t bytes[32];

    store(bytes, symbols);
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        __m128i low = _mm_loadu_si128((const __m128i *)(raw + 24 * i - 4));
        __m128i high = _mm_loadu_si128((const __m128i *)(raw + 24 * i + 8));
        __m256i word = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), spread_three);
        __m256i top = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(bytes + 8 * i)));

        word = _mm256_or_si256(word, _mm256_slli_epi32(top, 24));
        store(values + 32 * i,
              _mm256_or_si256(_mm256_srli_epi32(word, 1), _mm256_slli_epi32(word, 31)));
    }
}

/* Bytes that are 255 where the bit of mask is set, else 0. */
AVX2_INLINE __m256i bytes_of_bits(uint32_t mask)
{
    const __m256i source = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2,
                                            2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3);
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201);
    __m256i bytes = _mm256_shuffle_epi8(_mm256_set1_epi32((int)mask), source);

    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
}

AVX2_INLINE void merge_half(enum codec_type type, __m256i high, const uint8_t *raw,
                            const uint8_t *planes, uint8_t *values)
{
    __m256i low = load(raw), first, second;

    if (type == CODEC_FP16) {
        high = _mm256_slli_epi16(high, 3);
        UNROLL
        for (int p = 0; p < 3; p++)
            high =
                _mm256_or_si256(high, _mm256_and_si256(bytes_of_bits(codec_load32(planes + 8 * p)),
                                                       _mm256_set1_epi8((char)(1 << p))));
    }
    first = _mm256_unpacklo_epi8(low, high);
    second = _mm256_unpackhi_epi8(low, high);
    low = _mm256_permute2x128_si256(first, second, 0x20);
    high = _mm256_permute2x128_si256(first, second, 0x31);
    store(values, _mm256_or_si256(_mm256_srli_epi16(low, 1), _mm256_slli_epi16(low, 15)));
    store(values + 32, _mm256_or_si256(_mm256_srli_epi16(high, 1), _mm256_slli_epi16(high, 15)));
}

/* ----------------------------------------------------------------------------------- counting */

/* Counts symbols: the frequent ones, which most are, by comparing 32 at a time, the others one by
 * one. */
AVX2 static void count(const uint8_t frequent[FREQUENT], const uint8_t *symbols, size_t length,
                       uint32_t counts[256])
{
    const __m256i nibble = _mm256_set1_epi8(15);
    const __m256i bit_of =
        _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16,
                         32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    uint8_t rows[2][16] = {{0}};
    __m256i row_low, row_high;
    size_t done = 0;

    /* rows[h / 8][l] has bit h % 8 set when symbol 16 h + l is among them */
    for (unsigned i = 0; i < FREQUENT; i++)
        rows[frequent[i] >> 7][frequent[i] & 15] |= (uint8_t)(1u << (frequent[i] >> 4 & 7));
    row_low = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)rows[0]));
    row_high = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)rows[1]));
    while (done + 32 <= length) {
        /* a byte counts to 255 */
        size_t vectors = (length - done) / 32 < 255 ? (length - done) / 32 : 255;
        const uint8_t *from = symbols + done;

        for (unsigned first = 0; first < FREQUENT; first += 8) {
            __m256i wanted[8], found[8];

            UNROLL
            for (unsigned i = 0; i < 8; i++) {
                wanted[i] = _mm256_set1_epi8((char)frequent[first + i]);
                found[i] = _mm256_setzero_si256();
            }
            for (size_t v = 0; v < vectors; v++) {
                __m256i some = load(from + 32 * v);

                UNROLL
                for (unsigned i = 0; i < 8; i++)
                    found[i] = _mm256_sub_epi8(found[i], _mm256_cmpeq_epi8(some, wanted[i]));
            }
            UNROLL
            for (unsigned i = 0; i < 8; i++) {
                __m256i sums = _mm256_sad_epu8(found[i], _mm256_setzero_si256());

                counts[frequent[first + i]] +=
                    (uint32_t)(_mm256_extract_epi64(sums, 0) + _mm256_extract_epi64(sums, 1) +
                               _mm256_extract_epi64(sums, 2) + _mm256_extract_epi64(sums, 3));
            }
        }
        for (size_t v = 0; v < vectors; v++) {
            __m256i some = load(from + 32 * v), low = _mm256_and_si256(some, nibble);
            __m256i high = _mm256_and_si256(_mm256_srli_epi16(some, 4), nibble);
            __m256i row = _mm256_blendv_epi8(_mm256_shuffle_epi8(row_low, low),
                                             _mm256_shuffle_epi8(row_high, low), some);
            __m256i bit = _mm256_and_si256(row, _mm256_shuffle_epi8(bit_of, high));
            uint32_t others =
                (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(bit, _mm256_setzero_si256()));

            for (; others != 0; others &= others - 1)
                counts[from[32 * v + (size_t)__builtin_ctz(others)]]++;
        }
        done += 32 * vectors;
    }
    for (; done < length; done++)
        counts[symbols[done]]++;
}

AVX2 static size_t split_type(enum codec_type type, const uint8_t *values, size_t length,
                              uint8_t *symbols, uint8_t *raw, uint8_t *zeros)
{
    CODEC_BY_TYPE(type, split, values, length, symbols, raw, zeros);
}

AVX2 static size_t avx2_split(enum codec_type type, const uint8_t *values, size_t length,
                              uint8_t *symbols, uint8_t *raw, uint8_t *zeros, uint32_t counts[256])
{
    size_t kept = split_type(type, values, length, symbols, raw, zeros);
    uint8_t frequent[FREQUENT];

    memset(counts, 0, 256 * sizeof *counts);
    if (frequent_choose(type, values, length, frequent))
        count(frequent, symbols, kept, counts);
    else
        codec_portable_count(symbols, kept, counts);
    return kept;
}

/* ------------------------------------------------------------------------------------- coding */

/* The lanes whose state need not write a word before a symbol of frequency f. */
AVX2_INLINE __m256i has_room(__m256i x, __m256i f)
{
    return _mm256_cmpgt_epi32(f, _mm256_srli_epi32(x, 20));
}

/* The state after a symbol of this span, x being below frequency << 20. */
AVX2_INLINE __m256i next_state(__m256i x, __m256i span, __m256 reciprocal)
{
    const __m256 two_32 = _mm256_set1_ps(4294967296.0f);
    __m256i f = _mm256_srli_epi32(span, 16);
    __m256i start = _mm256_and_si256(span, _mm256_set1_epi32(0xffff));
    /* numbers from 2^31 on are converted as negative ones, 2^32 less */
    __m256 correction = _mm256_and_ps(_mm256_castsi256_ps(_mm256_srai_epi32(x, 31)), two_32);
    __m256 real = _mm256_add_ps(_mm256_cvtepi32_ps(x), correction);
    /* the quotient, or one less */
    __m256i q = _mm256_cvttps_epi32(_mm256_mul_ps(real, reciprocal));
    __m256i rest = _mm256_sub_epi32(x, _mm256_mullo_epi32(q, f));
    __m256i exact = _mm256_cmpgt_epi32(f, rest);
    __m256i next =
        _mm256_add_epi32(_mm256_add_epi32(rest, start), _mm256_slli_epi32(q, CODEC_PROBABILITY));
    __m256i one_more = _mm256_sub_epi32(_mm256_set1_epi32(CODEC_SCALE), f);

    return _mm256_add_epi32(next, _mm256_andnot_si256(exact, one_more));
}

AVX2 static uint16_t *encode(const uint8_t *symbols, size_t length, const struct codec_coder *coder,
                             uint32_t states[CODEC_GROUP], uint16_t *end, struct codec_ahead *ahead)
{
    size_t groups = length / CODEC_GROUP;
    uint16_t *at = codec_portable_encode(symbols + groups * CODEC_GROUP, length % CODEC_GROUP,
                                         coder, states, end, ahead);
    __m256i x[8];

    UNROLL
    for (unsigned v = 0; v < 8; v++)
        x[v] = load(states + 8 * v);
    while (groups-- > 0) {
        __m256i halves[2] = {load(symbols + groups * CODEC_GROUP),
                             load(symbols + groups * CODEC_GROUP + 32)};

        codec_fetch_ahead(ahead);
        UNROLL
        for (unsigned v = 8; v-- > 0;) {
            __m256i symbol = _mm256_and_si256(_mm256_srli_epi32(halves[v % 2], 8 * (v / 2)),
                                              _mm256_set1_epi32(0xff));
            __m256i span = _mm256_i32gather_epi32((const int *)coder->span, symbol, 4);
            __m256 reciprocal = _mm256_i32gather_ps(coder->reciprocal, symbol, 4);
            __m256i room = has_room(x[v], _mm256_srli_epi32(span, 16));
            unsigned full = ~(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(room)) & 0xff;
            __m256i low = _mm256_and_si256(x[v], _mm256_set1_epi32(0xffff));
            __m128i words =
                _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));

            /* bytes written below the words that count are overwritten by the next store */
            words = _mm_shuffle_epi8(words, _mm_loadu_si128((const __m128i *)gather[full]));
            _mm_storeu_si128((__m128i *)(at - 8), words);
            at -= _mm_popcnt_u32(full);
            x[v] = _mm256_blendv_epi8(_mm256_srli_epi32(x[v], 16), x[v], room);
            x[v] = next_state(x[v], span, reciprocal);
        }
    }
    UNROLL
    for (unsigned v = 0; v < 8; v++)
        store(states + 8 * v, x[v]);
    return at;
}

/* ----------------------------------------------------------------------------------- decoding */

AVX2_INLINE const uint8_t *decode_groups(enum codec_type type, bool bare, const uint32_t *table,
                                         uint32_t states[CODEC_GROUP], const uint8_t *words,
                                         const uint8_t *words_end, const uint8_t *raw,
                                         size_t groups, uint8_t *values, struct codec_ahead *ahead)
{
    const __m256i slot = _mm256_set1_epi32(CODEC_SCALE - 1), byte = _mm256_set1_epi32(0xff);
    size_t chunk_bytes = codec_raw_bytes(type, CODEC_GROUP);
    size_t group_bytes = bare ? CODEC_GROUP : CODEC_GROUP * codec_type_bytes(type);
    __m256i x[8];

    UNROLL
    for (unsigned v = 0; v < 8; v++)
        x[v] = load(states + 8 * v);
    for (; groups > 0; groups--) {
        __m256i halves[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};

        if (words > words_end)
            return NULL;
        codec_fetch_ahead(ahead);
        UNROLL
        for (unsigned v = 0; v < 8; v++) {
            __m256i entry =
                _mm256_i32gather_epi32((const int *)table, _mm256_and_si256(x[v], slot), 4);
            __m256i f = _mm256_and_si256(_mm256_srli_epi32(entry, 8), slot), next, is_low;
            unsigned low;

            x[v] =
                _mm256_add_epi32(_mm256_mullo_epi32(f, _mm256_srli_epi32(x[v], CODEC_PROBABILITY)),
                                 _mm256_srli_epi32(entry, 20));
            is_low = _mm256_cmpeq_epi32(_mm256_srli_epi32(x[v], 16), _mm256_setzero_si256());
            low = (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(is_low));
            next = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)words));
            next = _mm256_permutevar8x32_epi32(
                next, _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)spread[low])));
            words += 2 * (unsigned)_mm_popcnt_u32(low);
            next = _mm256_or_si256(_mm256_slli_epi32(x[v], 16), next);
            x[v] = _mm256_blendv_epi8(x[v], next, is_low);
            halves[v % 2] = _mm256_or_si256(
                halves[v % 2], _mm256_slli_epi32(_mm256_and_si256(entry, byte), 8 * (v / 2)));
        }
        if (bare) {
            store(values, halves[0]);
            store(values + 32, halves[1]);
        } else if (type == CODEC_FP32) {
            merge_half_fp32(halves[0], raw, values);
            merge_half_fp32(halves[1], raw + 96, values + 128);
        } else {
            merge_half(type, halves[0], raw, raw + 64, values);
            merge_half(type, halves[1], raw + 32, raw + 68, values + 64);
        }
        if (!bare)
            raw += chunk_bytes;
        values += group_bytes;
    }
    UNROLL
    for (unsigned v = 0; v < 8; v++)
        store(states + 8 * v, x[v]);
    return words > words_end ? NULL : words;
}

AVX2 static const uint8_t *decode(enum codec_type type, const struct codec_decoder *decoder,
                                  uint32_t states[CODEC_GROUP], const uint8_t *words,
                                  const uint8_t *words_end, const uint8_t *raw, size_t groups,
                                  uint8_t *values, struct codec_ahead *ahead)
{
    if (!raw)
        return decode_groups(CODEC_BF16, true, decoder->table, states, words, words_end, raw,
                             groups, values, ahead);
    CODEC_BY_TYPE(type, decode_groups, false, decoder->table, states, words, words_end, raw, groups,
                  values, ahead);
}

const struct codec_path codec_path_avx2 = {
    .name = "avx2",
    .usable = usable,
    .split = avx2_split,
    .encode = encode,
    .decode = decode,
    .merge = codec_portable_merge,
    .crc = crc32c_sse42,
};
#else
typedef int codec_path_avx2_is_for_x86_64;
#endif
