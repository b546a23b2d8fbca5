/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/avx512.h"

#ifdef __x86_64__
/* ------------------------------------------------------------------------------------ together */

#define THREE_SPREAD(n) (3 * (n)), (3 * (n) + 1), (3 * (n) + 2), 63

static const uint8_t spread_places[64] = {SIXTEEN(THREE_SPREAD, 0)};

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
    /* order for unpacking, which interleaves eight bytes of each of four parts at a time */
    low = _mm512_permutexvar_epi64(eights, _mm512_loadu_si512(raw));
    symbols = _mm512_permutexvar_epi64(eights, symbols);
    high = _mm512_unpackhi_epi8(low, symbols);
    low = _mm512_unpacklo_epi8(low, symbols);
    _mm512_storeu_si512(values, _mm512_shrdi_epi16(low, low, 1));
    _mm512_storeu_si512(values + 64, _mm512_shrdi_epi16(high, high, 1));
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

/* Selects bits of a where mask is set, of b elsewhere. */
AVX512_INLINE __m512i choose(__m512i mask, __m512i a, __m512i b)
{
    return _mm512_ternarylogic_epi32(mask, a, b, 0xca);
}

/* Finds the ranks of a group's symbols, a byte each, in the order of the symbols. A look-up uses
 * the low seven bits of a byte. */
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

/* Adds a word to each state below CODEC_STATE_LOW. Returns where the next words are. */
AVX512_INLINE const uint8_t *refill(__m512i *x, const uint8_t *words)
{
    /* moves a word to the upper half of each number, from where it is shifted in */
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
    size_t group_bytes = bare ? CODEC_GROUP : CODEC_GROUP * codec_type_bytes(type);
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

AVX512 const uint8_t *codec_avx512_decode(enum codec_type type, const struct codec_decoder *decoder,
                                          uint32_t states[CODEC_GROUP], const uint8_t *words,
                                          const uint8_t *words_end, const uint8_t *raw,
                                          size_t groups, uint8_t *values, struct codec_ahead *ahead)
{
    if (!raw)
        return decode_type(CODEC_BF16, true, decoder, states, words, words_end, raw, groups, values,
                           ahead);
    CODEC_BY_TYPE(type, decode_type, false, decoder, states, words, words_end, raw, groups, values,
                  ahead);
}

/* What the loop over a block's groups holds in registers. */
struct registers {
    struct cells cells;
    __m512i x[4];
};

AVX512_INLINE void load_run(const struct codec_run *run, struct registers *registers)
{
    load_cells(&run->decoder->cells, &registers->cells);
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        registers->x[j] = _mm512_loadu_si512(run->states + 16 * j);
}

AVX512_INLINE void decode_group(enum codec_type type, struct registers *registers,
                                struct codec_run *run)
{
    size_t group_bytes = CODEC_GROUP * codec_type_bytes(type);
    __m512i symbols;

    fetch_to_write(run->values, group_bytes);
    run->words = step_by_cells(&registers->cells, registers->x, run->words, &symbols);
    merge_group(type, symbols, run->raw, run->values);
    run->raw += codec_raw_bytes(type, CODEC_GROUP);
    run->values += group_bytes;
}

AVX512_INLINE void store_run(const struct registers *registers, const struct codec_run *run)
{
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        _mm512_storeu_si512(run->states + 16 * j, registers->x[j]);
}

AVX512_INLINE bool two_of_type(enum codec_type type, struct codec_run runs[2], size_t groups,
                               struct codec_ahead *ahead)
{
    struct codec_run first = runs[0], second = runs[1];
    struct registers left, right;

    load_run(&first, &left);
    load_run(&second, &right);
    for (; groups > 0; groups--) {
        if (first.words > first.words_end || second.words > second.words_end)
            return false;
        codec_fetch_ahead(ahead);
        codec_fetch_ahead(ahead);
        decode_group(type, &left, &first);
        decode_group(type, &right, &second);
    }
    store_run(&left, &first);
    store_run(&right, &second);
    runs[0] = first;
    runs[1] = second;
    return first.words <= first.words_end && second.words <= second.words_end;
}

AVX512 bool codec_avx512_decode_two(enum codec_type type, struct codec_run runs[2], size_t groups,
                                    struct codec_ahead *ahead)
{
    CODEC_BY_TYPE(type, two_of_type, runs, groups, ahead);
}

#else
typedef int codec_avx512_decode_is_for_x86_64;
#endif
