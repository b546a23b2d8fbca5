/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/head.h"

#include <string.h>

size_t head_size(const struct geometry *geometry)
{
    size_t rows = (size_t)geometry->batch * (size_t)geometry->time;

    return rows * (2 * (size_t)geometry->shape->channels + 2) +
           HEAD_ROWS * (size_t)geometry->shape->vocabulary;
}

/* Rows [first, first + rows): dnormed is set, dwte added to. */
static void classify(const struct geometry *geometry, const real *normed, const int32_t *targets,
                     int rows, real scale, const real *wte, real *logits, real *losses,
                     real *dnormed, real *dwte)
{
    const struct compute *compute = geometry->compute;
    int channels = geometry->shape->channels, vocabulary = geometry->shape->vocabulary;

    compute->matmul(&(struct matmul){.m = rows,
                                     .n = vocabulary,
                                     .k = channels,
                                     .a = normed,
                                     .b = wte,
                                     .c = logits,
                                     .is_b_transposed = true});
    compute->cross_entropy(logits, targets, rows, vocabulary, scale, losses);
    compute->matmul(&(struct matmul){
        .m = rows, .n = channels, .k = vocabulary, .a = logits, .b = wte, .c = dnormed});
    compute->matmul(&(struct matmul){.m = vocabulary,
                                     .n = channels,
                                     .k = rows,
                                     .a = logits,
                                     .b = normed,
                                     .c = dwte,
                                     .is_a_transposed = true,
                                     .beta = 1});
}

void head_run(const struct geometry *geometry, const real *in, const int32_t *targets, real scale,
              const real *final, const real *wte, real *memory, real *losses, real *d, real *dfinal,
              real *dwte)
{
    const struct compute *compute = geometry->compute;
    int rows = geometry->batch * geometry->time, channels = geometry->shape->channels;
    size_t wide = (size_t)rows * (size_t)channels;
    real *normed = memory, *dnormed = normed + wide, *mean = dnormed + wide, *rstd = mean + rows;
    real *logits = rstd + rows;
    const real *weight = final + shape_tensor_offset(geometry->shape, LNFW);
    const real *bias = final + shape_tensor_offset(geometry->shape, LNFB);

    compute->layernorm(in, weight, bias, rows, channels, normed, mean, rstd);
    for (int first = 0; first < rows; first += HEAD_ROWS) {
        size_t at = (size_t)first * (size_t)channels;

        classify(geometry, normed + at, targets + first,
                 rows - first < HEAD_ROWS ? rows - first : HEAD_ROWS, scale, wte, logits,
                 losses + first, dnormed + at, dwte);
    }
    memset(d, 0, wide * sizeof *d);
    compute->layernorm_backward(dnormed, in, weight, mean, rstd, rows, channels, d,
                                dfinal + shape_tensor_offset(geometry->shape, LNFW),
                                dfinal + shape_tensor_offset(geometry->shape, LNFB));
}
