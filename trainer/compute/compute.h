/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_COMPUTE_H
#define MUSTER_COMPUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "trainer/real.h"

/* The operations of the model: one table of functions, so that another device can be added.
 *
 * Parameters, their gradients and what is summed over a row are `real`. Activations and their
 * gradients are elements of a type that only the back-end knows, `element_bytes` each. Arrays are
 * row-major, rows = batch x time. Gradients called d... are added to, unless the comment says that
 * they are set. The results have the same bits from run to run and for any number of threads: work
 * is cut into parts whose size does not depend on it, and each sum is made in a fixed order.
 */
typedef void activations;

/* A linear layer without its bias. */
struct linear {
    int rows, inputs, outputs;
    const real *weight; /* outputs x inputs */
};

struct compute {
    const char *precision;
    size_t element_bytes;

    /* out (rows x outputs) = in (rows x inputs) weight^T */
    void (*linear)(const struct linear *linear, const activations *in, activations *out);
    /* The same, but out is not rounded to elements. */
    void (*linear_real)(const struct linear *linear, const activations *in, real *out);
    /* din (rows x inputs) is set to dout (rows x outputs) weight. */
    void (*linear_backward_in)(const struct linear *linear, const activations *dout,
                               activations *din);
    /* dweight (outputs x inputs) += dout^T in, or = that if !is_added. linear->weight is unused.
     */
    void (*linear_backward_weight)(const struct linear *linear, const activations *dout,
                                   const activations *in, bool is_added, real *dweight);

    /* out (rows x channels) = (in - mean) rstd weight + bias; mean, rstd: rows each, for backward.
     */
    void (*layernorm)(const activations *in, const real *weight, const real *bias, int rows,
                      int channels, activations *out, real *mean, real *rstd);
    /* Adds to din, and to dweight and dbias (channels each). */
    void (*layernorm_backward)(const activations *dout, const activations *in, const real *weight,
                               const real *mean, const real *rstd, int rows, int channels,
                               activations *din, real *dweight, real *dbias);

    /* qkv (batch x time x 3 channels) to out (batch x time x channels), causal; sums (batch x heads
     * x time): logarithm of the sum of exponentials, for backward. No time x time matrix is stored.
     */
    void (*attention)(const activations *qkv, int batch, int time, int heads, int channels,
                      activations *out, real *sums);
    /* dqkv is set. */
    void (*attention_backward)(const activations *dout, const activations *qkv,
                               const activations *out, const real *sums, int batch, int time,
                               int heads, int channels, activations *dqkv);

    /* GELU by tanh (Hendrycks, Gimpel 2016). bias is added first and stays in x. */
    void (*gelu)(activations *x, const real *bias, int rows, int columns, activations *out);
    /* Sets out to gelu of x (count elements, bias included), and d, the gradient of out, in place
     * to the gradient of x. */
    void (*gelu_backward)(const activations *x, size_t count, activations *d, activations *out);

    /* out = a + b + bias (one row of columns); out may be a. b NULL: without it. */
    void (*add)(const activations *a, const activations *b, const real *bias, int rows, int columns,
                activations *out);
    /* dbias (columns) += the sum over rows. */
    void (*sum_rows)(const activations *d, int rows, int columns, real *dbias);

    /* out (batch x time x channels) = wte[token] + wpe[t]. */
    void (*embed)(const int32_t *tokens, const real *wte, const real *wpe, int batch, int time,
                  int channels, activations *out);
    void (*embed_backward)(const activations *dout, const int32_t *tokens, int batch, int time,
                           int channels, real *dwte, real *dwpe);

    /* dlogits is set to the gradient of scale x the sum of the rows' cross entropies; it may be
     * logits if elements are `real`. logits (rows x vocabulary) are overwritten. losses: rows, not
     * scaled. */
    void (*cross_entropy)(real *logits, const int32_t *targets, int rows, int vocabulary,
                          real scale, real *losses, activations *dlogits);
};

/* All in `real`: matrix products by libraries (of floats oneDNN, if built with it, else the BLAS
 * library), the rest in the files cpu_*.c; with OpenMP's number of threads. */
extern const struct compute compute_cpu;

/* Activations in bfloat16 (8 bits of significand, the range of float): weights are rounded to it as
 * they are used, sums made in float. Matrix products by oneDNN, on AMX or AVX-512, whichever the
 * processor has. NULL with err: not built with oneDNN, or no such processor. */
const struct compute *compute_bf16(struct error *err);

#endif
