/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/bf16_pack.h"

#ifdef __x86_64__ /* no other processor has what compute_bf16() asks for */

#include <immintrin.h>
#include <string.h>

/* Instructions of every processor that compute_bf16() accepts. The conversion treats subnormal
 * numbers as zero, as the products do. */
#define VECTORS __attribute__((target("avx512f,avx512bw,avx512bf16")))

/* Pairs of elements are words of 32 bits. Numbers are read in the order of memory, one line after
 * the other, which a processor prefetches itself; if only a part of each row is read, the rows
 * AHEAD_ROWS further on are prefetched here. */
enum { PAIRS = BF16_DEPTH / 2, WIDTH = 16, AHEAD_ROWS = 64 };

int bf16_padded(int size, int unit)
{
    return (size + unit - 1) / unit * unit;
}

size_t bf16_packed_size(int k, int n)
{
    return (size_t)bf16_padded(k, BF16_DEPTH) * (size_t)bf16_padded(n, BF16_COLUMNS);
}

/* Transposes 16 x 16 words. */
VECTORS static inline void transpose_words(__m512i *x)
{
    __m512i y[16];

    for (int i = 0; i < 16; i += 2) {
        y[i] = _mm512_unpacklo_epi32(x[i], x[i + 1]);
        y[i + 1] = _mm512_unpackhi_epi32(x[i], x[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        x[i] = _mm512_unpacklo_epi64(y[i], y[i + 2]);
        x[i + 1] = _mm512_unpackhi_epi64(y[i], y[i + 2]);
        x[i + 2] = _mm512_unpacklo_epi64(y[i + 1], y[i + 3]);
        x[i + 3] = _mm512_unpackhi_epi64(y[i + 1], y[i + 3]);
    }
    /* quarter q of x[4 i + j]: column 4 q + j of rows 4 i ... 4 i + 3 */
    for (int j = 0; j < 4; j++) {
        y[j] = _mm512_shuffle_i32x4(x[j], x[4 + j], 0x88);
        y[4 + j] = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0x88);
        y[8 + j] = _mm512_shuffle_i32x4(x[j], x[4 + j], 0xDD);
        y[12 + j] = _mm512_shuffle_i32x4(x[8 + j], x[12 + j], 0xDD);
    }
    for (int j = 0; j < 4; j++) {
        x[j] = _mm512_shuffle_i32x4(y[j], y[4 + j], 0x88);
        x[8 + j] = _mm512_shuffle_i32x4(y[j], y[4 + j], 0xDD);
        x[4 + j] = _mm512_shuffle_i32x4(y[8 + j], y[12 + j], 0x88);
        x[12 + j] = _mm512_shuffle_i32x4(y[8 + j], y[12 + j], 0xDD);
    }
}

/* Load the first `left` of up to 16 numbers or elements; the others are not read, and are zeros. */

VECTORS static inline __mmask16 first_of(int left)
{
    return left >= WIDTH ? 0xFFFF : left <= 0 ? 0 : (__mmask16)((1u << left) - 1);
}

VECTORS static inline __m512 load_reals(const real *from, int left)
{
    return left >= WIDTH ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(first_of(left), from);
}

VECTORS static inline __m512i load_elements(const element *from, int left)
{
    __m256i elements = left >= WIDTH
                           ? _mm256_loadu_si256((const void *)from)
                           : _mm512_castsi512_si256(_mm512_maskz_loadu_epi16(first_of(left), from));

    return _mm512_cvtepu16_epi32(elements);
}

/* Rounds the 16 numbers of low, then those of high. */
VECTORS static inline __m512i round_two(__m512 low, __m512 high)
{
    return (__m512i)_mm512_cvtne2ps_pbh(high, low);
}

VECTORS static inline __m512i pair_of(__m512i low, __m512i high)
{
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/* Returns the 16 words in b of the pair of rows at `row`, from `column` on. */
static element *words_at(element *b, int k, int row, int column)
{
    return b + (size_t)(column / BF16_COLUMNS * BF16_COLUMNS) * (size_t)bf16_padded(k, BF16_DEPTH) +
           (size_t)row * BF16_COLUMNS + (size_t)(column % BF16_COLUMNS) * 2;
}

/* Row after row, as the matrix lies in memory. */

VECTORS void bf16_pack_reals(const real *from, size_t stride, int k, int n, element *to)
{
    const __m512i in_turn =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);

    for (int row = 0; row < bf16_padded(k, BF16_DEPTH); row += 2, from += 2 * stride) {
        int low = row < k ? n : 0, high = row + 1 < k ? n : 0;

        for (int column = 0; column < bf16_padded(n, BF16_COLUMNS); column += WIDTH) {
            __m512i rows = round_two(load_reals(from + column, low - column),
                                     load_reals(from + stride + column, high - column));

            __builtin_prefetch(from + AHEAD_ROWS * stride + column, 0, 2);
            __builtin_prefetch(from + (AHEAD_ROWS + 1) * stride + column, 0, 2);
            _mm512_storeu_si512(words_at(to, k, row, column),
                                _mm512_permutexvar_epi16(in_turn, rows));
        }
    }
}

VECTORS void bf16_pack(const element *from, size_t stride, int k, int n, element *to)
{
    for (int row = 0; row < bf16_padded(k, BF16_DEPTH); row += 2, from += 2 * stride) {
        int low = row < k ? n : 0, high = row + 1 < k ? n : 0;

        for (int column = 0; column < bf16_padded(n, BF16_COLUMNS); column += WIDTH)
            _mm512_storeu_si512(words_at(to, k, row, column),
                                pair_of(load_elements(from + column, low - column),
                                        load_elements(from + stride + column, high - column)));
    }
}

/* Rounds the first `left` of `count` numbers, and sets the others to zero; count: a multiple of
 * BF16_DEPTH. */
VECTORS static void round_row(const real *from, int left, int count, element *to)
{
    for (int i = 0; i < count; i += 2 * WIDTH)
        _mm512_storeu_si512(to + i, round_two(load_reals(from + i, left - i),
                                              load_reals(from + i + WIDTH, left - i - WIDTH)));
}

/* Transposes BF16_DEPTH rounded numbers of each of WIDTH rows to as many rows of WIDTH columns of
 * b. */
VECTORS static void transpose_rounded(const element *from, size_t stride, element *to)
{
    __m512i words[WIDTH];

    for (int i = 0; i < WIDTH; i++)
        words[i] = _mm512_loadu_si512(from + (size_t)i * stride);
    transpose_words(words);
    for (int pair = 0; pair < PAIRS; pair++)
        _mm512_storeu_si512(to + pair * 2 * BF16_COLUMNS, words[pair]);
}

VECTORS void bf16_pack_reals_transposed(const real *from, size_t stride, int k, int n, element *to)
{
    enum { APART = BF16_LONGEST + BF16_DEPTH }; /* so that rows are in different cache sets */
    element rounded[WIDTH * APART];
    int depth = bf16_padded(k, BF16_DEPTH);

    for (int column = 0; column < bf16_padded(n, BF16_COLUMNS); column += WIDTH) {
        for (int i = 0; i < WIDTH; i++)
            round_row(from + (size_t)(column + i) * stride, column + i < n ? k : 0, depth,
                      rounded + i * APART);
        for (int row = 0; row < depth; row += BF16_DEPTH)
            transpose_rounded(rounded + row, APART, words_at(to, k, row, column));
    }
}

VECTORS void bf16_transpose(const element *from, size_t stride, int m, int k, element *to)
{
    size_t padded = (size_t)bf16_padded(k, BF16_DEPTH);

    for (int row = 0; row < m; row += WIDTH)
        for (int column = 0; column < k; column += BF16_DEPTH) {
            const element *pair = from + (size_t)column * stride + (size_t)row;
            __m512i words[WIDTH];

            for (int i = 0; i < PAIRS; i++, pair += 2 * stride)
                words[i] =
                    pair_of(load_elements(pair, column + 2 * i < k ? m - row : 0),
                            load_elements(pair + stride, column + 2 * i + 1 < k ? m - row : 0));
            transpose_words(words);
            for (int i = 0; i < WIDTH; i++)
                _mm512_storeu_si512(to + (size_t)(row + i) * padded + (size_t)column, words[i]);
        }
}

void bf16_pad(const element *from, size_t stride, int m, int k, element *to)
{
    size_t padded = (size_t)bf16_padded(k, BF16_DEPTH);

    for (int row = 0; row < m; row++, to += padded) {
        memcpy(to, from + (size_t)row * stride, (size_t)k * sizeof *to);
        memset(to + k, 0, (padded - (size_t)k) * sizeof *to);
    }
}

VECTORS void bf16_stream(const real *from, int count, real *to)
{
    int done = 0;

    for (; (uintptr_t)to % 64 == 0 && count - done >= 16; done += 16)
        _mm512_stream_ps(to + done, _mm512_loadu_ps(from + done));
    memcpy(to + done, from + done, (size_t)(count - done) * sizeof *to);
}

void bf16_settle(void)
{
    _mm_sfence();
}

#endif
