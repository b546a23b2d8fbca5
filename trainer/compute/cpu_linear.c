/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/compute/cpu.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(HAVE_DNNL) && !defined(MUSTER_REAL_DOUBLE)
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_debug.h>
#endif

/* A product is cut into tiles, each computed by one thread with the library, so that the result
 * does not depend on the number of threads: a library that divides a product among threads cuts it
 * by their number. Tiles are small enough that threads can share the products of a small batch;
 * they are larger if there are many, because the library first packs a tile's operands. */
enum { LEAST_ROWS = 256, LEAST_COLUMNS = 192, MOST_ROWS = 1024, MOST_COLUMNS = 768, ENOUGH = 8 };

struct tiling {
    int rows, columns; /* of a tile */
    int down, across;  /* tiles */
};

static struct tiling tiling_of(int rows, int columns, const struct gemm *gemm)
{
    return (struct tiling){rows, columns, (gemm->m + rows - 1) / rows,
                           (gemm->n + columns - 1) / columns};
}

static struct tiling choose_tiling(const struct gemm *gemm)
{
    struct tiling chosen = tiling_of(LEAST_ROWS, LEAST_COLUMNS, gemm);

    for (;;) {
        bool is_wide = chosen.columns >= 2 * chosen.rows || chosen.columns >= MOST_COLUMNS ||
                       chosen.across == 1;
        struct tiling larger = is_wide ? tiling_of(2 * chosen.rows, chosen.columns, gemm)
                                       : tiling_of(chosen.rows, 2 * chosen.columns, gemm);

        if (larger.rows > MOST_ROWS || larger.down * larger.across < ENOUGH)
            return chosen;
        chosen = larger;
    }
}

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

/* Computes a tile by oneDNN, if built with it: on processors with AVX-512 it is 1.1 to 1.3 times as
 * fast as OpenBLAS, which is faster for the small products of attention. Runs on one thread, since
 * it is called in a parallel region. */
static void multiply_alone(const struct gemm *tile)
{
#if defined(HAVE_DNNL) && !defined(MUSTER_REAL_DOUBLE)
    dnnl_status_t status =
        dnnl_sgemm(tile->is_a_transposed ? 'T' : 'N', tile->is_b_transposed ? 'T' : 'N', tile->m,
                   tile->n, tile->k, tile->alpha, tile->a, tile->lda, tile->b, tile->ldb,
                   tile->beta, tile->c, tile->ldc);

    if (status == dnnl_success)
        return;
    fprintf(stderr, "muster-train: oneDNN: cannot compute a %d x %d x %d matrix product: %s\n",
            tile->m, tile->n, tile->k,
            status == dnnl_out_of_memory ? "out of memory" : dnnl_status2str(status));
    exit(1);
#else
    cpu_gemm(tile);
#endif
}

static void multiply_tile(const struct gemm *whole, const struct tiling *tiling, int index)
{
    int row = index / tiling->across * tiling->rows;
    int column = index % tiling->across * tiling->columns;
    struct gemm tile = *whole;

    tile.m = whole->m - row < tiling->rows ? whole->m - row : tiling->rows;
    tile.n = whole->n - column < tiling->columns ? whole->n - column : tiling->columns;
    tile.a += whole->is_a_transposed ? (size_t)row : (size_t)row * (size_t)whole->lda;
    tile.b += whole->is_b_transposed ? (size_t)column * (size_t)whole->ldb : (size_t)column;
    tile.c += (size_t)row * (size_t)whole->ldc + (size_t)column;
    multiply_alone(&tile);
}

/* c (m x n) = a b, or += if is_added, on all threads. */
static void multiply(int m, int n, int k, const real *a, bool is_a_transposed, const real *b,
                     bool is_b_transposed, bool is_added, real *c)
{
    const struct gemm gemm = {.m = m,
                              .n = n,
                              .k = k,
                              .a = a,
                              .b = b,
                              .c = c,
                              .lda = is_a_transposed ? m : k,
                              .ldb = is_b_transposed ? k : n,
                              .ldc = n,
                              .is_a_transposed = is_a_transposed,
                              .is_b_transposed = is_b_transposed,
                              .alpha = 1,
                              .beta = is_added};
    struct tiling tiling = choose_tiling(&gemm);

#pragma omp parallel for schedule(dynamic)
    for (int tile = 0; tile < tiling.down * tiling.across; tile++)
        multiply_tile(&gemm, &tiling, tile);
}

void cpu_linear(const struct linear *linear, const activations *in, activations *out)
{
    multiply(linear->rows, linear->outputs, linear->inputs, in, false, linear->weight, true, false,
             out);
}

void cpu_linear_real(const struct linear *linear, const activations *in, real *out)
{
    cpu_linear(linear, in, out);
}

void cpu_linear_backward_in(const struct linear *linear, const activations *dout, activations *din)
{
    multiply(linear->rows, linear->inputs, linear->outputs, dout, false, linear->weight, false,
             false, din);
}

void cpu_linear_backward_weight(const struct linear *linear, const activations *dout,
                                const activations *in, bool is_added, real *dweight)
{
    multiply(linear->outputs, linear->inputs, linear->rows, dout, true, in, false, is_added,
             dweight);
}
