/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/training.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "trainer/injection.h"
#include "trainer/parallel/pipeline/split.h"
#include "trainer/parallel/verify.h"
#include "validate/harness/watch/watch.h"

/* Returns the island of this rank's node, set by the plugin, or without islands its fabric. */
static const char *own_island(void)
{
    static const char *const names[] = {"MUSTER_ISLAND", "MUSTER_FABRIC"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) && *getenv(names[i]))
            return getenv(names[i]);
    return "";
}

int training_fits(const struct train_options *options, int ranks, struct error *err)
{
    int stages = options->stages > 0 ? options->stages : 1, layers = options->shape.layers, rv;
    const char *split = options->split;
    struct placement placement;

    if (options->is_auto && options->stages == 0)
        return 0;
    if (placement_create(options->strategy->is_replicated ? 1 : ranks, stages, layers, &placement,
                         err) != 0)
        return -1;
    rv = !split || strcmp(split, "even") == 0 || strcmp(split, "measured") == 0
             ? 0
             : split_parse(split, layers, stages, placement.layers, err);
    placement_clear(&placement);
    return rv;
}

/* Arranges which rank computes which layers, and allocates activations. */
static int lay_out(struct training *training, struct error *err)
{
    const struct train_options *options = training->options;
    struct comm *comm = training->alone ? training->alone : training->comm;
    struct arrange_options wanted = {&options->shape, training->compute,     options->batch,
                                     options->stages, options->microbatches, options->is_auto,
                                     options->split};
    struct pipeline_options pipeline = {&options->shape, training->compute,
                                        &training->arrangement.placement, options->batch, 0};

    if (arrangement_make(&wanted, comm, own_island(), &training->arrangement, err) != 0)
        return -1;
    pipeline.microbatches = training->arrangement.microbatches;
    if (pipeline_create(&pipeline, comm, &training->pipeline, err) != 0)
        return -1;
    training->rows = pipeline_rows(training->pipeline, &training->first_row);
    return 0;
}

static int allocate(struct training *training, struct error *err)
{
    const struct train_options *options = training->options;
    size_t tokens = (size_t)training->rows * (size_t)options->shape.context;
    struct shard_options shard = {&options->shape, pipeline_stage(training->pipeline),
                                  options->weights_seed, (size_t)(options->bucket_mb * 1e6),
                                  options->window};

    training->inputs = calloc(tokens + 1, sizeof *training->inputs);
    training->targets = calloc(tokens + 1, sizeof *training->targets);
    training->rank_steps =
        calloc((size_t)comm_rank_info(training->comm).ranks, sizeof *training->rank_steps);
    if (!training->inputs || !training->targets || !training->rank_steps)
        return error_set(err, "cannot allocate a batch of %zu tokens: %m", tokens);
    if (options->strategy->create(options->strategy, &shard, pipeline_island(training->pipeline),
                                  &training->shard, err) != 0)
        return error_prefix(err, "%zu parameters", training->parameter_count);
    training->shard->bytes.working += pipeline_buffer_bytes(training->pipeline);
    if ((options->verifies || training->alone) &&
        verify_create(training->shard, training->comm, &training->verify, err) != 0)
        return -1;
    training->guard =
        (struct guard){.shard = training->shard,
                       .is_summed = comm_rank_info(training->shard->comm).ranks > 1 ||
                                    training->arrangement.placement.stages > 1, /* pipeline_tie() */
                       .injected_unit = -1};
    return 0;
}

static int open_data(struct training *training, struct error *err)
{
    const struct train_options *options = training->options;

    if (!options->data)
        return 0;
    if (token_file_open(options->data, &training->file, err) != 0 ||
        token_file_verify(training->file, watch_step, err) != 0)
        return -1;
    training->dataset.file = training->file;
    if (token_file_vocabulary(training->file) > (uint32_t)options->shape.vocabulary)
        return error_set(err, "%s: found a vocabulary of %u, expected at most %d (--vocab)",
                         options->data, token_file_vocabulary(training->file),
                         options->shape.vocabulary);
    if (dataset_windows(&training->dataset) == 0)
        return error_set(err, "%s: found %llu tokens, expected at least %d for one sequence",
                         options->data, (unsigned long long)token_file_count(training->file),
                         options->shape.context + 1);
    return 0;
}

/* Checks whether all ranks read the same file: with different files some sequences would be read
 * twice and others by no rank. Collective; the result is the same on all ranks. */
static int compare_data(const struct training *training, struct error *err)
{
    struct data_facts {
        uint64_t count;
        uint32_t crc, vocabulary;
    } own, *all;
    int ranks = comm_rank_info(training->comm).ranks, rv = 0;

    if (!training->file)
        return 0;
    own = (struct data_facts){token_file_count(training->file), token_file_crc(training->file),
                              token_file_vocabulary(training->file)};
    all = comm_gather_buffer(training->comm, sizeof *all);
    comm_all_gather(training->comm, &own, sizeof own, all);
    for (int rank = 1; rank < ranks && rv == 0; rank++)
        if (memcmp(&all[rank], &all[0], sizeof *all) != 0)
            rv = error_set(err,
                           "%s: %s has %llu tokens (checksum %08x), rank 0 has %llu (%08x): all "
                           "ranks must use the same file",
                           training->options->data, comm_rank_name(training->comm, rank),
                           (unsigned long long)all[rank].count, all[rank].crc,
                           (unsigned long long)all[0].count, all[0].crc);
    free(all);
    return rv;
}

int training_start(const struct train_options *options, const struct compute *compute,
                   struct comm *comm, struct training *training, struct error *err)
{
    const struct shape *shape = &options->shape;
    int rv = 0;

    *training = (struct training){
        .options = options,
        .comm = comm,
        .compute = compute,
        .dataset = {options->data_seed, shape->vocabulary, options->batch, shape->context,
                    options->is_batch_fixed, NULL},
        .parameter_count = shape_parameters(shape),
    };
    if (options->strategy->is_replicated)
        rv = comm_self(&training->alone, err);
    if (rv == 0)
        rv = open_data(training, err);
    if (comm_agree(comm, rv, err) != 0 || compare_data(training, err) != 0)
        return -1;
    rv = lay_out(training, err);
    if (rv == 0)
        rv = allocate(training, err);
    if (comm_agree(comm, rv, err) != 0)
        return -1;
    options->strategy->draw(training->shard);
    return 0;
}

void training_clear(struct training *training)
{
    token_file_close(training->file);
    verify_destroy(training->verify);
    if (training->shard)
        training->shard->strategy->destroy(training->shard);
    pipeline_destroy(training->pipeline);
    arrangement_clear(&training->arrangement);
    comm_destroy(training->alone);
    free(training->inputs);
    free(training->targets);
    free(training->rank_steps);
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

/* Returns the sum of all ranks' values, in the same bits on each rank; for replicas the own
 * value. */
static double sum_over_ranks(const struct training *training, double value)
{
    int ranks = comm_rank_info(training->comm).ranks;
    double *values, sum = 0;

    if (training->alone)
        return value;
    values = comm_gather_buffer(training->comm, sizeof *values);
    comm_all_gather(training->comm, &value, sizeof value, values);
    for (int rank = 0; rank < ranks; rank++)
        sum += values[rank];
    free(values);
    return sum;
}

double training_norm(const struct training *training, enum tensor tensor)
{
    const struct shard *shard = training->shard;
    double squares = 0;

    for (int unit = 0; unit < shape_units(&training->options->shape); unit++)
        if (shape_unit_has(&training->options->shape, unit, tensor))
            squares += shard->strategy->squares(shard, unit, (int)tensor);
    return sqrt(sum_over_ranks(training, squares));
}

static double row_scale(const struct training *training)
{
    return 1.0 / ((double)training->options->batch * training->options->shape.context);
}

static void read_batch(struct training *training)
{
    dataset_read(&training->dataset, (uint64_t)training->step, training->first_row, training->rows,
                 training->inputs, training->targets);
}

double training_evaluate(struct training *training)
{
    struct shard *shard = training->shard;

    read_batch(training);
    shard->strategy->begin(shard, false);
    return sum_over_ranks(training,
                          pipeline_walk(training->pipeline, &shard->store, training->inputs,
                                        training->targets, row_scale(training), false));
}

/* Runs forward and backward, and fills this rank's results. */
static void walk(struct training *training, struct rank_step *own)
{
    struct store store = guard_begin(&training->guard);
    struct shard *shard = training->shard;

    read_batch(training);
    shard->strategy->begin(shard, true);
    own->loss = pipeline_walk(training->pipeline, &store, training->inputs, training->targets,
                              row_scale(training), true);
    shard->strategy->finish(shard);
    if (training->arrangement.placement.stages > 1 &&
        stage_has(pipeline_stage(training->pipeline), 0))
        pipeline_tie(training->pipeline, shard->store.gradients(shard->store.context, 0));
    own->squares = shard->strategy->squares(shard, 0, TENSOR_COUNT);
    guard_found(&training->guard, own->squares, &own->bad_unit, &own->bad_tensor);
}

static int not_finite(const struct training *training, const struct step_result *result,
                      struct error *err)
{
    int ranks = comm_rank_info(training->comm).ranks, bad = 0, first = -1;
    const struct rank_step *found;
    char where[64] = "", who[320] = "";

    for (int rank = 0; rank < ranks; rank++) {
        bad += training->rank_steps[rank].bad_unit >= 0;
        if (first < 0 && training->rank_steps[rank].bad_unit >= 0)
            first = rank;
    }
    if (first < 0)
        return error_set(err,
                         "step %ld: loss %g and gradient norm %g are not finite, but the gradient "
                         "of each rank is finite",
                         training->step, result->loss, result->gradient_norm);
    found = &training->rank_steps[first];
    if (found->bad_unit > 0)
        snprintf(where, sizeof where, " in layer %d", found->bad_unit - 1);
    if (ranks > 1 && bad == ranks)
        snprintf(who, sizeof who, ", on all %d ranks", ranks);
    else if (ranks > 1)
        snprintf(who, sizeof who, ", on %s%s", comm_rank_name(training->comm, first),
                 bad > 1 ? " and others" : "");
    return error_set(err, "step %ld: loss %g; the gradient of %s%s is not finite%s", training->step,
                     result->loss, tensor_kinds[found->bad_tensor].name, where, who);
}

/* Sets err to the replica that differs, and in what: the first tensor whose gradient norms differ,
 * or without one the loss of `rank`. */
static int name_replica(const struct training *training, int rank, bool is_sure, struct error *err)
{
    int ranks = comm_rank_info(training->comm).ranks;
    uint64_t *all = comm_gather_buffer(training->comm, sizeof *all);
    char what[64] = "the loss";

    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        double norm = training_norm(training, tensor);
        int odd;

        comm_all_gather(training->comm, &norm, sizeof norm, all);
        odd = verify_odd_one(all, ranks, &is_sure);
        if (odd < 0)
            continue;
        rank = odd;
        snprintf(what, sizeof what, "the gradient of %s", tensor_kinds[tensor].name);
        break;
    }
    free(all);
    verify_name_rank(training->comm, what, rank, 0, ranks, is_sure, err);
    return error_prefix(err, "step %ld", training->step);
}

/* Compares losses and gradient norms of replicas, which must have the same bits. */
static int compare_replicas(const struct training *training, struct error *err)
{
    int ranks = comm_rank_info(training->comm).ranks, odd = -1;
    uint64_t *all = comm_gather_buffer(training->comm, sizeof *all);
    bool is_sure = false;

    for (int pass = 0; pass < 2 && odd < 0; pass++) {
        for (int rank = 0; rank < ranks; rank++)
            memcpy(&all[rank],
                   pass == 0 ? &training->rank_steps[rank].loss
                             : &training->rank_steps[rank].squares,
                   sizeof *all);
        odd = verify_odd_one(all, ranks, &is_sure);
    }
    free(all);
    return odd < 0 ? 0 : name_replica(training, odd, is_sure, err);
}

/* Sums up the ranks' results, in their order. */
static void sum_up(const struct training *training, struct step_result *result)
{
    double squares = 0;

    *result = (struct step_result){.rate = rate_at(&training->options->rate, training->step)};
    for (int rank = 0; rank < comm_rank_info(training->comm).ranks; rank++) {
        const struct rank_step *each = &training->rank_steps[rank];

        if (!training->alone || rank == comm_rank_info(training->comm).rank) {
            result->loss += each->loss;
            squares += each->squares;
        }
        if (each->signal)
            result->signal = each->signal;
    }
    result->gradient_norm = sqrt(squares);
}

/* Returns what this rank has sent, and how long it has waited, since the beginning. */
static struct traffic traffic_of(const struct training *training)
{
    struct pipeline_traffic stages = pipeline_traffic(training->pipeline);
    struct traffic all = comm_traffic(training->comm);

    all.sent_bytes += stages.forward + stages.backward + stages.ends + stages.inside;
    all.waited_s += stages.waited_s;
    return all;
}

static void apply(struct training *training, enum injection_time moment)
{
    if (training->injection)
        injection_apply(training->injection, moment, training);
}

int training_step(struct training *training, const volatile sig_atomic_t *signal, int32_t saved,
                  struct step_result *result, struct error *err)
{
    const struct train_options *options = training->options;
    struct rank_step own = {.saved = saved};
    double start_s = clock_s(), scale = 1;
    double waited_s = traffic_of(training).waited_s;

    if (training->verify && verify_before(training->verify, err) != 0)
        return error_prefix(err, "step %ld", training->step);
    apply(training, INJECT_BEFORE_STEP);
    walk(training, &own);
    own.seconds = clock_s() - start_s;
    own.waited_s = traffic_of(training).waited_s - waited_s;
    own.signal = (int32_t)*signal;
    comm_all_gather(training->comm, &own, sizeof own, training->rank_steps);
    sum_up(training, result);
    result->sent_bytes = traffic_of(training).sent_bytes - training->sent_bytes;
    training->sent_bytes += result->sent_bytes;
    if (training->alone && compare_replicas(training, err) != 0)
        return -1;
    if (!isfinite(result->loss) || !isfinite(result->gradient_norm))
        return not_finite(training, result, err);
    if (options->clip > 0 && result->gradient_norm > options->clip)
        scale = options->clip / result->gradient_norm;
    training->step++;
    training->steps_made++;
    options->strategy->update(training->shard, &options->adamw, training->step, result->rate,
                              scale);
    apply(training, INJECT_AFTER_UPDATE);
    if (training->verify && verify_after(training->verify, err) != 0)
        return error_prefix(err, "step %ld", training->step - 1);
    apply(training, INJECT_AFTER_STEP);
    result->seconds = clock_s() - start_s;
    result->waited_s = traffic_of(training).waited_s - waited_s;
    return 0;
}

void training_forecast(const struct training *training, struct forecast *forecasts)
{
    const struct pipeline_options options = {
        &training->options->shape, training->compute, &training->arrangement.placement,
        training->options->batch, training->arrangement.microbatches};

    forecast_make(&options, forecasts);
}

int training_usage(const struct training *training, struct stage_usage *usages,
                   struct forecast *forecasts)
{
    struct pipeline_traffic sent = pipeline_traffic(training->pipeline);
    double steps = (double)training->steps_made;
    struct stage_usage own = {(double)training->shard->bytes.state,
                              (double)training->shard->bytes.working,
                              (double)pipeline_activation_bytes(training->pipeline),
                              (double)sent.forward / steps,
                              (double)sent.backward / steps,
                              (double)sent.ends / steps,
                              (double)sent.inside / steps};
    int ranks = comm_rank_info(training->comm).ranks;
    struct stage_usage *all;

    if (training->steps_made == 0)
        return -1;
    memset(usages, 0, (size_t)training->arrangement.placement.stages * sizeof *usages);
    all = comm_gather_buffer(training->comm, sizeof *all);
    comm_all_gather(training->comm, &own, sizeof own, all);
    for (int rank = 0; rank < ranks; rank++) {
        struct stage_usage *usage;
        int stage, replica;

        placement_find(&training->arrangement.placement, rank, &stage, &replica);
        usage = &usages[stage];
        usage->state = fmax(usage->state, all[rank].state);
        usage->working = fmax(usage->working, all[rank].working);
        usage->activations = fmax(usage->activations, all[rank].activations);
        usage->forward += all[rank].forward;
        usage->backward += all[rank].backward;
        usage->ends += all[rank].ends;
        usage->inside += all[rank].inside;
    }
    free(all);
    training_forecast(training, forecasts);
    return 0;
}
