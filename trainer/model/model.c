/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/model.h"

#include <stdlib.h>

#include "trainer/model/head.h"

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

double model_run(struct model *model, const int32_t *inputs, const int32_t *targets,
                 const real *parameters, real *gradients)
{
    const struct geometry *geometry = &model->geometry;
    const struct shape *shape = geometry->shape;
    const struct compute *compute = geometry->compute;
    int rows = geometry->batch * geometry->time, last = shape_units(shape) - 1;
    const real *wte = parameters + shape_tensor_offset(shape, WTE);
    real *dwte = gradients + shape_tensor_offset(shape, WTE);
    double loss = 0;

    compute->embed(inputs, wte, parameters + shape_tensor_offset(shape, WPE), geometry->batch,
                   geometry->time, shape->channels, model->saved[0].in);
    for (int layer = 0; layer < shape->layers; layer++)
        layer_forward(geometry, parameters + shape_unit_offset(shape, layer + 1),
                      &model->saved[layer], &model->scratch,
                      layer + 1 < shape->layers ? model->saved[layer + 1].in : model->out);
    head_run(geometry, model->out, targets, (real)(1.0 / rows),
             parameters + shape_unit_offset(shape, last), wte, model->head, model->losses, model->d,
             gradients + shape_unit_offset(shape, last), dwte);
    for (int layer = shape->layers - 1; layer >= 0; layer--)
        layer_backward(geometry, parameters + shape_unit_offset(shape, layer + 1),
                       &model->saved[layer], &model->scratch, model->d,
                       gradients + shape_unit_offset(shape, layer + 1));
    compute->embed_backward(model->d, inputs, geometry->batch, geometry->time, shape->channels,
                            dwte, gradients + shape_tensor_offset(shape, WPE));
    for (int row = 0; row < rows; row++)
        loss += (double)model->losses[row];
    return loss / rows;
}
