/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/avx512.h"

#ifdef __x86_64__
/* Where to look up span and reciprocal of a symbol. */
enum lookup { IN_TWO_REGISTERS, IN_FOUR_REGISTERS, IN_MEMORY };

/* The coder's tables by rank, in registers. */
struct tables {
    __m512i rank[4], span[4];
    __m512i reciprocal[4]; /* floats, by their bits */
};

AVX512_INLINE void load_tables(const struct codec_coder *coder, struct tables *tables)
{
    UNROLL
    for (unsigned i = 0; i < 4; i++) {
        tables->rank[i] = _mm512_loadu_si512(coder->rank + 64 * i);
        tables->span[i] = _mm512_loadu_si512(coder->used_span + 16 * i);
        tables->reciprocal[i] = _mm512_loadu_si512(coder->used_reciprocal + 16 * i);
    }
}

/* Returns the lookup's index for each byte of a group: the symbol, or its rank. */
AVX512_INLINE __m512i ranks_of(enum lookup lookup, const struct tables *tables, __m512i group)
{
    __m512i below, above;

    if (lookup == IN_MEMORY)
        return group;
    below = _mm512_permutex2var_epi8(tables->rank[0], group, tables->rank[1]);
    above = _mm512_permutex2var_epi8(tables->rank[2], group, tables->rank[3]);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(group), below, above);
}

/* Looks up entries of 32 bits by the indices of ranks_of(), in registers or in the array `all`. */
AVX512_INLINE __m512i look_up(enum lookup lookup, const __m512i table[4], const void *all,
                              __m512i rank)
{
    __m512i low, high;

    if (lookup == IN_MEMORY)
        return _mm512_i32gather_epi32(rank, all, 4);
    low = _mm512_permutex2var_epi32(table[0], rank, table[1]);
    if (lookup == IN_TWO_REGISTERS)
        return low;
    high = _mm512_permutex2var_epi32(table[2], rank, table[3]);
    return _mm512_mask_blend_epi32(_mm512_test_epi32_mask(rank, _mm512_set1_epi32(32)), low, high);
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
            span[j] = look_up(lookup, tables.span, coder->span, rank);
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
            x[j] = next_state(
                x[j], span[j],
                _mm512_castsi512_ps(look_up(lookup, tables.reciprocal, coder->reciprocal, rank)));
        }
    }
    UNROLL
    for (unsigned j = 0; j < 4; j++)
        _mm512_storeu_si512(states + 16 * j, x[j]);
    return at;
}

AVX512 uint16_t *codec_avx512_encode(const uint8_t *symbols, size_t count,
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
#else
typedef int codec_avx512_encode_is_for_x86_64;
#endif
