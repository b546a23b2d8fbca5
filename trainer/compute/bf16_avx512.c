/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/bf16_gemm.h"
#include "trainer/compute/bf16_pack.h"

#ifdef __x86_64__ /* no other processor has what compute_bf16() asks for */

#include <immintrin.h>

#define VECTORS __attribute__((target("avx512f,avx512bw,avx512bf16")))

/* Sums stay in registers only if loops over them are unrolled. */
#define UNROLLED _Pragma("GCC unroll 8")

/* ROWS x BF16_COLUMNS sums stay in registers: 24 of 32. A line of what is read next is prefetched
 * each LINE_PAIRS pairs of terms: 96 instructions, during which memory delivers one or more
 * lines. */
enum { WIDTH = 16, ROWS = 6, VECTORS_ACROSS = BF16_COLUMNS / WIDTH, LINE_PAIRS = 4, LINE = 64 };

/* What is still to be prefetched. */
struct cursor {
    const char *line, *end; /* of the row */
    size_t row_bytes, skip_bytes;
    int rows; /* with this one */
};

static struct cursor cursor_of(const struct bf16_ahead *ahead)
{
    const char *first = ahead->from;

    if (ahead->rows == 0)
        return (struct cursor){.rows = 0};
    return (struct cursor){first, first + ahead->row_bytes, ahead->row_bytes,
                           ahead->stride_bytes - ahead->row_bytes, ahead->rows};
}

static inline void prefetch(struct cursor *cursor)
{
    if (cursor->rows <= 0)
        return;
    __builtin_prefetch(cursor->line, 0, 2);
    cursor->line += LINE;
    if (cursor->line >= cursor->end) {
        cursor->line = cursor->end + cursor->skip_bytes;
        cursor->end = cursor->line + cursor->row_bytes;
        cursor->rows--;
    }
}

static inline __mmask16 first_of(int left)
{
    return left >= WIDTH ? 0xFFFF : left <= 0 ? 0 : (__mmask16)((1u << left) - 1);
}

/* Two elements of a, in each lane. */
VECTORS static inline __m512bh pair_at(const element *a)
{
    int pair;

    __builtin_memcpy(&pair, a, sizeof pair);
    return (__m512bh)_mm512_set1_epi32(pair);
}

/* Load and store WIDTH sums of a row, from a column on. */

VECTORS static inline __m512 get(const struct bf16_gemm *gemm, int row, int column)
{
    return gemm->is_added ? _mm512_maskz_loadu_ps(first_of(gemm->n - column),
                                                  gemm->c + (size_t)row * (size_t)gemm->n + column)
                          : _mm512_setzero_ps();
}

VECTORS static inline void put(const struct bf16_gemm *gemm, int row, int column, __m512 sums)
{
    const struct bf16_out *out = gemm->out;
    __mmask16 present = first_of(gemm->n - column);
    size_t at = out ? (size_t)row * out->stride + (size_t)column : 0;

    if (!out)
        _mm512_mask_storeu_ps(gemm->c + (size_t)row * (size_t)gemm->n + column, present, sums);
    else if (out->elements)
        _mm512_mask_cvtepi32_storeu_epi16(out->elements + at, present,
                                          _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(sums)));
    else if (out->is_added)
        _mm512_mask_storeu_ps(out->reals + at, present,
                              _mm512_add_ps(_mm512_maskz_loadu_ps(present, out->reals + at), sums));
    else if (present == 0xFFFF && (uintptr_t)(out->reals + at) % LINE == 0)
        _mm512_stream_ps(out->reals + at, sums);
    else
        _mm512_mask_storeu_ps(out->reals + at, present, sums);
}

/* Computes rows (a constant) x up to BF16_COLUMNS of c. */
VECTORS static inline __attribute__((always_inline)) void
multiply_block(const int rows, const struct bf16_gemm *gemm, int row, int column,
               struct cursor *cursor)
{
    const element *a = gemm->a + (size_t)row * (size_t)gemm->a_stride;
    const element *b = gemm->b + (size_t)column * (size_t)gemm->k;
    __m512 sums[ROWS][VECTORS_ACROSS];

    UNROLLED
    for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < VECTORS_ACROSS; j++)
            sums[i][j] = get(gemm, row + i, column + j * WIDTH);
    }
    for (int term = 0; term < gemm->k; term += 2 * LINE_PAIRS) {
        prefetch(cursor);
        for (int pair = term; pair < term + 2 * LINE_PAIRS; pair += 2, b += 2 * BF16_COLUMNS) {
            __m512bh right[VECTORS_ACROSS];

            UNROLLED
            for (int j = 0; j < VECTORS_ACROSS; j++)
                right[j] = (__m512bh)_mm512_loadu_si512(b + j * 2 * WIDTH);
            UNROLLED
            for (int i = 0; i < rows; i++) {
                __m512bh left = pair_at(a + (size_t)i * (size_t)gemm->a_stride + (size_t)pair);

                UNROLLED
                for (int j = 0; j < VECTORS_ACROSS; j++)
                    sums[i][j] = _mm512_dpbf16_ps(sums[i][j], left, right[j]);
            }
        }
    }
    UNROLLED
    for (int i = 0; i < rows; i++) {
        UNROLLED
        for (int j = 0; j < VECTORS_ACROSS; j++)
            put(gemm, row + i, column + j * WIDTH, sums[i][j]);
    }
}

VECTORS void bf16_gemm_avx512(const struct bf16_gemm *gemm)
{
    struct cursor cursor = cursor_of(&gemm->ahead);

    for (int column = 0; column < gemm->n; column += BF16_COLUMNS) {
        int row = 0;

        for (; row + ROWS <= gemm->m; row += ROWS)
            multiply_block(ROWS, gemm, row, column, &cursor);
        for (; row < gemm->m; row++)
            multiply_block(1, gemm, row, column, &cursor);
    }
}

#endif
