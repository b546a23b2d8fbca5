/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trainer/model/parameters.h"

static double clock_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int take_memory(struct training *training, struct error *err)
{
    size_t count = training->parameter_count;
    size_t rows = (size_t)training->geometry.batch * (size_t)training->geometry.time;

    training->parameters = calloc(count, sizeof(real));
    training->gradients = calloc(count, sizeof(real));
    training->first_moments = calloc(count, sizeof(real));
    training->second_moments = calloc(count, sizeof(real));
    training->inputs = calloc(rows, sizeof *training->inputs);
    training->targets = calloc(rows, sizeof *training->targets);
    if (!training->parameters || !training->gradients || !training->first_moments ||
        !training->second_moments || !training->inputs || !training->targets)
        return error_set(err, "%zu parameters: %.1f GB of memory cannot be had: %m", count,
                         (double)count * 4 * sizeof(real) / 1e9);
    return model_create(&training->geometry, &training->model, err);
}

static int open_data(struct training *training, struct error *err)
{
    const struct train_options *options = training->options;

    if (!options->data)
        return 0;
    if (token_file_open(options->data, &training->file, err) != 0 ||
        token_file_verify(training->file, err) != 0)
        return -1;
    training->dataset.file = training->file;
    if (token_file_vocabulary(training->file) > (uint32_t)options->shape.vocabulary)
        return error_set(err, "%s: has a vocabulary of %u, the model one of %d (--vocab)",
                         options->data, token_file_vocabulary(training->file),
                         options->shape.vocabulary);
    if (dataset_windows(&training->dataset) == 0)
        return error_set(err, "%s: has %llu tokens, a sequence needs %d", options->data,
                         (unsigned long long)token_file_count(training->file),
                         options->shape.context + 1);
    return 0;
}

int training_start(const struct train_options *options, const struct compute *compute,
                   struct training *training, struct error *err)
{
    const struct shape *shape = &options->shape;

    *training = (struct training){
        .options = options,
        .geometry = {shape, compute, options->batch, shape->context},
        .dataset = {options->data_seed, shape->vocabulary, options->batch, shape->context,
                    options->is_batch_fixed, NULL},
        .parameter_count = shape_parameters(shape),
    };
    if (open_data(training, err) != 0 || take_memory(training, err) != 0)
        return -1;
    training_draw(training);
    return 0;
}

void training_draw(struct training *training)
{
    const struct shape *shape = &training->options->shape;

    for (int unit = 0; unit < shape_units(shape); unit++)
        parameters_fill(shape, training->options->weights_seed, unit, 0,
                        shape_unit_size(shape, unit),
                        training->parameters + shape_unit_offset(shape, unit));
    memset(training->first_moments, 0, training->parameter_count * sizeof(real));
    memset(training->second_moments, 0, training->parameter_count * sizeof(real));
}

void training_clear(struct training *training)
{
    model_destroy(training->model);
    token_file_close(training->file);
    free(training->parameters);
    free(training->gradients);
    free(training->first_moments);
    free(training->second_moments);
    free(training->inputs);
    free(training->targets);
    *training = (struct training){0};
}

struct checkpoint_problem training_problem(const struct training *training)
{
    const struct train_options *options = training->options;

    return (struct checkpoint_problem){
        .shape = options->shape,
        .batch = options->batch,
        .weights_seed = options->weights_seed,
        .data_seed = options->data_seed,
        .data_checksum = training->file ? token_file_crc(training->file) : 0,
        .is_batch_fixed = options->is_batch_fixed,
    };
}

struct checkpoint_state training_state(const struct training *training)
{
    return (struct checkpoint_state){0, training->parameter_count, training->parameters,
                                     training->first_moments, training->second_moments};
}

double training_norm(const struct training *training, enum tensor tensor)
{
    const struct shape *shape = &training->options->shape;
    double squares = 0;

    for (int unit = 0; unit < shape_units(shape); unit++)
        if (shape_unit_has(shape, unit, tensor))
            squares += adamw_squares(training->gradients + shape_unit_offset(shape, unit) +
                                         shape_tensor_offset(shape, tensor),
                                     shape_tensor_size(shape, tensor));
    return sqrt(squares);
}

void training_evaluate(struct training *training, struct step_result *result)
{
    double start_s = clock_s();

    memset(training->gradients, 0, training->parameter_count * sizeof(real));
    dataset_read(&training->dataset, (uint64_t)training->step, 0, training->geometry.batch,
                 training->inputs, training->targets);
    result->loss = model_run(training->model, training->inputs, training->targets,
                             training->parameters, training->gradients);
    result->gradient_norm = sqrt(adamw_squares(training->gradients, training->parameter_count));
    result->rate = rate_at(&training->options->rate, training->step);
    result->seconds = clock_s() - start_s;
}

static int not_finite(const struct training *training, const struct step_result *result,
                      struct error *err)
{
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++)
        if (!isfinite(training_norm(training, tensor)))
            return error_set(err, "step %ld: loss %g; the gradient of %s is not finite",
                             training->step, result->loss, tensor_kinds[tensor].name);
    return error_set(err, "step %ld: loss %g, gradient norm %g are not finite", training->step,
                     result->loss, result->gradient_norm);
}

int training_step(struct training *training, struct step_result *result, struct error *err)
{
    const struct train_options *options = training->options;
    double start_s = clock_s(), scale = 1;

    training_evaluate(training, result);
    if (!isfinite(result->loss) || !isfinite(result->gradient_norm))
        return not_finite(training, result, err);
    if (options->clip > 0 && result->gradient_norm > options->clip)
        scale = options->clip / result->gradient_norm;
    training->step++;
    adamw_update(&options->adamw, training->step, result->rate, scale, training->parameter_count,
                 training->gradients, training->first_moments, training->second_moments,
                 training->parameters);
    result->seconds = clock_s() - start_s;
    return 0;
}
