/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/bf16_pack.h"

#ifdef __x86_64__ /* no other processor has what compute_bf16() asks for */

#include <immintrin.h>
#include <string.h>

/* What each processor that compute_bf16() takes can do. The conversion takes denormal numbers for
 * zero, as the products do. */
#define VECTORS __attribute__((target("avx512f,avx512bw,avx512bf16")))

/* Pairs of elements are words of 32 bits. */
enum { PAIRS = BF16_DEPTH / 2, WIDTH = 16, AHEAD_BYTES = 1024 };

int bf16_padded(int size, int unit)
{
    return (size + unit - 1) / unit * unit;
}

size_t bf16_packed_size(int k, int n)
{
    return (size_t)bf16_padded(k, BF16_DEPTH) * (size_t)bf16_padded(n, BF16_COLUMNS);
}

/* 16 x 16 words. */
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

/* low's 16 numbers, rounded, then high's. */
VECTORS static inline __m512i round_two(const real *low, const real *high)
{
    return (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(high), _mm512_loadu_ps(low));
}

VECTORS static inline __m512i pair_rows(const element *first, const element *second)
{
    __m512i low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)first));
    __m512i high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)second));

    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

/* A block is BF16_DEPTH rows of WIDTH columns of b. */

VECTORS static void pack_reals_block(const void *numbers, size_t stride, element *to)
{
    const real *from = numbers;
    const __m512i in_turn =
        _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                         21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);

    for (int pair = 0; pair < PAIRS; pair++, from += 2 * stride) {
        __m512i rows = round_two(from, from + stride);

        _mm512_storeu_si512(to + pair * 2 * BF16_COLUMNS, _mm512_permutexvar_epi16(in_turn, rows));
    }
}

VECTORS static void pack_block(const void *elements, size_t stride, element *to)
{
    const element *from = elements;

    for (int pair = 0; pair < PAIRS; pair++, from += 2 * stride)
        _mm512_storeu_si512(to + pair * 2 * BF16_COLUMNS, pair_rows(from, from + stride));
}

VECTORS static void pack_reals_transposed_block(const real *from, size_t stride, element *to)
{
    __m512i words[16];

    for (int column = 0; column < WIDTH; column++, from += stride) {
        words[column] = round_two(from, from + 16);
        __builtin_prefetch((const char *)from + AHEAD_BYTES);
        __builtin_prefetch((const char *)from + AHEAD_BYTES + 64);
    }
    transpose_words(words);
    for (int pair = 0; pair < PAIRS; pair++)
        _mm512_storeu_si512(to + pair * 2 * BF16_COLUMNS, words[pair]);
}

/* WIDTH rows of BF16_DEPTH columns of a, its rows `apart` elements apart. */
VECTORS static void transpose_block(const element *from, size_t stride, element *to, size_t apart)
{
    __m512i words[16];

    for (int pair = 0; pair < PAIRS; pair++, from += 2 * stride)
        words[pair] = pair_rows(from, from + stride);
    transpose_words(words);
    for (int row = 0; row < WIDTH; row++)
        _mm512_storeu_si512(to + (size_t)row * apart, words[row]);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* A matrix of numbers or elements. */
struct matrix {
    const void *from;
    size_t stride, size; /* bytes of a row, and of what it has */
    int rows, columns;
};

static const void *at(const struct matrix *matrix, int row, int column)
{
    return (const char *)matrix->from + (size_t)row * matrix->stride +
           (size_t)column * matrix->size;
}

/* `rows` x `columns` of the matrix from there on: where they are, or, at its ends, what there is of
 * them in `filled`, with zeros around it. *stride: elements. */
static const void *part(const struct matrix *matrix, int row, int column, int rows, int columns,
                        void *filled, size_t *stride)
{
    int there = least(matrix->rows - row, rows);
    int across = least(matrix->columns - column, columns);

    *stride = matrix->stride / matrix->size;
    if (there == rows && across == columns)
        return at(matrix, row, column);
    *stride = (size_t)columns;
    memset(filled, 0, (size_t)(rows * columns) * matrix->size);
    for (int i = 0; across > 0 && i < there; i++)
        memcpy((char *)filled + (size_t)(i * columns) * matrix->size, at(matrix, row + i, column),
               (size_t)across * matrix->size);
    return filled;
}

/* Where the block of b that begins at that row and column lies. */
static element *b_block(element *b, int k, int row, int column)
{
    return b + (size_t)(column / BF16_COLUMNS * BF16_COLUMNS) * (size_t)bf16_padded(k, BF16_DEPTH) +
           (size_t)row * BF16_COLUMNS + (size_t)(column % BF16_COLUMNS) * 2;
}

/* b from k x n numbers or elements; pack: a block of them. */
static void pack_rows(const struct matrix *matrix,
                      void (*pack)(const void *from, size_t stride, element *to), element *to)
{
    real filled[BF16_DEPTH * WIDTH];
    size_t stride;

    for (int row = 0; row < matrix->rows; row += BF16_DEPTH)
        for (int column = 0; column < bf16_padded(matrix->columns, BF16_COLUMNS); column += WIDTH) {
            const void *block = part(matrix, row, column, BF16_DEPTH, WIDTH, filled, &stride);

            pack(block, stride, b_block(to, matrix->rows, row, column));
        }
}

void bf16_pack_reals(const real *from, size_t stride, int k, int n, element *to)
{
    pack_rows(&(struct matrix){from, stride * sizeof *from, sizeof *from, k, n}, pack_reals_block,
              to);
}

void bf16_pack(const element *from, size_t stride, int k, int n, element *to)
{
    pack_rows(&(struct matrix){from, stride * sizeof *from, sizeof *from, k, n}, pack_block, to);
}

void bf16_pack_reals_transposed(const real *from, size_t stride, int k, int n, element *to)
{
    struct matrix matrix = {from, stride * sizeof *from, sizeof *from, n, k};
    real filled[BF16_DEPTH * WIDTH];

    for (int column = 0; column < bf16_padded(n, BF16_COLUMNS); column += WIDTH)
        for (int row = 0; row < k; row += BF16_DEPTH) {
            const real *block = part(&matrix, column, row, WIDTH, BF16_DEPTH, filled, &stride);

            pack_reals_transposed_block(block, stride, b_block(to, k, row, column));
        }
}

void bf16_transpose(const element *from, size_t stride, int m, int k, element *to)
{
    struct matrix matrix = {from, stride * sizeof *from, sizeof *from, k, m};
    size_t padded = (size_t)bf16_padded(k, BF16_DEPTH);
    element filled[BF16_DEPTH * WIDTH];

    for (int row = 0; row < m; row += WIDTH)
        for (int column = 0; column < k; column += BF16_DEPTH) {
            const element *block = part(&matrix, column, row, BF16_DEPTH, WIDTH, filled, &stride);

            transpose_block(block, stride, to + (size_t)row * padded + (size_t)column, padded);
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
