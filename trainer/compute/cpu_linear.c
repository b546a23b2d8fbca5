/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu_linear.h"

#include <cblas.h>

#include "trainer/compute/cpu.h"

/* A product is cut into tiles that each one thread computes with the library, so that the result
 * does not depend on the number of threads: a library that shares a product out among threads cuts
 * it by their number. Large enough that packing a tile's operands costs little, small enough that
 * the products of a small batch can be shared out. */
enum { TILE_ROWS = 256, TILE_COLUMNS = 192 };

void cpu_gemm(const struct gemm *gemm)
{
    CBLAS_TRANSPOSE a = gemm->is_a_transposed ? CblasTrans : CblasNoTrans;
    CBLAS_TRANSPOSE b = gemm->is_b_transposed ? CblasTrans : CblasNoTrans;

#ifdef MUSTER_REAL_DOUBLE
    cblas_dgemm(CblasRowMajor, a, b, gemm->m, gemm->n, gemm->k, gemm->alpha, gemm->a, gemm->lda,
                gemm->b, gemm->ldb, gemm->beta, gemm->c, gemm->ldc);
#else
    cblas_sgemm(CblasRowMajor, a, b, gemm->m, gemm->n, gemm->k, gemm->alpha, gemm->a, gemm->lda,
                gemm->b, gemm->ldb, gemm->beta, gemm->c, gemm->ldc);
#endif
}

static void multiply_tile(const struct gemm *whole, int row, int column)
{
    struct gemm tile = *whole;

    tile.m = whole->m - row < TILE_ROWS ? whole->m - row : TILE_ROWS;
    tile.n = whole->n - column < TILE_COLUMNS ? whole->n - column : TILE_COLUMNS;
    tile.a += whole->is_a_transposed ? (size_t)row : (size_t)row * (size_t)whole->lda;
    tile.b += whole->is_b_transposed ? (size_t)column * (size_t)whole->ldb : (size_t)column;
    tile.c += (size_t)row * (size_t)whole->ldc + (size_t)column;
    cpu_gemm(&tile);
}

/* By all threads. */
static void multiply(const struct gemm *gemm)
{
    int across = (gemm->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    int tiles = across * ((gemm->m + TILE_ROWS - 1) / TILE_ROWS);

#pragma omp parallel for schedule(dynamic)
    for (int tile = 0; tile < tiles; tile++)
        multiply_tile(gemm, tile / across * TILE_ROWS, tile % across * TILE_COLUMNS);
}

void cpu_linear(const struct linear *linear, const activations *in, activations *out)
{
    multiply(&(struct gemm){.m = linear->rows,
                            .n = linear->outputs,
                            .k = linear->inputs,
                            .a = in,
                            .b = linear->weight,
                            .c = out,
                            .lda = linear->inputs,
                            .ldb = linear->inputs,
                            .ldc = linear->outputs,
                            .is_b_transposed = true,
                            .alpha = 1});
}

void cpu_linear_real(const struct linear *linear, const activations *in, real *out)
{
    cpu_linear(linear, in, out);
}

void cpu_linear_backward_in(const struct linear *linear, const activations *dout, activations *din)
{
    multiply(&(struct gemm){.m = linear->rows,
                            .n = linear->inputs,
                            .k = linear->outputs,
                            .a = dout,
                            .b = linear->weight,
                            .c = din,
                            .lda = linear->outputs,
                            .ldb = linear->inputs,
                            .ldc = linear->inputs,
                            .alpha = 1});
}

void cpu_linear_backward_weight(const struct linear *linear, const activations *dout,
                                const activations *in, real *dweight)
{
    multiply(&(struct gemm){.m = linear->outputs,
                            .n = linear->inputs,
                            .k = linear->rows,
                            .a = dout,
                            .b = in,
                            .c = dweight,
                            .lda = linear->outputs,
                            .ldb = linear->inputs,
                            .ldc = linear->inputs,
                            .is_a_transposed = true,
                            .alpha = 1,
                            .beta = 1});
}
