/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/clock.h"
#include "trainer/parallel/guard.h"
#include "trainer/parallel/verify.h"
#include "trainer/plant.h"

static int take_memory(struct training *training, struct error *err)
{
    const struct train_options *options = training->options;
    size_t rows = (size_t)training->geometry.batch * (size_t)training->geometry.time;
    struct holding_options holding = {&options->shape, options->weights_seed,
                                      (size_t)(options->bucket_mb * 1e6), options->window};

    training->inputs = calloc(rows + 1, sizeof *training->inputs);
    training->targets = calloc(rows + 1, sizeof *training->targets);
    training->words = calloc((size_t)team_seat(training->team).ranks, sizeof *training->words);
    if (!training->inputs || !training->targets || !training->words)
        return error_set(err, "a batch of %zu tokens: %m", rows);
    if (options->scheme->create(options->scheme, &holding,
                                training->alone ? training->alone : training->team,
                                &training->holding, err) != 0)
        return error_prefix(err, "%zu parameters", training->parameter_count);
    if ((options->verifies || training->alone) &&
        verify_create(training->holding, training->team, &training->verify, err) != 0)
        return -1;
    training->guard = guard_create(&options->shape, &training->holding->store, err);
    return training->guard ? model_create(&training->geometry, &training->model, err) : -1;
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

/* Sequences [*first, *first + *count) of a batch: as even as it goes, none for some where there are
 * more ranks than sequences. */
static void share(int batch, struct seat seat, int *first, int *count)
{
    *first = (int)((long)batch * seat.rank / seat.ranks);
    *count = (int)((long)batch * (seat.rank + 1) / seat.ranks) - *first;
}

int training_start(const struct train_options *options, const struct compute *compute,
                   struct team *team, struct training *training, struct error *err)
{
    const struct shape *shape = &options->shape;

    *training = (struct training){
        .options = options,
        .team = team,
        .geometry = {shape, compute, 0, shape->context},
        .dataset = {options->data_seed, shape->vocabulary, options->batch, shape->context,
                    options->is_batch_fixed, NULL},
        .parameter_count = shape_parameters(shape),
    };
    if (options->scheme->is_replicated && team_alone(&training->alone, err) != 0)
        return -1;
    share(options->batch, team_seat(training->alone ? training->alone : team), &training->first_row,
          &training->geometry.batch);
    if (open_data(training, err) != 0 || take_memory(training, err) != 0)
        return -1;
    options->scheme->draw(training->holding);
    return 0;
}

void training_clear(struct training *training)
{
    model_destroy(training->model);
    token_file_close(training->file);
    guard_destroy(training->guard);
    verify_destroy(training->verify);
    if (training->holding)
        training->holding->scheme->destroy(training->holding);
    team_destroy(training->alone);
    free(training->inputs);
    free(training->targets);
    free(training->words);
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

/* What all ranks' numbers come to; on each rank the same bits. */
static double sum_over_ranks(const struct training *training, double value)
{
    int ranks = team_seat(training->team).ranks;
    double *values = calloc((size_t)ranks, sizeof *values), sum = 0;

    if (training->alone) {
        free(values);
        return value;
    }
    if (!values)
        return NAN;
    team_tell(training->team, &value, sizeof value, values);
    for (int rank = 0; rank < ranks; rank++)
        sum += values[rank];
    free(values);
    return sum;
}

double training_norm(const struct training *training, enum tensor tensor)
{
    const struct holding *holding = training->holding;
    double squares = 0;

    for (int unit = 0; unit < shape_units(&training->options->shape); unit++)
        if (shape_unit_has(&training->options->shape, unit, tensor))
            squares += holding->scheme->squares(holding, unit, (int)tensor);
    return sqrt(sum_over_ranks(training, squares));
}

static double row_scale(const struct training *training)
{
    return 1.0 / ((double)training->options->batch * training->geometry.time);
}

static void read_batch(struct training *training)
{
    dataset_read(&training->dataset, (uint64_t)training->step, training->first_row,
                 training->geometry.batch, training->inputs, training->targets);
}

double training_evaluate(struct training *training)
{
    struct holding *holding = training->holding;

    read_batch(training);
    holding->scheme->begin(holding, false);
    return sum_over_ranks(training,
                          model_evaluate(training->model, &holding->store, training->inputs,
                                         training->targets, row_scale(training)));
}

/* Forward and backward; each rank's word of it. */
static void walk(struct training *training, struct step_word *word)
{
    struct holding *holding = training->holding;

    read_batch(training);
    guard_begin(training->guard);
    holding->scheme->begin(holding, true);
    word->loss = model_train(training->model, guard_store(training->guard), training->inputs,
                             training->targets, row_scale(training));
    holding->scheme->finish(holding);
    word->squares = holding->scheme->squares(holding, 0, TENSOR_COUNT);
    guard_found(training->guard, &word->bad_unit, &word->bad_tensor);
}

static int not_finite(const struct training *training, const struct step_result *result,
                      struct error *err)
{
    int ranks = team_seat(training->team).ranks, bad = 0, first = -1;
    const struct step_word *word;
    char where[64] = "", who[128] = "";

    for (int rank = 0; rank < ranks; rank++) {
        bad += training->words[rank].bad_unit >= 0;
        if (first < 0 && training->words[rank].bad_unit >= 0)
            first = rank;
    }
    if (first < 0)
        return error_set(err,
                         "step %ld: loss %g, gradient norm %g are not finite, though each rank's "
                         "own gradient was",
                         training->step, result->loss, result->gradient_norm);
    word = &training->words[first];
    if (word->bad_unit > 0)
        snprintf(where, sizeof where, " in layer %d", word->bad_unit - 1);
    if (ranks > 1 && bad == ranks)
        snprintf(who, sizeof who, ", on all %d ranks", ranks);
    else if (ranks > 1)
        snprintf(who, sizeof who, ", on %s%s", team_rank_name(first), bad > 1 ? " and others" : "");
    return error_set(err, "step %ld: loss %g; the gradient of %s%s is not finite%s", training->step,
                     result->loss, tensor_kinds[word->bad_tensor].name, where, who);
}

/* What each rank's gradient of a tensor comes to, for those whose losses or norms differ. */
static int accuse_replica(const struct training *training, int rank, bool is_sure,
                          struct error *err)
{
    int ranks = team_seat(training->team).ranks;
    uint64_t *all = calloc((size_t)ranks, sizeof *all);
    char what[64] = "the loss";

    for (int tensor = 0; all && tensor < TENSOR_COUNT; tensor++) {
        double norm = training_norm(training, tensor);
        int odd;

        team_tell(training->team, &norm, sizeof norm, all);
        odd = verify_odd_one(all, ranks, &is_sure);
        if (odd < 0)
            continue;
        rank = odd;
        snprintf(what, sizeof what, "the gradient of %s", tensor_kinds[tensor].name);
        break;
    }
    free(all);
    verify_accuse(what, rank, ranks, is_sure, err);
    return error_prefix(err, "step %ld", training->step);
}

/* Replicas must come to the same bits. */
static int compare_replicas(const struct training *training, struct error *err)
{
    int ranks = team_seat(training->team).ranks, odd = -1;
    uint64_t *all = calloc((size_t)ranks, sizeof *all);
    bool is_sure = false;

    for (int pass = 0; all && pass < 2 && odd < 0; pass++) {
        for (int rank = 0; rank < ranks; rank++)
            memcpy(&all[rank],
                   pass == 0 ? &training->words[rank].loss : &training->words[rank].squares,
                   sizeof *all);
        odd = verify_odd_one(all, ranks, &is_sure);
    }
    free(all);
    return odd < 0 ? 0 : accuse_replica(training, odd, is_sure, err);
}

/* Sums up what the ranks said, in their order. */
static void sum_up(const struct training *training, struct step_result *result)
{
    double squares = 0;

    *result = (struct step_result){.rate = rate_at(&training->options->rate, training->step)};
    for (int rank = 0; rank < team_seat(training->team).ranks; rank++) {
        const struct step_word *word = &training->words[rank];

        if (!training->alone || rank == team_seat(training->team).rank) {
            result->loss += word->loss;
            squares += word->squares;
        }
        if (word->signal)
            result->signal = word->signal;
    }
    result->gradient_norm = sqrt(squares);
}

static void strike(struct training *training, enum plant_moment moment)
{
    if (training->plant)
        plant_strike(training->plant, moment, training);
}

int training_step(struct training *training, const volatile sig_atomic_t *signal, int32_t saved,
                  struct step_result *result, struct error *err)
{
    const struct train_options *options = training->options;
    struct step_word word = {.saved = saved};
    double start_s = clock_s(), scale = 1;
    double waited_s = team_traffic(training->team).waited_s;

    if (training->verify && verify_before(training->verify, err) != 0)
        return error_prefix(err, "step %ld", training->step);
    strike(training, PLANT_BEFORE_STEP);
    walk(training, &word);
    word.seconds = clock_s() - start_s;
    word.waited_s = team_traffic(training->team).waited_s - waited_s;
    word.signal = (int32_t)*signal;
    team_tell(training->team, &word, sizeof word, training->words);
    sum_up(training, result);
    result->sent_bytes = team_traffic(training->team).sent_bytes - training->sent_bytes;
    training->sent_bytes += result->sent_bytes;
    if (training->alone && compare_replicas(training, err) != 0)
        return -1;
    if (!isfinite(result->loss) || !isfinite(result->gradient_norm))
        return not_finite(training, result, err);
    if (options->clip > 0 && result->gradient_norm > options->clip)
        scale = options->clip / result->gradient_norm;
    training->step++;
    options->scheme->update(training->holding, &options->adamw, training->step, result->rate,
                            scale);
    strike(training, PLANT_AFTER_UPDATE);
    if (training->verify && verify_after(training->verify, err) != 0)
        return error_prefix(err, "step %ld", training->step - 1);
    strike(training, PLANT_AFTER_STEP);
    result->seconds = clock_s() - start_s;
    result->waited_s = team_traffic(training->team).waited_s - waited_s;
    return 0;
}
