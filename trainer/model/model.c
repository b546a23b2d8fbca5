/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/model/model.h"

#include <stdlib.h>
#include <string.h>

#include "trainer/model/head.h"
#include "trainer/pages.h"

enum { ENDS = 2 };            /* most buffers for outputs, and for gradients */
enum { ROWS_MOST = 1 << 30 }; /* rows are counted in an int, with room for sums */

struct model {
    struct model_options options;
    char *memory;        /* of all below */
    struct saved *saved; /* held x layers */
    activations **in;    /* [in_buffers] rows x channels: the first layer's input */
    int in_buffers, end_buffers;
    struct scratch scratch;
    activations *out[ENDS]; /* rows x channels: the last layer's output */
    activations *d[ENDS];   /* rows x channels: the gradient on its way back */
    real *losses;           /* rows */
    void *head;
};

static size_t wide_bytes(const struct geometry *geometry)
{
    return activations_bytes(geometry, row_count(geometry) * (size_t)geometry->shape->channels);
}

static bool is_alone(const struct model_options *options)
{
    return options->stage.stages == 1;
}

/* If another stage sends the input, one buffer is filled while the others are in use. */
static int in_buffers(const struct model_options *options)
{
    return options->held + !stage_is_first(&options->stage);
}

static int end_buffers(const struct model_options *options)
{
    return is_alone(options) ? 1 : ENDS;
}

static size_t saved_count(const struct model_options *options)
{
    return (size_t)options->held * (size_t)options->stage.layers;
}

size_t model_bytes(const struct model_options *options)
{
    const struct geometry *geometry = &options->geometry;
    size_t wides = (size_t)(in_buffers(options) - options->held + 2 * end_buffers(options));
    size_t bytes = saved_count(options) * saved_size(geometry) + scratch_size(geometry) +
                   wides * wide_bytes(geometry);

    if (stage_is_last(&options->stage))
        bytes += reals_bytes(row_count(geometry)) + head_size(geometry);
    return bytes;
}

static void lay_out(struct model *model)
{
    const struct geometry *geometry = &model->options.geometry;
    const struct stage *stage = &model->options.stage;
    size_t wide = wide_bytes(geometry);
    char *next = model->memory;

    for (size_t i = 0; i < saved_count(&model->options); i++, next += saved_size(geometry)) {
        saved_lay_out(geometry, next, &model->saved[i]);
        if (i % (size_t)stage->layers == 0)
            model->in[i / (size_t)stage->layers] = model->saved[i].in;
    }
    for (int i = model->options.held; i < model->in_buffers; i++, next += wide)
        model->in[i] = next;
    scratch_lay_out(geometry, next, &model->scratch);
    next += scratch_size(geometry);
    for (int i = 0; i < model->end_buffers; i++, next += 2 * wide) {
        model->out[i] = next;
        model->d[i] = next + wide;
    }
    model->losses = (real *)next;
    model->head = next + reals_bytes(row_count(geometry));
}

int model_create(const struct model_options *options, struct model **model, struct error *err)
{
    struct model *made = calloc(1, sizeof *made);
    size_t size_bytes = model_bytes(options);

    if (row_count(&options->geometry) > ROWS_MOST) {
        free(made);
        return error_set(err,
                         "found %zu tokens per microbatch, expected at most %d; use more "
                         "--microbatches or ranks",
                         row_count(&options->geometry), ROWS_MOST);
    }
    if (!made || !(made->saved = calloc(saved_count(options), sizeof *made->saved)) ||
        !(made->in = calloc((size_t)in_buffers(options), sizeof(activations *))) ||
        !(made->memory = aligned_alloc(64, size_bytes))) {
        model_destroy(made);
        return error_set(err, "cannot allocate %.1f GB for activations: %m",
                         (double)size_bytes / 1e9);
    }
    pages_prefer_large(made->memory, size_bytes);
    made->options = *options;
    made->in_buffers = in_buffers(options);
    made->end_buffers = end_buffers(options);
    lay_out(made);
    *model = made;
    return 0;
}

void model_destroy(struct model *model)
{
    if (!model)
        return;
    free(model->memory);
    free(model->saved);
    free(model->in);
    free(model);
}

activations *model_in(const struct model *model, int microbatch)
{
    return model->in[microbatch % model->in_buffers];
}

activations *model_out(const struct model *model, int microbatch)
{
    return model->out[microbatch % model->end_buffers];
}

activations *model_gradient(const struct model *model, int microbatch)
{
    return model->d[microbatch % model->end_buffers];
}

/* The geometry of a microbatch. */
static struct geometry geometry_of(const struct model *model, const struct microbatch *microbatch)
{
    struct geometry geometry = model->options.geometry;

    geometry.batch = microbatch->batch;
    return geometry;
}

/* What is saved of a layer of the stage, counted from 0. */
static struct saved *saved_of(struct model *model, int microbatch, int layer)
{
    const struct model_options *options = &model->options;

    return &model->saved[(microbatch % options->held) * options->stage.layers + layer];
}

/* Whether the microbatch adds to gradients. The first of a step sets them, to zeros on a rank
 * without sequences. */
static bool is_added(const struct microbatch *microbatch)
{
    return microbatch->number > 0;
}

static void clear(const struct model *model, int unit, real *gradients)
{
    memset(gradients, 0, shape_unit_size(model->options.stage.shape, unit) * sizeof *gradients);
}

static void embed(struct model *model, const struct store *store,
                  const struct microbatch *microbatch)
{
    const struct geometry *geometry = &model->options.geometry;
    const real *ends = store->parameters(store->context, 0);

    if (microbatch->batch > 0)
        geometry->compute->embed(microbatch->inputs,
                                 ends + shape_tensor_offset(geometry->shape, WTE),
                                 ends + shape_tensor_offset(geometry->shape, WPE),
                                 microbatch->batch, geometry->shape->context,
                                 geometry->shape->channels, model_in(model, microbatch->number));
    store->release(store->context, 0);
}

static void embed_backward(struct model *model, const struct store *store,
                           const struct microbatch *microbatch)
{
    const struct geometry *geometry = &model->options.geometry;
    real *dends = store->gradients(store->context, 0);

    /* a stage that has the head, too, has set them there */
    if (!is_added(microbatch) && !stage_is_last(&model->options.stage))
        clear(model, 0, dends);
    if (microbatch->batch > 0)
        geometry->compute->embed_backward(model_gradient(model, microbatch->number),
                                          microbatch->inputs, microbatch->batch,
                                          geometry->shape->context, geometry->shape->channels,
                                          dends + shape_tensor_offset(geometry->shape, WTE),
                                          dends + shape_tensor_offset(geometry->shape, WPE));
}

static void layers_forward(struct model *model, const struct store *store,
                           const struct microbatch *microbatch)
{
    struct geometry geometry = geometry_of(model, microbatch);
    const struct stage *stage = &model->options.stage;

    saved_of(model, microbatch->number, 0)->in = model_in(model, microbatch->number);
    for (int layer = 0; layer < stage->layers; layer++) {
        int unit = stage->first + layer + 1;
        const real *parameters = store->parameters(store->context, unit);

        if (microbatch->batch > 0)
            layer_forward(&geometry, store, parameters, saved_of(model, microbatch->number, layer),
                          &model->scratch,
                          layer + 1 < stage->layers
                              ? saved_of(model, microbatch->number, layer + 1)->in
                              : model_out(model, microbatch->number));
        store->release(store->context, unit);
    }
}

static void complete(const struct store *store, int unit, real *gradients)
{
    if (store->check_gradients)
        store->check_gradients(store->check_context, unit, gradients);
    store->complete(store->context, unit);
}

static void layers_backward(struct model *model, const struct store *store,
                            const struct microbatch *microbatch)
{
    struct geometry geometry = geometry_of(model, microbatch);
    const struct stage *stage = &model->options.stage;

    for (int layer = stage->layers - 1; layer >= 0; layer--) {
        int unit = stage->first + layer + 1;
        const real *parameters = store->parameters(store->context, unit);
        real *gradients = store->gradients(store->context, unit);

        if (microbatch->batch > 0)
            layer_backward(&geometry, store, parameters, saved_of(model, microbatch->number, layer),
                           &model->scratch, model_gradient(model, microbatch->number),
                           is_added(microbatch), gradients);
        else if (!is_added(microbatch))
            clear(model, unit, gradients);
        store->release(store->context, unit);
        if (microbatch->is_end)
            complete(store, unit, gradients);
    }
}

static double classify(struct model *model, const struct store *store,
                       const struct microbatch *microbatch)
{
    struct geometry geometry = geometry_of(model, microbatch);
    int rows = (int)row_count(&geometry);
    const real *ends = store->parameters(store->context, 0);
    real *dends = microbatch->trains ? store->gradients(store->context, 0) : NULL;
    double loss = 0;

    if (rows > 0)
        head_run(&geometry, model_out(model, microbatch->number), microbatch->targets,
                 (real)microbatch->scale, ends, model->head, model->losses,
                 microbatch->trains ? model_gradient(model, microbatch->number) : NULL,
                 is_added(microbatch), dends);
    else if (dends && !is_added(microbatch))
        clear(model, 0, dends);
    store->release(store->context, 0);
    for (int row = 0; row < rows; row++)
        loss += (double)model->losses[row];
    return loss * microbatch->scale;
}

double model_forward(struct model *model, const struct store *store,
                     const struct microbatch *microbatch)
{
    if (stage_is_first(&model->options.stage))
        embed(model, store, microbatch);
    layers_forward(model, store, microbatch);
    return stage_is_last(&model->options.stage) ? classify(model, store, microbatch) : 0;
}

void model_backward(struct model *model, const struct store *store,
                    const struct microbatch *microbatch)
{
    const struct stage *stage = &model->options.stage;

    layers_backward(model, store, microbatch);
    if (stage_is_first(stage))
        embed_backward(model, store, microbatch);
    if (microbatch->is_end && stage_has(stage, 0))
        complete(store, 0, store->gradients(store->context, 0));
}
