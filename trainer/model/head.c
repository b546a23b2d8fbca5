/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/head.h"

#include <string.h>

/* Whether gradients of logits need memory: if they have the same type they replace the logits. */
static bool needs_dlogits(const struct geometry *geometry)
{
    return geometry->compute->element_bytes != sizeof(real);
}

size_t head_size(const struct geometry *geometry)
{
    size_t rows = row_count(geometry);
    size_t logits = HEAD_ROWS * (size_t)geometry->shape->vocabulary;

    return 2 * activations_bytes(geometry, rows * (size_t)geometry->shape->channels) +
           2 * reals_bytes(rows) + reals_bytes(logits) +
           (needs_dlogits(geometry) ? activations_bytes(geometry, logits) : 0);
}

/* Computes losses for some rows of logits. Unless dwte is NULL, sets dnormed, and sets or adds to
 * dwte. */
static void classify(const struct geometry *geometry, const activations *normed,
                     const int32_t *targets, int rows, real scale, const real *wte, real *logits,
                     real *losses, activations *dnormed, bool is_added, real *dwte)
{
    const struct compute *compute = geometry->compute;
    int channels = geometry->shape->channels, vocabulary = geometry->shape->vocabulary;
    struct linear linear = {rows, channels, vocabulary, wte};
    activations *dlogits =
        needs_dlogits(geometry)
            ? (char *)logits + reals_bytes(HEAD_ROWS * (size_t)geometry->shape->vocabulary)
            : (char *)logits;

    compute->linear_real(&linear, normed, logits);
    compute->cross_entropy(logits, targets, rows, vocabulary, scale, losses, dlogits);
    if (!dwte)
        return;
    compute->linear_backward_in(&linear, dlogits, dnormed);
    compute->linear_backward_weight(&linear, dlogits, normed, is_added, dwte);
}

void head_run(const struct geometry *geometry, const activations *in, const int32_t *targets,
              real scale, const real *ends, void *memory, real *losses, activations *d,
              bool is_added, real *dends)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;
    size_t wide = (size_t)rows * (size_t)channels;
    char *normed = memory, *dnormed = normed + activations_bytes(geometry, wide);
    char *statistics = dnormed + activations_bytes(geometry, wide);
    real *mean = (real *)statistics, *rstd = (real *)(statistics + reals_bytes((size_t)rows));
    real *logits = (real *)(statistics + 2 * reals_bytes((size_t)rows));
    const real *wte = ends + shape_tensor_offset(geometry->shape, WTE);
    const real *weight = ends + shape_tensor_offset(geometry->shape, LNFW);
    const real *bias = ends + shape_tensor_offset(geometry->shape, LNFB);

    if (dends && !is_added)
        gradients_clear(geometry->shape, UNIT_ENDS, dends);
    compute->layernorm(in, weight, bias, rows, channels, normed, mean, rstd);
    for (int first = 0; first < rows; first += HEAD_ROWS) {
        size_t at = (size_t)first * (size_t)channels * compute->element_bytes;

        classify(geometry, normed + at, targets + first,
                 rows - first < HEAD_ROWS ? rows - first : HEAD_ROWS, scale, wte, logits,
                 losses + first, dnormed + at, is_added || first > 0,
                 dends ? dends + shape_tensor_offset(geometry->shape, WTE) : NULL);
    }
    if (!dends)
        return;
    memset(d, 0, wide * compute->element_bytes);
    compute->layernorm_backward(dnormed, in, weight, mean, rstd, rows, channels, d,
                                dends + shape_tensor_offset(geometry->shape, LNFW),
                                dends + shape_tensor_offset(geometry->shape, LNFB));
}
