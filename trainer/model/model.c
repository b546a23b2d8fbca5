/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/model.h"

#include <stdlib.h>

#include "trainer/model/head.h"

struct model {
    struct geometry geometry;
    real *memory;        /* of all below */
    struct saved *saved; /* of each layer */
    struct scratch scratch;
    real *out;    /* rows x channels: the last layer's output */
    real *d;      /* rows x channels: the gradient on its way back */
    real *losses; /* rows */
    real *head;
};

static size_t memory_size(const struct geometry *geometry)
{
    size_t rows = (size_t)geometry->batch * (size_t)geometry->time;

    return (size_t)geometry->shape->layers * saved_size(geometry) + scratch_size(geometry) +
           rows * (2 * (size_t)geometry->shape->channels + 1) + head_size(geometry);
}

static void place(struct model *model)
{
    const struct geometry *geometry = &model->geometry;
    size_t rows = (size_t)geometry->batch * (size_t)geometry->time;
    real *next = model->memory;

    for (int layer = 0; layer < geometry->shape->layers; layer++, next += saved_size(geometry))
        saved_place(geometry, next, &model->saved[layer]);
    scratch_place(geometry, next, &model->scratch);
    next += scratch_size(geometry);
    model->out = next;
    model->d = next + rows * (size_t)geometry->shape->channels;
    next += 2 * rows * (size_t)geometry->shape->channels;
    model->losses = next;
    model->head = next + rows;
}

int model_create(const struct geometry *geometry, struct model **model, struct error *err)
{
    struct model *made = calloc(1, sizeof *made);
    size_t size_bytes = memory_size(geometry) * sizeof(real);

    if (!made || !(made->saved = calloc((size_t)geometry->shape->layers, sizeof *made->saved)) ||
        !(made->memory = malloc(size_bytes))) {
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
