/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/avx512.h"
#include "collectives/codec/frequent.h"

#ifdef __x86_64__
#define EVEN(n) (2 * (n))
#define ODD(n) (2 * (n) + 1)
#define FIRST_THREE(n) (4 * (n)), (4 * (n) + 1), (4 * (n) + 2)
#define FOURTH(n) (4 * (n) + 3)

static const uint8_t even_places[64] = {SIXTEEN(EVEN, 0), SIXTEEN(EVEN, 16), SIXTEEN(EVEN, 32),
                                        SIXTEEN(EVEN, 48)};
static const uint8_t odd_places[64] = {SIXTEEN(ODD, 0), SIXTEEN(ODD, 16), SIXTEEN(ODD, 32),
                                       SIXTEEN(ODD, 48)};
static const uint8_t first_three_places[64] = {SIXTEEN(FIRST_THREE, 0)};
static const uint8_t fourth_places[64] = {SIXTEEN(FOURTH, 0), SIXTEEN(FOURTH, 16)};

AVX512_INLINE __m512i pick(__m512i low, const uint8_t places[64], __m512i high)
{
    return _mm512_permutex2var_epi8(low, _mm512_loadu_si512(places), high);
}

/* Splits one group into its symbols and its raw chunk; for zeros does nothing and returns false. */
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

/* ----------------------------------------------------------------------------------- counting */

/* Each of the FREQUENT symbols has one bit of two bytes. Vectors whose bits count 1, 2, 4 and 8 add
 * up, for all bits at once, how often each bit is set (W. Mula, N. Kurz, D. Lemire,
 * arXiv:1611.07612). The other symbols, which are few, are counted one by one. */
enum { PLANES = FREQUENT / 8, LEVELS = 4 };

/* The bits of a vector of symbols: one bit for each symbol that is frequent, else none. */
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

/* Adds a and b to a sum of one bit each; returns the carries, which count twice as much. */
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

/* Prepares the counter to count the frequent symbols in vectors. */
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

/* Splits elements, and counts symbols while they are in the nearest cache. */
AVX512_INLINE size_t split(enum codec_type type, const uint8_t *values, size_t count,
                           uint8_t *symbols, uint8_t *raw, uint8_t *zeros, uint32_t counts[256])
{
    enum { STEP = 16 * CODEC_GROUP };
    size_t groups = count / CODEC_GROUP, kept = 0, counted = 0;
    size_t group_bytes = CODEC_GROUP * codec_type_bytes(type);
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

AVX512 size_t codec_avx512_split(enum codec_type type, const uint8_t *values, size_t count,
                                 uint8_t *symbols, uint8_t *raw, uint8_t *zeros,
                                 uint32_t counts[256])
{
    CODEC_BY_TYPE(type, split, values, count, symbols, raw, zeros, counts);
}
#else
typedef int codec_avx512_split_is_for_x86_64;
#endif
