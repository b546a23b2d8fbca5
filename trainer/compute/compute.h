/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMPUTE_H
#define MUSTER_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/real.h"

/* What the model is computed with: one table of functions, so that another device can follow.
 *
 * Arrays are row-major, rows = batch x time. Gradients called d... are added to, unless it says
 * that they are set. The results are the same bits from run to run and for any number of threads:
 * work is cut into parts whose size does not depend on it, and each sum is made in a fixed order.
 */

/* c (m x n) = a (m x k) b (k x n) + beta c; a transposed operand is stored as its transpose. */
struct matmul {
    int m, n, k;
    const real *a;
    const real *b;
    real *c;
    bool is_a_transposed, is_b_transposed;
    real beta; /* 0 or 1 */
};

struct compute {
    const char *name;

    void (*matmul)(const struct matmul *matmul);

    /* out (rows x channels) = (in - mean) rstd weight + bias; mean, rstd: rows each, for backward.
     */
    void (*layernorm)(const real *in, const real *weight, const real *bias, int rows, int channels,
                      real *out, real *mean, real *rstd);
    /* din added to; dweight, dbias (channels). */
    void (*layernorm_backward)(const real *dout, const real *in, const real *weight,
                               const real *mean, const real *rstd, int rows, int channels,
                               real *din, real *dweight, real *dbias);

    /* qkv (batch x time x 3 channels) to out (batch x time x channels), causal; sums (batch x heads
     * x time): logarithm of the sum of exponentials, for backward. No time x time matrix is stored.
     */
    void (*attention)(const real *qkv, int batch, int time, int heads, int channels, real *out,
                      real *sums);
    /* dqkv is set. */
    void (*attention_backward)(const real *dout, const real *qkv, const real *out, const real *sums,
                               int batch, int time, int heads, int channels, real *dqkv);

    /* GELU by tanh (Hendrycks, Gimpel 2016). count elements; bias is added first and stays in x. */
    void (*gelu)(real *x, const real *bias, int rows, int columns, real *out);
    /* As gelu of x, bias included, into out; and d (in place) becomes the gradient of x. */
    void (*gelu_backward)(const real *x, size_t count, real *d, real *out);

    /* out = a + b + bias (one row of columns); out may be a. b NULL: without it. */
    void (*add)(const real *a, const real *b, const real *bias, int rows, int columns, real *out);
    /* dbias (columns) += the sum over rows. */
    void (*sum_rows)(const real *d, int rows, int columns, real *dbias);

    /* out (batch x time x channels) = wte[token] + wpe[t]. */
    void (*embed)(const int32_t *tokens, const real *wte, const real *wpe, int batch, int time,
                  int channels, real *out);
    void (*embed_backward)(const real *dout, const int32_t *tokens, int batch, int time,
                           int channels, real *dwte, real *dwpe);

    /* logits (rows x vocabulary) become the gradient of scale x the sum of the rows' cross
     * entropies; losses: rows, not scaled. */
    void (*cross_entropy)(real *logits, const int32_t *targets, int rows, int vocabulary,
                          real scale, real *losses);
};

/* Matrix products by the BLAS library, the rest here; threads by OpenMP. */
extern const struct compute compute_cpu;

/* How many threads it uses; to be called before its first use. */
void compute_cpu_threads(int threads);

#endif
