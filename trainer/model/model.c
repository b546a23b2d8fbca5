/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/model.h"

#include <stdlib.h>

#include "trainer/model/head.h"
#include "trainer/pages.h"

struct model {
    struct geometry geometry;
    char *memory;        /* of all below */
    struct saved *saved; /* of each layer */
    struct scratch scratch;
    activations *out; /* rows x channels: the last layer's output */
    activations *d;   /* rows x channels: the gradient on its way back */
    real *losses;     /* rows */
    void *head;
};

static size_t memory_size(const struct geometry *geometry)
{
    size_t rows = (size_t)geometry->batch * (size_t)geometry->time;

    return (size_t)geometry->shape->layers * saved_size(geometry) + scratch_size(geometry) +
           2 * activations_bytes(geometry, rows * (size_t)geometry->shape->channels) +
           reals_bytes(rows) + head_size(geometry);
}

static void place(struct model *model)
{
    const struct geometry *geometry = &model->geometry;
    size_t rows = (size_t)geometry->batch * (size_t)geometry->time;
    size_t wide_bytes = activations_bytes(geometry, rows * (size_t)geometry->shape->channels);
    char *next = model->memory;

    for (int layer = 0; layer < geometry->shape->layers; layer++, next += saved_size(geometry))
        saved_place(geometry, next, &model->saved[layer]);
    scratch_place(geometry, next, &model->scratch);
    next += scratch_size(geometry);
    model->out = next;
    model->d = next + wide_bytes;
    next += 2 * wide_bytes;
    model->losses = (real *)next;
    model->head = next + reals_bytes(rows);
}

int model_create(const struct geometry *geometry, struct model **model, struct error *err)
{
    struct model *made = calloc(1, sizeof *made);
    size_t size_bytes = memory_size(geometry);

    if (!made || !(made->saved = calloc((size_t)geometry->shape->layers, sizeof *made->saved)) ||
        !(made->memory = aligned_alloc(64, size_bytes))) {
        model_destroy(made);
        return error_set(err, "activations: %.1f GB of memory cannot be had: %m",
                         (double)size_bytes / 1e9);
    }
    pages_prefer_large(made->memory, size_bytes);
    made->geometry = *geometry;
    place(made);
    *model = made;
    return 0;
}

void model_destroy(struct model *model)
{
    if (!model)
        return;
    free(model->memory);
    free(model->saved);
    free(model);
}

size_t model_bytes(const struct geometry *geometry)
{
    return memory_size(geometry);
}

static void embed(struct model *model, const struct store *store, const int32_t *inputs)
{
    const struct geometry *geometry = &model->geometry;
    const real *ends = store->parameters(store->context, 0);

    if (geometry->batch > 0)
        geometry->compute->embed(inputs, ends + shape_tensor_offset(geometry->shape, WTE),
                                 ends + shape_tensor_offset(geometry->shape, WPE), geometry->batch,
                                 geometry->time, geometry->shape->channels, model->saved[0].in);
    store->release(store->context, 0);
}

static void embed_backward(struct model *model, const struct store *store, const int32_t *inputs)
{
    const struct geometry *geometry = &model->geometry;
    real *dends = store->gradients(store->context, 0);

    if (geometry->batch > 0)
        geometry->compute->embed_backward(model->d, inputs, geometry->batch, geometry->time,
                                          geometry->shape->channels,
                                          dends + shape_tensor_offset(geometry->shape, WTE),
                                          dends + shape_tensor_offset(geometry->shape, WPE));
    store->complete(store->context, 0);
}

static void forward(struct model *model, const struct store *store)
{
    const struct geometry *geometry = &model->geometry;
    int layers = geometry->shape->layers;

    for (int layer = 0; layer < layers; layer++) {
        const real *parameters = store->parameters(store->context, layer + 1);

        if (geometry->batch > 0)
            layer_forward(geometry, parameters, &model->saved[layer], &model->scratch,
                          layer + 1 < layers ? model->saved[layer + 1].in : model->out);
        store->release(store->context, layer + 1);
    }
}

static void backward(struct model *model, const struct store *store)
{
    const struct geometry *geometry = &model->geometry;

    for (int layer = geometry->shape->layers - 1; layer >= 0; layer--) {
        const real *parameters = store->parameters(store->context, layer + 1);

        real *gradients = store->gradients(store->context, layer + 1);

        if (geometry->batch > 0)
            layer_backward(geometry, parameters, &model->saved[layer], &model->scratch, model->d,
                           gradients);
        store->release(store->context, layer + 1);
        store->complete(store->context, layer + 1);
    }
}

static double classify(struct model *model, const struct store *store, const int32_t *targets,
                       double scale, bool trains)
{
    const struct geometry *geometry = &model->geometry;
    int rows = geometry->batch * geometry->time;
    const real *ends = store->parameters(store->context, 0);
    real *dends = trains ? store->gradients(store->context, 0) : NULL;
    double loss = 0;

    if (rows > 0)
        head_run(geometry, model->out, targets, (real)scale, ends, model->head, model->losses,
                 trains ? model->d : NULL, dends);
    store->release(store->context, 0);
    for (int row = 0; row < rows; row++)
        loss += (double)model->losses[row];
    return loss * scale;
}

double model_evaluate(struct model *model, const struct store *store, const int32_t *inputs,
                      const int32_t *targets, double scale)
{
    embed(model, store, inputs);
    forward(model, store);
    return classify(model, store, targets, scale, false);
}

double model_train(struct model *model, const struct store *store, const int32_t *inputs,
                   const int32_t *targets, double scale)
{
    double loss;

    embed(model, store, inputs);
    forward(model, store);
    loss = classify(model, store, targets, scale, true);
    backward(model, store);
    embed_backward(model, store, inputs);
    return loss;
}
