/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/layer.h"

static size_t row_count(const struct geometry *geometry)
{
    return (size_t)geometry->batch * (size_t)geometry->time;
}

size_t saved_size(const struct geometry *geometry)
{
    size_t rows = row_count(geometry), channels = (size_t)geometry->shape->channels;

    return rows * (channels * 10 + 4 + (size_t)geometry->shape->heads);
}

void saved_place(const struct geometry *geometry, real *memory, struct saved *saved)
{
    size_t rows = row_count(geometry), wide = rows * (size_t)geometry->shape->channels;

    saved->in = memory;
    saved->qkv = saved->in + wide;
    saved->attended = saved->qkv + 3 * wide;
    saved->middle = saved->attended + wide;
    saved->hidden = saved->middle + wide;
    saved->mean1 = saved->hidden + 4 * wide;
    saved->rstd1 = saved->mean1 + rows;
    saved->mean2 = saved->rstd1 + rows;
    saved->rstd2 = saved->mean2 + rows;
    saved->sums = saved->rstd2 + rows;
}

size_t scratch_size(const struct geometry *geometry)
{
    return row_count(geometry) * (size_t)geometry->shape->channels * 10;
}

void scratch_place(const struct geometry *geometry, real *memory, struct scratch *scratch)
{
    size_t wide = row_count(geometry) * (size_t)geometry->shape->channels;

    scratch->normed = memory;
    scratch->narrow = memory + wide;
    scratch->wide = memory + 2 * wide;
    scratch->dwide = memory + 6 * wide;
}

/* out (rows x outputs) = in (rows x inputs) weight^T, weight: outputs x inputs. */
static void linear(const struct geometry *geometry, const real *in, const real *weight, int inputs,
                   int outputs, real *out)
{
    geometry->compute->matmul(&(struct matmul){.m = (int)row_count(geometry),
                                               .n = outputs,
                                               .k = inputs,
                                               .a = in,
                                               .b = weight,
                                               .c = out,
                                               .is_b_transposed = true});
}

/* din (set) and dweight, dbias (added to) of linear with a bias. */
static void linear_backward(const struct geometry *geometry, const real *dout, const real *in,
                            const real *weight, int inputs, int outputs, real *din, real *dweight,
                            real *dbias)
{
    int rows = (int)row_count(geometry);

    geometry->compute->matmul(&(struct matmul){.m = outputs,
                                               .n = inputs,
                                               .k = rows,
                                               .a = dout,
                                               .b = in,
                                               .c = dweight,
                                               .is_a_transposed = true,
                                               .beta = 1});
    geometry->compute->sum_rows(dout, rows, outputs, dbias);
    geometry->compute->matmul(
        &(struct matmul){.m = rows, .n = inputs, .k = outputs, .a = dout, .b = weight, .c = din});
}

/* Where the tensor is in the unit's array. */
#define AT(array, tensor) ((array) + shape_tensor_offset(geometry->shape, (tensor)))

void layer_forward(const struct geometry *geometry, const real *parameters, struct saved *saved,
                   struct scratch *scratch, real *out)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;

    compute->layernorm(saved->in, AT(parameters, LN1W), AT(parameters, LN1B), rows, channels,
                       scratch->normed, saved->mean1, saved->rstd1);
    linear(geometry, scratch->normed, AT(parameters, QKVW), channels, 3 * channels, saved->qkv);
    compute->add(saved->qkv, NULL, AT(parameters, QKVB), rows, 3 * channels, saved->qkv);
    compute->attention(saved->qkv, geometry->batch, geometry->time, geometry->shape->heads,
                       channels, saved->attended, saved->sums);
    linear(geometry, saved->attended, AT(parameters, ATTPROJW), channels, channels, saved->middle);
    compute->add(saved->middle, saved->in, AT(parameters, ATTPROJB), rows, channels, saved->middle);

    compute->layernorm(saved->middle, AT(parameters, LN2W), AT(parameters, LN2B), rows, channels,
                       scratch->normed, saved->mean2, saved->rstd2);
    linear(geometry, scratch->normed, AT(parameters, FCW), channels, 4 * channels, saved->hidden);
    compute->gelu(saved->hidden, AT(parameters, FCB), rows, 4 * channels, scratch->wide);
    linear(geometry, scratch->wide, AT(parameters, FCPROJW), 4 * channels, channels, out);
    compute->add(out, saved->middle, AT(parameters, FCPROJB), rows, channels, out);
}

static void mlp_backward(const struct geometry *geometry, const real *parameters,
                         const struct saved *saved, struct scratch *scratch, real *d,
                         real *gradients)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;
    real *dwide = scratch->dwide;

    compute->matmul(&(struct matmul){.m = rows,
                                     .n = 4 * channels,
                                     .k = channels,
                                     .a = d,
                                     .b = AT(parameters, FCPROJW),
                                     .c = dwide});
    compute->gelu_backward(saved->hidden, (size_t)rows * 4 * (size_t)channels, dwide,
                           scratch->wide);
    compute->matmul(&(struct matmul){.m = channels,
                                     .n = 4 * channels,
                                     .k = rows,
                                     .a = d,
                                     .b = scratch->wide,
                                     .c = AT(gradients, FCPROJW),
                                     .is_a_transposed = true,
                                     .beta = 1});
    compute->sum_rows(d, rows, channels, AT(gradients, FCPROJB));
    compute->layernorm(saved->middle, AT(parameters, LN2W), AT(parameters, LN2B), rows, channels,
                       scratch->normed, saved->mean2, saved->rstd2);
    linear_backward(geometry, dwide, scratch->normed, AT(parameters, FCW), channels, 4 * channels,
                    scratch->narrow, AT(gradients, FCW), AT(gradients, FCB));
    compute->layernorm_backward(scratch->narrow, saved->middle, AT(parameters, LN2W), saved->mean2,
                                saved->rstd2, rows, channels, d, AT(gradients, LN2W),
                                AT(gradients, LN2B));
}

static void attention_backward(const struct geometry *geometry, const real *parameters,
                               const struct saved *saved, struct scratch *scratch, real *d,
                               real *gradients)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;
    real *dqkv = scratch->wide;

    linear_backward(geometry, d, saved->attended, AT(parameters, ATTPROJW), channels, channels,
                    scratch->narrow, AT(gradients, ATTPROJW), AT(gradients, ATTPROJB));
    compute->attention_backward(scratch->narrow, saved->qkv, saved->attended, saved->sums,
                                geometry->batch, geometry->time, geometry->shape->heads, channels,
                                dqkv);
    compute->layernorm(saved->in, AT(parameters, LN1W), AT(parameters, LN1B), rows, channels,
                       scratch->normed, saved->mean1, saved->rstd1);
    linear_backward(geometry, dqkv, scratch->normed, AT(parameters, QKVW), channels, 3 * channels,
                    scratch->narrow, AT(gradients, QKVW), AT(gradients, QKVB));
    compute->layernorm_backward(scratch->narrow, saved->in, AT(parameters, LN1W), saved->mean1,
                                saved->rstd1, rows, channels, d, AT(gradients, LN1W),
                                AT(gradients, LN1B));
}

void layer_backward(const struct geometry *geometry, const real *parameters,
                    const struct saved *saved, struct scratch *scratch, real *d, real *gradients)
{
    mlp_backward(geometry, parameters, saved, scratch, d, gradients);
    attention_backward(geometry, parameters, saved, scratch, d, gradients);
}
