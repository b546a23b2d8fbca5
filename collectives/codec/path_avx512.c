/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/path.h"
#include "collectives/codec/crc32c.h"
#include "collectives/codec/frequent.h"

#ifdef __x86_64__
#include <immintrin.h>

/* Machines with VBMI2: Intel since Ice Lake, AMD since Zen 4. A group's 64 lanes are four vectors
 * of sixteen states; lane 16 j + i is lane i of vector j and belongs to element 4 i + j. */

#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,"    \
                          "popcnt,prfchw")))

/* With a type or a way as an argument, of which each that there is becomes a loop of its own. */
#define AVX512_INLINE AVX512 static inline __attribute__((always_inline))

static bool usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
           crc32c_has_vectors() && codec_path_avx2.usable();
}

/* A processor foresees within a page only what is read and written next, and a block has dozens of
 * them: bytes ahead that are asked for. They may be anyone's. */
enum { AHEAD = 1024 };

AVX512_INLINE void fetch(const uint8_t *bytes, size_t length)
{
    UNROLL
    for (size_t i = 0; i < length; i += 64)
        __builtin_prefetch(bytes + AHEAD + i, 0);
}

AVX512_INLINE void fetch_to_write(const uint8_t *bytes, size_t length)
{
    UNROLL
    for (size_t i = 0; i < length; i += 64)
        __builtin_prefetch(bytes + AHEAD + i, 1);
}

/* ------------------------------------------------------------------------- apart and together */

/* Places of bytes for vpermb and vpermi2b, where 64 and more mean the second vector. */
#define FOUR(M, n) M((n)), M((n) + 1), M((n) + 2), M((n) + 3)
#define SIXTEEN(M, n) FOUR(M, (n)), FOUR(M, (n) + 4), FOUR(M, (n) + 8), FOUR(M, (n) + 12)
#define EVEN(n) (2 * (n))
#define ODD(n) (2 * (n) + 1)
#define FIRST_THREE(n) (4 * (n)), (4 * (n) + 1), (4 * (n) + 2)
#define THREE_SPREAD(n) (3 * (n)), (3 * (n) + 1), (3 * (n) + 2), 63
#define FOURTH(n) (4 * (n) + 3)

static const uint8_t even_places[64] = {SIXTEEN(EVEN, 0), SIXTEEN(EVEN, 16), SIXTEEN(EVEN, 32),
                                        SIXTEEN(EVEN, 48)};
static const uint8_t odd_places[64] = {SIXTEEN(ODD, 0), SIXTEEN(ODD, 16), SIXTEEN(ODD, 32),
                                       SIXTEEN(ODD, 48)};
static const uint8_t first_three_places[64] = {SIXTEEN(FIRST_THREE, 0)};
static const uint8_t spread_places[64] = {SIXTEEN(THREE_SPREAD, 0)};
static const uint8_t fourth_places[64] = {SIXTEEN(FOURTH, 0), SIXTEEN(FOURTH, 16)};

#define FORTY_EIGHT ((__mmask64)0xffffffffffff)

AVX512_INLINE __m512i pick(__m512i low, const uint8_t places[64], __m512i high)
{
    return _mm512_permutex2var_epi8(low, _mm512_loadu_si512(places), high);
}

/* One group from values to its symbols and its raw chunk; false, and nothing done, for zeros. */
AVX512_INLINE bool split_group(enum codec_type type, const uint8_t *values, uint8_t *symbols,
                               uint8_t *raw)
{
    __m512i v[4], any, high;
    unsigned parts = type == CODEC_FP32 ? 4 : 2;

    any = _mm512_setzero_si512();
    UNROLL
    for (unsigned i = 0; i < parts; i++) {
        v[i] = _mm512_loadu_si512(values + 64 * i);
        any = _mm512_or_si512(any, v[i]);
    }
    if (_mm512_test_epi64_mask(any, any) == 0)
        return false;
    if (type == CODEC_FP32) {
        UNROLL
        for (unsigned i = 0; i < 4; i++) {
            v[i] = _mm512_rol_epi32(v[i], 1);
            _mm512_mask_storeu_epi8(
                raw + 48 * i, FORTY_EIGHT,
                _mm512_permutexvar_epi8(_mm512_loadu_si512(first_three_places), v[i]));
        }
        _mm256_storeu_si256((__m256i *)symbols,
                            _mm512_castsi512_si256(pick(v[0], fourth_places, v[1])));
        _mm256_storeu_si256((__m256i *)(symbols + 32),
                            _mm512_castsi512_si256(pick(v[2], fourth_places, v[3])));
        return true;
    }
    v[0] = _mm512_shldi_epi16(v[0], v[0], 1);
    v[1] = _mm512_shldi_epi16(v[1], v[1], 1);
    _mm512_storeu_si512(raw, pick(v[0], even_places, v[1]));
    high = pick(v[0], odd_places, v[1]);
    if (type == CODEC_FP16) {
        UNROLL
        for (unsigned p = 0; p < 3; p++)
            codec_store64(raw + 64 + 8 * p,
                          _mm512_test_epi8_mask(high, _mm512_set1_epi8((char)(1 << p))));
        high = _mm512_and_si512(_mm512_srli_epi16(high, 3), _mm512_set1_epi8(31));
    }
    _mm512_storeu_si512(symbols, high);
    return true;
}

AVX512_INLINE void merge_group(enum codec_type type, __m512i symbols, const uint8_t *raw,
                               uint8_t *values)
{
    const __m512i eights = _mm512_set_epi64(7, 3, 6, 2, 5, 1, 4, 0);
    __m512i low, high;

    if (type == CODEC_FP32) {
        UNROLL
        for (unsigned i = 0; i < 4; i++) {
            __m512i three = _mm512_maskz_loadu_epi8(FORTY_EIGHT, raw + 48 * i);
            /* the fourth byte of each is byte 63, a 0 */
            __m512i word = _mm512_permutexvar_epi8(_mm512_loadu_si512(spread_places), three);
            __m512i top = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)&symbols + i));

            word = _mm512_or_si512(word, _mm512_slli_epi32(top, 24));
            _mm512_storeu_si512(values + 64 * i, _mm512_ror_epi32(word, 1));
        }
        return;
    }
    if (type == CODEC_FP16) {
        symbols = _mm512_slli_epi16(symbols, 3);
        UNROLL
        for (unsigned p = 0; p < 3; p++) {
            __mmask64 plane = codec_load64(raw + 64 + 8 * p);
            __m512i bit = _mm512_maskz_set1_epi8(plane, (char)(1 << p));

            symbols = _mm512_or_si512(symbols, bit);
        }
    }
    /* what is put together eight bytes of each of four parts at a time */
    low = _mm512_permutexvar_epi64(eights, _mm512_loadu_si512(raw));
    symbols = _mm512_permutexvar_epi64(eights, symbols);
    high = _mm512_unpackhi_epi8(low, symbols);
    low = _mm512_unpacklo_epi8(low, symbols);
    _mm512_storeu_si512(values, _mm512_shrdi_epi16(low, low, 1));
    _mm512_storeu_si512(values + 64, _mm512_shrdi_epi16(high, high, 1));
}

/* ----------------------------------------------------------------------------------- counting */

/* Each of the FREQUENT symbols has a bit of two bytes, and how often a bit is set in a row of bytes
 * is added up for all bits at once, in vectors whose bits count 1, 2, 4 and 8 (W. Mula, N. Kurz,
 * D. Lemire, arXiv:1611.07612). The other symbols, which are few, are counted one by one. */
enum { PLANES = FREQUENT / 8, LEVELS = 4 };

/* What a vector of symbols is to the counters: a bit of each byte, or none. */
struct marks {
    __m512i of[PLANES];
};

struct counter {
    uint8_t first; /* of the 128 symbols that can be marked */
    __m512i low[PLANES], high[PLANES];
    struct marks sums[LEVELS]; /* bits that count 1, 2, 4, 8 */
    uint32_t *others;
};

AVX512_INLINE struct marks mark(const struct counter *counter, const uint8_t *symbols)
{
    __m512i distance =
        _mm512_sub_epi8(_mm512_loadu_si512(symbols), _mm512_set1_epi8((char)counter->first));
    __mmask64 near = _mm512_cmpge_epi8_mask(distance, _mm512_setzero_si512());
    __m512i any = _mm512_setzero_si512();
    struct marks marks;
    uint64_t others;

    UNROLL
    for (unsigned p = 0; p < PLANES; p++) {
        marks.of[p] =
            _mm512_maskz_permutex2var_epi8(near, counter->low[p], distance, counter->high[p]);
        any = _mm512_or_si512(any, marks.of[p]);
    }
    others = _mm512_testn_epi8_mask(any, any);
    for (; others != 0; others &= others - 1)
        counter->others[symbols[__builtin_ctzll(others)]]++;
    return marks;
}

/* Adds a and b to a sum whose bits can hold 0 and 1; returns what counts twice as much. */
AVX512_INLINE struct marks add(struct marks *sum, struct marks a, struct marks b)
{
    UNROLL
    for (unsigned p = 0; p < PLANES; p++) {
        __m512i carry = _mm512_ternarylogic_epi64(sum->of[p], a.of[p], b.of[p], 0xe8);

        sum->of[p] = _mm512_ternarylogic_epi64(sum->of[p], a.of[p], b.of[p], 0x96);
        a.of[p] = carry;
    }
    return a;
}

#define ADD_TWICE(name, level, half)                                                               \
    AVX512_INLINE struct marks name(struct counter *counter, const uint8_t *symbols)               \
    {                                                                                              \
        struct marks a = half(counter, symbols);                                                   \
        struct marks b = half(counter, symbols + (64 << (level)));                                 \
                                                                                                   \
        return add(&counter->sums[level], a, b);                                                   \
    }
ADD_TWICE(add_2, 0, mark)
ADD_TWICE(add_4, 1, add_2)
ADD_TWICE(add_8, 2, add_4)
ADD_TWICE(add_16, 3, add_8)

AVX512_INLINE void put_down(struct marks marks, unsigned weight, const uint8_t frequent[FREQUENT],
                            uint32_t counts[256])
{
    for (unsigned i = 0; i < FREQUENT; i++) {
        uint64_t set = _mm512_test_epi8_mask(marks.of[i / 8], _mm512_set1_epi8((char)(1 << i % 8)));

        counts[frequent[i]] += weight * (uint32_t)_mm_popcnt_u64(set);
    }
}

/* Makes frequent's the symbols that are counted in vectors. */
AVX512_INLINE void start_counting(struct counter *counter, const uint8_t frequent[FREQUENT])
{
    uint8_t bits[PLANES][128] = {{0}}, last = 0;

    for (unsigned i = 0; i < FREQUENT; i++)
        last = frequent[i] > last ? frequent[i] : last;
    counter->first = last < 128 ? 0 : last - 127;
    for (unsigned i = 0; i < FREQUENT; i++)
        if (frequent[i] >= counter->first)
            bits[i / 8][frequent[i] - counter->first] = (uint8_t)(1 << i % 8);
    UNROLL
    for (unsigned p = 0; p < PLANES; p++) {
        counter->low[p] = _mm512_loadu_si512(bits[p]);
        counter->high[p] = _mm512_loadu_si512(bits[p] + 64);
        UNROLL
        for (unsigned level = 0; level < LEVELS; level++)
            counter->sums[level].of[p] = _mm512_setzero_si512();
    }
}

/* ------------------------------------------------------------------------------------ a block */

/* Symbols are counted as soon as there are enough, while they are in the nearest cache. */
AVX512_INLINE size_t split(enum codec_type type, const uint8_t *values, size_t count,
                           uint8_t *symbols, uint8_t *raw, uint8_t *zeros, uint32_t counts[256])
{
    enum { STEP = 16 * CODEC_GROUP };
    size_t groups = count / CODEC_GROUP, kept = 0, counted = 0;
    size_t group_bytes = CODEC_GROUP * codec_width(type);
    size_t chunk_bytes = codec_raw_bytes(type, CODEC_GROUP);
    uint8_t frequent[FREQUENT];
    bool by_vectors = frequent_choose(type, values, count, frequent);
    struct counter counter = {.others = counts};

    memset(counts, 0, 256 * sizeof *counts);
    if (by_vectors)
        start_counting(&counter, frequent);
    for (size_t g = 0; g < groups; g++) {
        fetch(values + g * group_bytes, group_bytes);
        fetch_to_write(raw, chunk_bytes);
        if (split_group(type, values + g * group_bytes, symbols + kept, raw)) {
            kept += CODEC_GROUP;
            raw += chunk_bytes;
        } else {
            zeros[g / 8] |= (uint8_t)(1u << g % 8);
        }
        if (by_vectors && kept - counted == STEP) {
            put_down(add_16(&counter, symbols + counted), 16, frequent, counts);
            counted = kept;
        }
    }
    if (by_vectors)
        UNROLL
    for (unsigned level = 0; level < LEVELS; level++)
        put_down(counter.sums[level], 1u << level, frequent, counts);
    if (count % CODEC_GROUP > 0) {
        uint8_t last = 0;

        kept += codec_portable_split(type, values + groups * group_bytes, count % CODEC_GROUP,
                                     symbols + kept, raw, &last);
        zeros[groups / 8] |= (uint8_t)(last << groups % 8);
    }
    codec_portable_count(symbols + counted, kept - counted, counts);
    return kept;
}

AVX512 static size_t avx512_split(enum codec_type type, const uint8_t *values, size_t count,
                                  uint8_t *symbols, uint8_t *raw, uint8_t *zeros,
                                  uint32_t counts[256])
{
    switch (type) {
    case CODEC_BF16:
        return split(CODEC_BF16, values, count, symbols, raw, zeros, counts);
    case CODEC_FP16:
        return split(CODEC_FP16, values, count, symbols, raw, zeros, counts);
    default:
        return split(CODEC_FP32, values, count, symbols, raw, zeros, counts);
    }
}

/* ------------------------------------------------------------------------------------- coding */

/* Where a path finds span and reciprocal of a symbol. */
enum lookup { IN_TWO_REGISTERS, IN_FOUR_REGISTERS, IN_MEMORY };

/* The coder's tables by rank, as many as there are registers for. */
struct tables {
    __m512i rank[4], span[4];
    __m512 reciprocal[4];
};

AVX512_INLINE void load_tables(const struct codec_coder *coder, struct tables *tables)
{
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        tables->rank[i] = _mm512_loadu_si512(coder->rank + 64 * i);
        tables->span[i] = _mm512_loadu_si512(coder->used_span + 16 * i);
        tables->reciprocal[i] = _mm512_loadu_ps(coder->used_reciprocal + 16 * i);
    }
}

/* Bytes of a group to what the lookup asks for: the symbols, or their ranks. */
AVX512_INLINE __m512i ranks_of(enum lookup lookup, const struct tables *tables, __m512i group)
{
    __m512i below, above;

    if (lookup == IN_MEMORY)
        return group;
    below = _mm512_permutex2var_epi8(tables->rank[0], group, tables->rank[1]);
    above = _mm512_permutex2var_epi8(tables->rank[2], group, tables->rank[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(group), below, above);
}

AVX512_INLINE __m512i span_of(enum lookup lookup, const struct tables *tables,
                              const struct codec_coder *coder, __m512i rank)
{
    __m512i low, high;

    if (lookup == IN_MEMORY)
        return _mm512_i32gather_epi32(rank, coder->span, 4);
    low = _mm512_permutex2var_epi32(tables->span[0], rank, tables->span[1]);
    if (lookup == IN_TWO_REGISTERS)
        return low;
    high = _mm512_permutex2var_epi32(tables->span[2], rank, tables->span[3]);
    return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(rank, _mm512_set1_epi32(32)), low, high);
}

AVX512_INLINE __m512 reciprocal_of(enum lookup lookup, const struct tables *tables,
                                   const struct codec_coder *coder, __m512i rank)
{
    __m512 low, high;

    if (lookup == IN_MEMORY)
        return _mm512_i32gather_ps(rank, coder->reciprocal, 4);
    low = _mm512_permutex2var_ps(tables->reciprocal[0], rank, tables->reciprocal[1]);
    if (lookup == IN_TWO_REGISTERS)
        return low;
    high = _mm512_permutex2var_ps(tables->reciprocal[2], rank, tables->reciprocal[3]);
    return _mm512_mask_blend_ps(_mm512_test_epi32_mask(rank, _mm512_set1_epi32(32)), low, high);
}

/* The state after a symbol of this span, x being below frequency << 20. */
AVX512_INLINE __m512i next_state(__m512i x, __m512i span, __m512 reciprocal)
{
    const __m512i scale = _mm512_set1_epi32(CODEC_SCALE);
    __m512i f = _mm512_srli_epi32(span, 16);
    __m512i start = _mm512_and_si512(span, _mm512_set1_epi32(0xffff));
    /* the quotient, or one less */
    __m512i q = _mm512_cvttps_epi32(_mm512_mul_ps(_mm512_cvtepu32_ps(x), reciprocal));
    __m512i rest = _mm512_sub_epi32(x, _mm512_mullo_epi32(q, f));
    __mmask16 one_less = _mm512_cmpge_epu32_mask(rest, f);
    __m512i next =
        _mm512_add_epi32(_mm512_add_epi32(rest, start), _mm512_slli_epi32(q, CODEC_PROBABILITY));

    return _mm512_mask_add_epi32(next, one_less, next, _mm512_sub_epi32(scale, f));
}

AVX512_INLINE uint16_t *encode_groups(enum lookup lookup, const uint8_t *symbols, size_t groups,
                                      const struct codec_coder *coder, uint32_t states[CODEC_GROUP],
                                      uint16_t *at, struct codec_ahead *ahead)
{
    /* the low half of each number of two vectors */
    const __m512i halves =
        _mm512_set_epi16(62, 60, 58, 56, 54, 52, 50, 48, 46, 44, 42, 40, 38, 36, 34, 32, 30, 28, 26,
                         24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    struct tables tables;
    __m512i x[4];

    load_tables(coder, &tables);
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        x[j] = _mm512_loadu_si512(states + 16 * j);
    while (groups-- > 0) {
        __m512i ranks =
            ranks_of(lookup, &tables, _mm512_loadu_si512(symbols + groups * CODEC_GROUP));
        __m512i span[4];
        __mmask16 full[4];

        codec_fetch_ahead(ahead);
        UNROLL
        for (unsigned j = 0; j < 4; j++) {
            __m512i rank = _mm512_srli_epi32(ranks, 8 * j);

            if (lookup != IN_TWO_REGISTERS)
                rank = _mm512_and_si512(rank, _mm512_set1_epi32(0xff));
            span[j] = span_of(lookup, &tables, coder, rank);
            full[j] = _mm512_cmpge_epu32_mask(_mm512_srli_epi32(x[j], 20),
                                              _mm512_srli_epi32(span[j], 16));
        }
        UNROLL
        for (unsigned j = 4; j > 0; j -= 2) {
            __mmask32 both = _mm512_kunpackw(full[j - 1], full[j - 2]);
            unsigned words = (unsigned)_mm_popcnt_u32(both);
            __m512i low = _mm512_permutex2var_epi16(x[j - 2], halves, x[j - 1]);

            at -= words;
            _mm512_mask_storeu_epi16(at, _bzhi_u32(~0u, words),
                                     _mm512_maskz_compress_epi16(both, low));
        }
        UNROLL
        for (unsigned j = 0; j < 4; j++) {
            __m512i rank = _mm512_srli_epi32(ranks, 8 * j);

            if (lookup != IN_TWO_REGISTERS)
                rank = _mm512_and_si512(rank, _mm512_set1_epi32(0xff));
            x[j] = _mm512_mask_srli_epi32(x[j], full[j], x[j], 16);
            x[j] = next_state(x[j], span[j], reciprocal_of(lookup, &tables, coder, rank));
        }
    }
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        _mm512_storeu_si512(states + 16 * j, x[j]);
    return at;
}

AVX512 static uint16_t *encode(const uint8_t *symbols, size_t count,
                               const struct codec_coder *coder, uint32_t states[CODEC_GROUP],
                               uint16_t *end, struct codec_ahead *ahead)
{
    size_t groups = count / CODEC_GROUP;
    uint16_t *at = codec_portable_encode(symbols + groups * CODEC_GROUP, count % CODEC_GROUP, coder,
                                         states, end, ahead);

    if (coder->used <= 32)
        return encode_groups(IN_TWO_REGISTERS, symbols, groups, coder, states, at, ahead);
    if (coder->used <= 64)
        return encode_groups(IN_FOUR_REGISTERS, symbols, groups, coder, states, at, ahead);
    return encode_groups(IN_MEMORY, symbols, groups, coder, states, at, ahead);
}

/* ----------------------------------------------------------------------------------- decoding */

/* The decoder's tables in registers. */
struct cells {
    __m512i rank[2], last[2], crowded[2], symbol, factor[2], start[2];
};

AVX512_INLINE void load_cells(const struct codec_cells *from, struct cells *cells)
{
    UNROLL
    for (unsigned i = 0; i < 2; i++) {
        cells->rank[i] = _mm512_loadu_si512(from->rank + 64 * i);
        cells->last[i] = _mm512_loadu_si512(from->last + 64 * i);
        cells->crowded[i] = _mm512_loadu_si512(from->crowded + 64 * i);
        cells->factor[i] = _mm512_loadu_si512(from->factor + 16 * i);
        cells->start[i] = _mm512_loadu_si512(from->start + 16 * i);
    }
    cells->symbol = _mm512_loadu_si512(from->symbol);
}

/* The bits of a where mask has them, of b elsewhere. */
AVX512_INLINE __m512i choose(__m512i mask, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi32(mask, a, b, 0xca);
}

/* Ranks of a group's symbols, a byte each, in the order of the symbols. A byte that is looked up
 * counts by its low seven bits. */
AVX512_INLINE __m512i find_ranks(const struct cells *cells, const __m512i x[4])
{
    const __m512i low_half = _mm512_set1_epi32(0xffff), low_byte = _mm512_set1_epi16(0xff);
    __m512i even = choose(low_half, x[0], _mm512_slli_epi32(x[2], 16));
    __m512i odd = choose(low_half, x[1], _mm512_slli_epi32(x[3], 16));
    __m512i cell = choose(low_byte, _mm512_srli_epi16(even, 5), _mm512_slli_epi16(odd, 3));
    __m512i low = choose(low_byte, even, _mm512_slli_epi16(odd, 8));
    __m512i rank = _mm512_permutex2var_epi8(cells->rank[0], cell, cells->rank[1]);
    __m512i last = _mm512_permutex2var_epi8(cells->last[0], cell, cells->last[1]);
    __m512i crowded = choose(_mm512_set1_epi8(CODEC_CELL - 1), low, rank);
    __mmask64 second = _mm512_cmpgt_epu8_mask(low, last), is_crowded = _mm512_movepi8_mask(rank);

    rank = _mm512_mask_add_epi8(rank, second, rank, _mm512_set1_epi8(1));
    crowded = _mm512_permutex2var_epi8(cells->crowded[0], crowded, cells->crowded[1]);
    return _mm512_mask_mov_epi8(rank, is_crowded, crowded);
}

/* Gives each state below CODEC_STATE_LOW a word. Returns where the next words are. */
AVX512_INLINE const uint8_t *refill(__m512i *x, const uint8_t *words)
{
    /* a word to the upper half of each number, to be shifted in from there */
    const __m512i uppers =
        _mm512_set_epi32(15 << 16, 14 << 16, 13 << 16, 12 << 16, 11 << 16, 10 << 16, 9 << 16,
                         8 << 16, 7 << 16, 6 << 16, 5 << 16, 4 << 16, 3 << 16, 2 << 16, 1 << 16, 0);
    __mmask16 low = _mm512_cmplt_epu32_mask(*x, _mm512_set1_epi32(CODEC_STATE_LOW));
    __m512i next = _mm512_permutexvar_epi16(uppers, _mm512_loadu_si512(words));

    *x = _mm512_mask_shldi_epi32(*x, low, *x, _mm512_maskz_expand_epi32(low, next), 16);
    return words + 2 * (unsigned)_mm_popcnt_u32(low);
}

AVX512_INLINE const uint8_t *step_by_cells(const struct cells *cells, __m512i x[4],
                                           const uint8_t *words, __m512i *symbols)
{
    __m512i ranks = find_ranks(cells, x);

    *symbols = _mm512_permutexvar_epi8(ranks, cells->symbol);
    UNROLL
    for (unsigned j = 0; j < 4; j++) {
        __m512i rank = _mm512_srli_epi32(ranks, 8 * j); /* its low five bits */
        __m512i factor = _mm512_permutex2var_epi32(cells->factor[0], rank, cells->factor[1]);
        __m512i start = _mm512_permutex2var_epi32(cells->start[0], rank, cells->start[1]);
        __m512i others = _mm512_srli_epi32(x[j], CODEC_PROBABILITY);

        x[j] = _mm512_add_epi32(_mm512_mullo_epi32(factor, others), _mm512_sub_epi32(x[j], start));
        words = refill(&x[j], words);
    }
    return words;
}

AVX512_INLINE const uint8_t *step_by_table(const uint32_t *table, __m512i x[4],
                                           const uint8_t *words, __m512i *symbols)
{
    const __m512i slot = _mm512_set1_epi32(CODEC_SCALE - 1), byte = _mm512_set1_epi32(0xff);
    __m512i entry[4];

    *symbols = _mm512_setzero_si512();
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        entry[j] = _mm512_i32gather_epi32(_mm512_and_si512(x[j], slot), table, 4);
    UNROLL
    for (unsigned j = 0; j < 4; j++) {
        __m512i f = _mm512_and_si512(_mm512_srli_epi32(entry[j], 8), slot);
        __m512i symbol = _mm512_and_si512(entry[j], byte);

        x[j] = _mm512_mullo_epi32(f, _mm512_srli_epi32(x[j], CODEC_PROBABILITY));
        x[j] = _mm512_add_epi32(x[j], _mm512_srli_epi32(entry[j], 20));
        words = refill(&x[j], words);
        *symbols = _mm512_or_si512(*symbols, _mm512_slli_epi32(symbol, 8 * j));
    }
    return words;
}

AVX512_INLINE const uint8_t *
decode_groups(enum codec_type type, bool bare, bool by_cells, const struct codec_decoder *decoder,
              uint32_t states[CODEC_GROUP], const uint8_t *words, const uint8_t *words_end,
              const uint8_t *raw, size_t groups, uint8_t *values, struct codec_ahead *ahead)
{
    size_t chunk_bytes = codec_raw_bytes(type, CODEC_GROUP);
    size_t group_bytes = bare ? CODEC_GROUP : CODEC_GROUP * codec_width(type);
    struct cells cells;
    __m512i x[4];

    if (by_cells)
        load_cells(&decoder->cells, &cells);
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        x[j] = _mm512_loadu_si512(states + 16 * j);
    for (; groups > 0; groups--) {
        __m512i symbols;

        if (words > words_end)
            return NULL;
        codec_fetch_ahead(ahead);
        if (!bare)
            fetch_to_write(values, group_bytes);
        words = by_cells ? step_by_cells(&cells, x, words, &symbols)
                         : step_by_table(decoder->table, x, words, &symbols);
        if (bare) {
            _mm512_storeu_si512(values, symbols);
        } else {
            merge_group(type, symbols, raw, values);
            raw += chunk_bytes;
        }
        values += group_bytes;
    }
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        _mm512_storeu_si512(states + 16 * j, x[j]);
    return words > words_end ? NULL : words;
}

AVX512_INLINE const uint8_t *decode_type(enum codec_type type, bool bare,
                                         const struct codec_decoder *decoder,
                                         uint32_t states[CODEC_GROUP], const uint8_t *words,
                                         const uint8_t *words_end, const uint8_t *raw,
                                         size_t groups, uint8_t *values, struct codec_ahead *ahead)
{
    if (decoder->has_cells)
        return decode_groups(type, bare, true, decoder, states, words, words_end, raw, groups,
                             values, ahead);
    return decode_groups(type, bare, false, decoder, states, words, words_end, raw, groups, values,
                         ahead);
}

AVX512 static const uint8_t *decode(enum codec_type type, const struct codec_decoder *decoder,
                                    uint32_t states[CODEC_GROUP], const uint8_t *words,
                                    const uint8_t *words_end, const uint8_t *raw, size_t groups,
                                    uint8_t *values, struct codec_ahead *ahead)
{
    if (!raw)
        return decode_type(CODEC_BF16, true, decoder, states, words, words_end, raw, groups, values,
                           ahead);
    switch (type) {
    case CODEC_BF16:
        return decode_type(CODEC_BF16, false, decoder, states, words, words_end, raw, groups,
                           values, ahead);
    case CODEC_FP16:
        return decode_type(CODEC_FP16, false, decoder, states, words, words_end, raw, groups,
                           values, ahead);
    default:
        return decode_type(CODEC_FP32, false, decoder, states, words, words_end, raw, groups,
                           values, ahead);
    }
}

/* A block in hand: what its loop holds in registers. */
struct hand {
    struct cells cells;
    __m512i x[4];
};

AVX512_INLINE void take_up(const struct codec_run *run, struct hand *hand)
{
    load_cells(&run->decoder->cells, &hand->cells);
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        hand->x[j] = _mm512_loadu_si512(run->states + 16 * j);
}

AVX512_INLINE void decode_group(enum codec_type type, struct hand *hand, struct codec_run *run)
{
    size_t group_bytes = CODEC_GROUP * codec_width(type);
    __m512i symbols;

    fetch_to_write(run->values, group_bytes);
    run->words = step_by_cells(&hand->cells, hand->x, run->words, &symbols);
    merge_group(type, symbols, run->raw, run->values);
    run->raw += codec_raw_bytes(type, CODEC_GROUP);
    run->values += group_bytes;
}

AVX512_INLINE void put_back(const struct hand *hand, const struct codec_run *run)
{
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        _mm512_storeu_si512(run->states + 16 * j, hand->x[j]);
}

AVX512_INLINE bool two_of_type(enum codec_type type, struct codec_run runs[2], size_t groups,
                               struct codec_ahead *ahead)
{
    struct codec_run first = runs[0], second = runs[1];
    struct hand left, right;

    take_up(&first, &left);
    take_up(&second, &right);
    for (; groups > 0; groups--) {
        if (first.words > first.words_end || second.words > second.words_end)
            return false;
        codec_fetch_ahead(ahead);
        codec_fetch_ahead(ahead);
        decode_group(type, &left, &first);
        decode_group(type, &right, &second);
    }
    put_back(&left, &first);
    put_back(&right, &second);
    runs[0] = first;
    runs[1] = second;
    return first.words <= first.words_end && second.words <= second.words_end;
}

AVX512 static bool decode_two(enum codec_type type, struct codec_run runs[2], size_t groups,
                              struct codec_ahead *ahead)
{
    switch (type) {
    case CODEC_BF16:
        return two_of_type(CODEC_BF16, runs, groups, ahead);
    case CODEC_FP16:
        return two_of_type(CODEC_FP16, runs, groups, ahead);
    default:
        return two_of_type(CODEC_FP32, runs, groups, ahead);
    }
}

const struct codec_path codec_path_avx512 = {
    .name = "avx512",
    .usable = usable,
    .uses_cells = true,
    .split = avx512_split,
    .encode = encode,
    .decode = decode,
    .decode_two = decode_two,
    .merge = codec_portable_merge,
    .crc = crc32c_vectors,
};
#else
typedef int codec_path_avx512_is_for_x86_64;
#endif
