/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/record.h"

static void print_record(const char *metric, const char *part, double value, const char *unit)
{
    struct record record = RECORD(.suite = "train", .test = "train.one", .metric = metric,
                                  .part = part, .value = value, .unit = unit);

    record_write(stdout, &record);
}

void report_norms(const struct training *training, const struct world *world)
{
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        const char *name = tensor_kinds[tensor].name;
        double norm = training_norm(training, tensor);

        if (world->rank != 0)
            continue;
        if (training->options->is_json)
            print_record("gradient_norm", name, norm, "1");
        else
            printf("  |d%s| %.7g\n", name, norm);
    }
}

static double tokens_per_s(const struct training *training, double seconds)
{
    return (double)training->options->batch * training->options->shape.context / seconds;
}

static void print_left(double seconds)
{
    if (seconds >= 7200)
        printf("  %.1f h left", seconds / 3600);
    else if (seconds >= 120)
        printf("  %.0f min left", seconds / 60);
    else if (seconds >= 2)
        printf("  %.0f s left", seconds);
}

void report_step(const struct training *training, const struct world *world,
                 const struct step_result *result)
{
    double speed = tokens_per_s(training, result->seconds);
    double exposed = result->waited_s / result->seconds;
    long step = training->step - 1;
    char part[32];

    snprintf(part, sizeof part, "step %ld", step);
    if (training->options->is_json) {
        print_record("loss", part, result->loss, "nats");
        print_record("gradient_norm", part, result->gradient_norm, "1");
        print_record("throughput", part, speed, "tokens/s");
        if (world->ranks > 1) {
            print_record("communication", part, exposed, "1");
            print_record("sent", part, (double)result->sent_bytes / 1e6, "MB");
        }
    } else {
        printf("%-8s loss %.9f  norm %-10.7g rate %-9.3g %8.1f ms %9.0f tokens/s", part,
               result->loss, result->gradient_norm, result->rate, result->seconds * 1e3, speed);
        if (world->ranks > 1)
            printf("  %2.0f %% waiting", exposed * 100);
        print_left(result->seconds * (double)(training->options->steps - training->step));
        putchar('\n');
    }
    fflush(stdout);
}

void report_progress(const struct training *training, double seconds)
{
    if (training->options->is_json && isatty(STDERR_FILENO))
        fprintf(stderr, "\rstep %ld of %ld, about %.0f s left \033[K", training->step,
                training->options->steps,
                seconds * (double)(training->options->steps - training->step));
}

void report_begin(const struct training *training, const struct world *world)
{
    const struct shape *shape = &training->options->shape;

    if (training->options->is_json)
        return;
    printf("%zu parameters: %d layers, %d heads, %d channels, context of %d tokens, vocabulary of "
           "%d; %d sequences per step, %s\n",
           training->parameter_count, shape->layers, shape->heads, shape->channels, shape->context,
           shape->vocabulary, training->options->batch, training->compute->precision);
    if (world->ranks > 1)
        printf("%d ranks on %d nodes, %s: %s\n", world->ranks, world->nodes,
               training->options->strategy->name, training->options->strategy->summary);
}

/* The ranks of a stage: "0,1 on n1,n2". */
static void print_ranks(const struct placement *placement, const struct world *world, int stage)
{
    for (int i = 0; i < placement->replicas; i++)
        printf("%s%d", i > 0 ? "," : "", placement_rank(placement, stage, i));
    printf(" on ");
    for (int i = 0; i < placement->replicas; i++)
        printf("%s%s", i > 0 ? "," : "", world->names[placement_rank(placement, stage, i)]);
}

/* Seconds of a step that a stage takes after its last microbatch. */
static double update_s(const struct training *training, int stage)
{
    const struct arrangement *made = &training->arrangement;
    struct stage of = placement_stage(&made->placement, &training->options->shape, stage);

    return (double)stage_parameters(&of) * made->parameter_s[stage];
}

static void print_plan(const struct training *training, const struct world *world)
{
    const struct arrangement *made = &training->arrangement;
    const struct placement *placement = &made->placement;

    if (placement->stages == 1)
        return;
    printf("pipeline of %d stages, layers", placement->stages);
    for (int i = 0; i < placement->stages; i++)
        printf("%s%d", i > 0 ? "," : " ", placement->layers[i]);
    printf(", %d rank%s per stage, %d microbatches\n", placement->replicas,
           placement->replicas > 1 ? "s" : "", made->microbatches);
    for (int i = 0; i < placement->stages; i++) {
        printf("stage %d: %d layer%s on rank%s ", i, placement->layers[i],
               placement->layers[i] > 1 ? "s" : "", placement->replicas > 1 ? "s" : "");
        print_ranks(placement, world, i);
        if (*made->names[i])
            printf(", island %s", made->names[i]);
        if (made->is_measured)
            printf(", %.3g ms per layer, %.3g ms per update", made->layer_s[i] * 1e3,
                   update_s(training, i) * 1e3);
        putchar('\n');
    }
}

static void print_link(const char *where, const struct link_speed *link)
{
    printf("%s %.4g us + %.4g MB/s", where, link->latency_s * 1e6, link->Bps / 1e6);
}

static void print_prediction(const struct arrangement *made)
{
    int stages = made->placement.stages, replicas = made->placement.replicas;

    printf("predicted: %.4g ms per step", made->step_s * 1e3);
    if (stages > 1)
        printf("; %.4g ms if data parallel over all ranks", made->ddp_s * 1e3);
    if (stages > 1 || replicas > 1)
        printf(" (slowest link");
    if (replicas > 1)
        print_link(" within a stage", &made->inside);
    if (stages > 1)
        print_link(replicas > 1 ? ", between stages" : " between stages", &made->across);
    if (stages > 1 || replicas > 1)
        putchar(')');
    putchar('\n');
}

void report_plan(const struct training *training, const struct world *world)
{
    const struct arrangement *made = &training->arrangement;
    const struct shape *shape = &training->options->shape;
    char part[32];

    if (!training->options->is_json) {
        print_plan(training, world);
        if (made->is_measured)
            print_prediction(made);
        return;
    }
    for (int i = 0; i < made->placement.stages; i++) {
        snprintf(part, sizeof part, "stage %d", i);
        print_record("layers", part, made->placement.layers[i], "1");
        if (!made->is_measured)
            continue;
        print_record("layer_time", part, made->layer_s[i], "s");
        print_record("update_time", part, update_s(training, i), "s");
        print_record("layer_rate", part,
                     speed_layer_work(shape) * shape->context * made->layer_rows /
                         made->layer_s[i] / 1e9,
                     "GFLOP/s");
        print_record("update_rate", part, 1 / made->parameter_s[i], "1/s");
    }
    if (!made->is_measured)
        return;
    print_record("predicted_step", "plan", made->step_s, "s");
    print_record("predicted_step", "data parallel", made->ddp_s, "s");
}

void report_choices(const struct training *training)
{
    const struct comm_choice *choices;
    size_t count = comm_choices(training->comm, &choices);

    for (size_t i = 0; i < count; i++) {
        const struct comm_choice *choice = &choices[i];
        char part[96];

        snprintf(part, sizeof part, "%s of %.3f MB by %s, %s", choice->kind,
                 (double)choice->bytes / 1e6, choice->algorithm, choice->wire);
        if (training->options->is_json) {
            print_record("predicted_as_is", part, choice->as_is_us / 1e6, "s");
            if (choice->lossless_us >= 0)
                print_record("predicted_lossless", part, choice->lossless_us / 1e6, "s");
            continue;
        }
        printf("%s: predicted %.4g ms uncompressed", part, choice->as_is_us / 1e3);
        if (choice->lossless_us >= 0)
            printf(", %.4g ms with lossless compression", choice->lossless_us / 1e3);
        putchar('\n');
    }
}

/* Prints this rank's memory and traffic beside their formulas. */
static void report_traffic(const struct training *training, const struct world *world,
                           const struct step_result *last)
{
    const struct shard *shard = training->shard;
    const struct shard_bytes *bytes = &shard->bytes;
    double each_bytes = (double)training->parameter_count * sizeof(real);
    double formula =
        each_bytes * (shard->strategy->whole + (double)shard->strategy->parts / world->ranks) / 1e6;

    if (training->options->is_json) {
        print_record("state", "rank 0", (double)bytes->state / 1e6, "MB");
        print_record("state", "formula", formula, "MB");
        print_record("working", "rank 0", (double)bytes->working / 1e6, "MB");
        return;
    }
    printf("memory per rank: %.3f MB of state (formula %.3f), %.3f MB of communication buffers, "
           "%.3f MB of activations\n",
           (double)bytes->state / 1e6, formula, (double)bytes->working / 1e6,
           (double)pipeline_activation_bytes(training->pipeline) / 1e6);
    printf("sent per rank and step: %.3f MB (formula %.3f)\n", (double)last->sent_bytes / 1e6,
           shard->strategy->passes * each_bytes / 1e6 * (world->ranks - 1) / world->ranks);
    if (bytes->gathered_peak > 0)
        printf("gathered: at most %.3f MB at a time; largest unit %.3f MB\n",
               (double)bytes->gathered_peak / 1e6, (double)bytes->largest_unit / 1e6);
}

static void print_formula(int stage, const char *metric, double bytes)
{
    char part[48];

    snprintf(part, sizeof part, "stage %d formula", stage);
    print_record(metric, part, bytes / 1e6, "MB");
}

/* Prints one number of a stage beside its formula; in JSON as two records. */
static void print_stage(const struct training *training, int stage, const char *metric,
                        const char *text, double found, double formula)
{
    char part[48];

    if (!training->options->is_json) {
        printf("  %s %.6f MB (formula %.6f)", text, found / 1e6, formula / 1e6);
        return;
    }
    snprintf(part, sizeof part, "stage %d", stage);
    print_record(metric, part, found / 1e6, "MB");
    print_formula(stage, metric, formula);
}

void report_forecast(const struct training *training)
{
    int stages = training->arrangement.placement.stages;
    struct forecast *forecasts = calloc((size_t)stages, sizeof *forecasts);

    if (!forecasts)
        return;
    training_forecast(training, forecasts);
    for (int i = 0; i < stages; i++) {
        const struct forecast *of = &forecasts[i];

        if (!training->options->is_json) {
            printf("stage %d, per rank: %.6f MB of state, %.6f MB of communication buffers, %.6f "
                   "MB of activations\n  sent by all its ranks per step: forward %.6f MB, backward "
                   "%.6f MB, ends %.6f MB, inside %.6f MB\n",
                   i, of->state_bytes / 1e6, of->buffer_bytes / 1e6, of->activation_bytes / 1e6,
                   of->forward / 1e6, of->backward / 1e6, of->ends / 1e6, of->inside / 1e6);
            continue;
        }
        print_formula(i, "state", of->state_bytes);
        print_formula(i, "working", of->buffer_bytes);
        print_formula(i, "activations", of->activation_bytes);
        print_formula(i, "sent_forward", of->forward);
        print_formula(i, "sent_backward", of->backward);
        print_formula(i, "sent_ends", of->ends);
        print_formula(i, "sent_inside", of->inside);
    }
    free(forecasts);
}

/* Prints memory and traffic of all stages beside their forecasts. */
static void report_stages(const struct training *training, const struct world *world)
{
    int stages = training->arrangement.placement.stages; /* no more than ranks */
    struct stage_usage *usages = comm_gather_buffer(training->comm, sizeof *usages);
    struct forecast *forecasts = comm_gather_buffer(training->comm, sizeof *forecasts);

    if (training_usage(training, usages, forecasts) == 0 && world->rank == 0) {
        for (int i = 0; i < stages; i++) {
            const struct forecast *of = &forecasts[i];
            const struct stage_usage *usage = &usages[i];

            if (!training->options->is_json)
                printf("stage %d, layers %d to %d, per rank:", i, of->stage.first,
                       of->stage.first + of->stage.layers - 1);
            print_stage(training, i, "state", "state", usage->state, of->state_bytes);
            print_stage(training, i, "working", "communication buffers", usage->working,
                        of->buffer_bytes);
            print_stage(training, i, "activations", "activations", usage->activations,
                        of->activation_bytes);
            if (!training->options->is_json)
                printf("\n  sent per step:");
            print_stage(training, i, "sent_forward", "forward", usage->forward, of->forward);
            print_stage(training, i, "sent_backward", "backward", usage->backward, of->backward);
            print_stage(training, i, "sent_ends", "ends", usage->ends, of->ends);
            print_stage(training, i, "sent_inside", "inside", usage->inside, of->inside);
            if (!training->options->is_json)
                putchar('\n');
        }
    }
    free(usages);
    free(forecasts);
}

void report_end(struct training *training, const struct world *world,
                const struct step_result *last)
{
    double loss;

    if (training->arrangement.placement.stages > 1)
        report_stages(training, world);
    loss = training_evaluate(training);
    if (world->rank != 0)
        return;
    if (training->options->is_json) {
        print_record("loss", "final", loss, "nats");
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
    } else {
        printf("final    loss %.9f\n", loss);
    }
    if (world->ranks > 1 && training->arrangement.placement.stages == 1)
        report_traffic(training, world, last);
}
