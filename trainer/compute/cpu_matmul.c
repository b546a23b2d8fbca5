/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <cblas.h>
#include <stdlib.h>

/* The product is cut into tiles that each one thread computes with the library, so that the result
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

static void multiply_tile(const struct matmul *matmul, int row, int column)
{
    int rows = matmul->m - row < TILE_ROWS ? matmul->m - row : TILE_ROWS;
    int columns = matmul->n - column < TILE_COLUMNS ? matmul->n - column : TILE_COLUMNS;
    int lda = matmul->is_a_transposed ? matmul->m : matmul->k;
    int ldb = matmul->is_b_transposed ? matmul->k : matmul->n;

    cpu_gemm(&(struct gemm){
        .m = rows,
        .n = columns,
        .k = matmul->k,
        .a = matmul->a + (matmul->is_a_transposed ? (size_t)row : (size_t)row * (size_t)lda),
        .b = matmul->b + (matmul->is_b_transposed ? (size_t)column * (size_t)ldb : (size_t)column),
        .c = matmul->c + (size_t)row * (size_t)matmul->n + column,
        .lda = lda,
        .ldb = ldb,
        .ldc = matmul->n,
        .is_a_transposed = matmul->is_a_transposed,
        .is_b_transposed = matmul->is_b_transposed,
        .alpha = 1,
        .beta = matmul->beta,
    });
}

void cpu_matmul(const struct matmul *matmul)
{
    int across = (matmul->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    int tiles = across * ((matmul->m + TILE_ROWS - 1) / TILE_ROWS);

#pragma omp parallel for schedule(dynamic)
    for (int tile = 0; tile < tiles; tile++)
        multiply_tile(matmul, tile / across * TILE_ROWS, tile % across * TILE_COLUMNS);
}
