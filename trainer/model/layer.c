/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/layer.h"

#include <string.h>

size_t row_count(const struct geometry *geometry)
{
    return (size_t)geometry->batch * (size_t)geometry->shape->context;
}

static size_t aligned(size_t size_bytes)
{
    return (size_bytes + 63) / 64 * 64;
}

size_t activations_bytes(const struct geometry *geometry, size_t count)
{
    return aligned(count * geometry->compute->element_bytes);
}

size_t reals_bytes(size_t count)
{
    return aligned(count * sizeof(real));
}

/* Takes the first size_bytes of the memory at *left. */
static void *carve(char **left, size_t size_bytes)
{
    void *taken = *left;

    *left += size_bytes;
    return taken;
}

size_t saved_size(const struct geometry *geometry)
{
    size_t rows = row_count(geometry), wide = rows * (size_t)geometry->shape->channels;

    return 3 * activations_bytes(geometry, wide) + activations_bytes(geometry, 3 * wide) +
           activations_bytes(geometry, 4 * wide) + 4 * reals_bytes(rows) +
           reals_bytes(rows * (size_t)geometry->shape->heads);
}

void saved_lay_out(const struct geometry *geometry, void *memory, struct saved *saved)
{
    size_t rows = row_count(geometry), wide = rows * (size_t)geometry->shape->channels;
    char *left = memory;

    saved->in = carve(&left, activations_bytes(geometry, wide));
    saved->qkv = carve(&left, activations_bytes(geometry, 3 * wide));
    saved->attended = carve(&left, activations_bytes(geometry, wide));
    saved->middle = carve(&left, activations_bytes(geometry, wide));
    saved->hidden = carve(&left, activations_bytes(geometry, 4 * wide));
    saved->mean1 = carve(&left, reals_bytes(rows));
    saved->rstd1 = carve(&left, reals_bytes(rows));
    saved->mean2 = carve(&left, reals_bytes(rows));
    saved->rstd2 = carve(&left, reals_bytes(rows));
    saved->sums = carve(&left, reals_bytes(rows * (size_t)geometry->shape->heads));
}

size_t scratch_size(const struct geometry *geometry)
{
    size_t wide = row_count(geometry) * (size_t)geometry->shape->channels;

    return 2 * activations_bytes(geometry, wide) + 2 * activations_bytes(geometry, 4 * wide);
}

void scratch_lay_out(const struct geometry *geometry, void *memory, struct scratch *scratch)
{
    size_t wide = row_count(geometry) * (size_t)geometry->shape->channels;
    char *left = memory;

    scratch->normed = carve(&left, activations_bytes(geometry, wide));
    scratch->narrow = carve(&left, activations_bytes(geometry, wide));
    scratch->wide = carve(&left, activations_bytes(geometry, 4 * wide));
    scratch->dwide = carve(&left, activations_bytes(geometry, 4 * wide));
}

void gradients_clear(const struct shape *shape, enum unit_kind unit, real *gradients)
{
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        if (tensor_kinds[tensor].unit == unit && !tensor_kinds[tensor].is_factor)
            memset(gradients + shape_tensor_offset(shape, tensor), 0,
                   shape_tensor_size(shape, tensor) * sizeof(real));
}

static struct linear linear_of(const struct geometry *geometry, const real *weight, int inputs,
                               int outputs)
{
    return (struct linear){(int)row_count(geometry), inputs, outputs, weight};
}

/* out (rows x outputs) = in (rows x inputs) weight^T, weight: outputs x inputs. */
static void linear(const struct geometry *geometry, const struct store *store,
                   const activations *in, const real *weight, int inputs, int outputs,
                   activations *out)
{
    struct linear linear = linear_of(geometry, weight, inputs, outputs);

    geometry->compute->linear(&linear, in, out);
    store->progress(store->context);
}

/* din (set) and dweight (set or added to), dbias (added to) of linear with a bias. */
static void linear_backward(const struct geometry *geometry, const struct store *store,
                            const activations *dout, const activations *in, const real *weight,
                            int inputs, int outputs, activations *din, bool is_added, real *dweight,
                            real *dbias)
{
    struct linear linear = linear_of(geometry, weight, inputs, outputs);

    geometry->compute->linear_backward_weight(&linear, dout, in, is_added, dweight);
    store->progress(store->context);
    geometry->compute->sum_rows(dout, linear.rows, outputs, dbias);
    geometry->compute->linear_backward_in(&linear, dout, din);
    store->progress(store->context);
}

/* The tensor in the unit's array. */
#define AT(array, tensor) ((array) + shape_tensor_offset(geometry->shape, (tensor)))

void layer_forward(const struct geometry *geometry, const struct store *store,
                   const real *parameters, struct saved *saved, struct scratch *scratch,
                   activations *out)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;

    compute->layernorm(saved->in, AT(parameters, LN1W), AT(parameters, LN1B), rows, channels,
                       scratch->normed, saved->mean1, saved->rstd1);
    linear(geometry, store, scratch->normed, AT(parameters, QKVW), channels, 3 * channels,
           saved->qkv);
    compute->add(saved->qkv, NULL, AT(parameters, QKVB), rows, 3 * channels, saved->qkv);
    compute->attention(saved->qkv, geometry->batch, geometry->shape->context,
                       geometry->shape->heads, channels, saved->attended, saved->sums);
    linear(geometry, store, saved->attended, AT(parameters, ATTPROJW), channels, channels,
           saved->middle);
    compute->add(saved->middle, saved->in, AT(parameters, ATTPROJB), rows, channels, saved->middle);

    compute->layernorm(saved->middle, AT(parameters, LN2W), AT(parameters, LN2B), rows, channels,
                       scratch->normed, saved->mean2, saved->rstd2);
    linear(geometry, store, scratch->normed, AT(parameters, FCW), channels, 4 * channels,
           saved->hidden);
    compute->gelu(saved->hidden, AT(parameters, FCB), rows, 4 * channels, scratch->wide);
    linear(geometry, store, scratch->wide, AT(parameters, FCPROJW), 4 * channels, channels, out);
    compute->add(out, saved->middle, AT(parameters, FCPROJB), rows, channels, out);
}

static void mlp_backward(const struct geometry *geometry, const struct store *store,
                         const real *parameters, const struct saved *saved, struct scratch *scratch,
                         activations *d, bool is_added, real *gradients)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;
    struct linear fcproj = linear_of(geometry, AT(parameters, FCPROJW), 4 * channels, channels);
    activations *dwide = scratch->dwide;

    compute->linear_backward_in(&fcproj, d, dwide);
    store->progress(store->context);
    compute->gelu_backward(saved->hidden, (size_t)rows * 4 * (size_t)channels, dwide,
                           scratch->wide);
    compute->linear_backward_weight(&fcproj, d, scratch->wide, is_added, AT(gradients, FCPROJW));
    store->progress(store->context);
    compute->sum_rows(d, rows, channels, AT(gradients, FCPROJB));
    compute->layernorm(saved->middle, AT(parameters, LN2W), AT(parameters, LN2B), rows, channels,
                       scratch->normed, saved->mean2, saved->rstd2);
    linear_backward(geometry, store, dwide, scratch->normed, AT(parameters, FCW), channels,
                    4 * channels, scratch->narrow, is_added, AT(gradients, FCW),
                    AT(gradients, FCB));
    compute->layernorm_backward(scratch->narrow, saved->middle, AT(parameters, LN2W), saved->mean2,
                                saved->rstd2, rows, channels, d, AT(gradients, LN2W),
                                AT(gradients, LN2B));
}

static void attention_backward(const struct geometry *geometry, const struct store *store,
                               const real *parameters, const struct saved *saved,
                               struct scratch *scratch, activations *d, bool is_added,
                               real *gradients)
{
    const struct compute *compute = geometry->compute;
    int rows = (int)row_count(geometry), channels = geometry->shape->channels;
    activations *dqkv = scratch->wide;

    linear_backward(geometry, store, d, saved->attended, AT(parameters, ATTPROJW), channels,
                    channels, scratch->narrow, is_added, AT(gradients, ATTPROJW),
                    AT(gradients, ATTPROJB));
    compute->attention_backward(scratch->narrow, saved->qkv, saved->attended, saved->sums,
                                geometry->batch, geometry->shape->context, geometry->shape->heads,
                                channels, dqkv);
    store->progress(store->context);
    compute->layernorm(saved->in, AT(parameters, LN1W), AT(parameters, LN1B), rows, channels,
                       scratch->normed, saved->mean1, saved->rstd1);
    linear_backward(geometry, store, dqkv, scratch->normed, AT(parameters, QKVW), channels,
                    3 * channels, scratch->narrow, is_added, AT(gradients, QKVW),
                    AT(gradients, QKVB));
    compute->layernorm_backward(scratch->narrow, saved->in, AT(parameters, LN1W), saved->mean1,
                                saved->rstd1, rows, channels, d, AT(gradients, LN1W),
                                AT(gradients, LN1B));
}

void layer_backward(const struct geometry *geometry, const struct store *store,
                    const real *parameters, const struct saved *saved, struct scratch *scratch,
                    activations *d, bool is_added, real *gradients)
{
    if (!is_added)
        gradients_clear(geometry->shape, UNIT_LAYER, gradients);
    mlp_backward(geometry, store, parameters, saved, scratch, d, is_added, gradients);
    attention_backward(geometry, store, parameters, saved, scratch, d, is_added, gradients);
}
