/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/record.h"
#include "trainer/battery/battery.h"
#include "trainer/checkpoint/saver.h"
#include "trainer/plant.h"
#include "trainer/team/party.h"
#include "trainer/tokenize.h"
#include "trainer/training.h"
#include "validate/battery/launcher.h"
#include "validate/battery/watch/watch.h"

static volatile sig_atomic_t stop_signal;
static struct party party;

static void note_signal(int number)
{
    stop_signal = number;
}

/* The first signal ends the run after its step, the second one at once. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

static void tell(const char *metric, const char *part, double value, const char *unit)
{
    struct record record = RECORD_INIT;

    record.suite = "train";
    record.test = "train.one";
    record.metric = metric;
    record.part = part;
    record.value = value;
    record.unit = unit;
    record_write(stdout, &record);
}

/* Collective. */
static void tell_norms(const struct training *training)
{
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        const char *name = tensor_kinds[tensor].name;
        double norm = training_norm(training, tensor);

        if (party.rank != 0)
            continue;
        if (training->options->is_json)
            tell("gradient_norm", name, norm, "1");
        else
            printf("  |d%s| %.7g\n", name, norm);
    }
}

static double tokens_per_s(const struct training *training, double seconds)
{
    return training->options->batch * training->options->shape.context / seconds;
}

static void report_step(const struct training *training, long step,
                        const struct step_result *result)
{
    double speed = tokens_per_s(training, result->seconds);
    double exposed = result->waited_s / result->seconds;
    char part[32];

    snprintf(part, sizeof part, "step %ld", step);
    if (training->options->is_json) {
        tell("loss", part, result->loss, "nats");
        tell("gradient_norm", part, result->gradient_norm, "1");
        tell("throughput", part, speed, "tokens/s");
        if (party.ranks > 1) {
            tell("communication", part, exposed, "1");
            tell("sent", part, (double)result->sent_bytes / 1e6, "MB");
        }
    } else {
        printf("%-8s loss %.9f  norm %-10.7g rate %-9.3g %8.1f ms %9.0f tokens/s", part,
               result->loss, result->gradient_norm, result->rate, result->seconds * 1e3, speed);
        if (party.ranks > 1)
            printf("  %2.0f %% waiting", exposed * 100);
        putchar('\n');
    }
    fflush(stdout);
}

static void report_progress(const struct training *training, double seconds)
{
    if (training->options->is_json && isatty(STDERR_FILENO))
        fprintf(stderr, "\rstep %ld of %ld, about %.0f s left \033[K", training->step,
                training->options->steps,
                seconds * (double)(training->options->steps - training->step));
}

static void report_begin(const struct training *training)
{
    const struct shape *shape = &training->options->shape;

    if (training->options->is_json)
        return;
    printf("%zu parameters: %d layers, %d heads, %d channels, %d tokens of context, %d of "
           "vocabulary; %d sequences a step, %s\n",
           training->parameter_count, shape->layers, shape->heads, shape->channels, shape->context,
           shape->vocabulary, training->options->batch, training->compute->precision);
    if (party.ranks > 1)
        printf("%d ranks on %d nodes, %s: %s\n", party.ranks, party.nodes,
               training->options->scheme->name, training->options->scheme->summary);
}

/* The ranks of a stage: "0,1 on n1,n2". */
static void print_ranks(const struct placement *placement, int stage)
{
    for (int i = 0; i < placement->replicas; i++)
        printf("%s%d", i > 0 ? "," : "", placement_rank(placement, stage, i));
    printf(" on ");
    for (int i = 0; i < placement->replicas; i++)
        printf("%s%s", i > 0 ? "," : "", party.names[placement_rank(placement, stage, i)]);
}

static void print_plan(const struct arrangement *made)
{
    const struct placement *placement = &made->placement;

    if (placement->stages == 1)
        return;
    printf("a pipeline of %d stages, layers", placement->stages);
    for (int i = 0; i < placement->stages; i++)
        printf("%s%d", i > 0 ? "," : " ", placement->layers[i]);
    printf(", %d rank%s each, %d microbatches\n", placement->replicas,
           placement->replicas > 1 ? "s" : "", made->microbatches);
    for (int i = 0; i < placement->stages; i++) {
        printf("stage %d: %d layers on ", i, placement->layers[i]);
        printf(placement->replicas > 1 ? "ranks " : "rank ");
        print_ranks(placement, i);
        if (*made->names[i])
            printf(", island %s", made->names[i]);
        if (made->is_measured)
            printf(", %.3g ms a layer", made->layer_s[i] * 1e3);
        putchar('\n');
    }
}

/* Who computes what, and what was predicted of it. */
static void report_plan(const struct training *training)
{
    const struct arrangement *made = &training->arrangement;
    char part[32];

    if (!training->options->is_json) {
        print_plan(made);
        if (made->is_measured)
            printf(
                "predicted: %.4g ms a step; %.4g ms as data parallel over all ranks (slowest link "
                "within a stage %.4g MB/s, between stages %.4g MB/s)\n",
                made->step_s * 1e3, made->ddp_s * 1e3, made->inside_Bps / 1e6,
                made->across_Bps / 1e6);
        return;
    }
    for (int i = 0; i < made->placement.stages; i++) {
        snprintf(part, sizeof part, "stage %d", i);
        tell("layers", part, made->placement.layers[i], "1");
        if (made->is_measured)
            tell("layer_time", part, made->layer_s[i], "s");
    }
    if (!made->is_measured)
        return;
    tell("predicted_step", "plan", made->step_s, "s");
    tell("predicted_step", "data parallel", made->ddp_s, "s");
}

/* What was chosen by this machine's figures, once it is known what is sent. */
static void report_choices(const struct training *training)
{
    const struct team_choice *choices;
    size_t count = team_choices(training->team, &choices);

    for (size_t i = 0; i < count; i++) {
        const struct team_choice *choice = &choices[i];
        char part[96];

        snprintf(part, sizeof part, "%s of %.3f MB by %s, %s", choice->kind,
                 (double)choice->bytes / 1e6, choice->algorithm, choice->wire);
        if (training->options->is_json) {
            tell("predicted_as_is", part, choice->as_is_us / 1e6, "s");
            if (choice->lossless_us >= 0)
                tell("predicted_lossless", part, choice->lossless_us / 1e6, "s");
            continue;
        }
        printf("%s: predicted %.4g ms as it is", part, choice->as_is_us / 1e3);
        if (choice->lossless_us >= 0)
            printf(", %.4g ms coded without loss", choice->lossless_us / 1e3);
        putchar('\n');
    }
}

/* What this rank took and sent, beside what it should have been. */
static void report_traffic(const struct training *training, const struct step_result *last)
{
    const struct holding *holding = training->holding;
    const struct holding_bytes *bytes = &holding->bytes;
    double formula = holding->scheme->formula((double)training->parameter_count, party.ranks) / 1e6;

    if (training->options->is_json) {
        tell("state", "rank 0", (double)bytes->state / 1e6, "MB");
        tell("state", "formula", formula, "MB");
        tell("working", "rank 0", (double)bytes->working / 1e6, "MB");
        return;
    }
    printf("memory of a rank: %.3f MB of state (formula %.3f), %.3f MB of room for gathers and "
           "sums, %.3f MB of activations\n",
           (double)bytes->state / 1e6, formula, (double)bytes->working / 1e6,
           (double)pipeline_activation_bytes(training->pipeline) / 1e6);
    printf("sent by a rank in a step: %.3f MB (formula %.3f)\n", (double)last->sent_bytes / 1e6,
           holding->scheme->passes * (double)training->parameter_count * sizeof(real) / 1e6 *
               (party.ranks - 1) / party.ranks);
    if (bytes->gathered_peak > 0)
        printf("gathered at most %.3f MB at a time, the largest unit is %.3f MB\n",
               (double)bytes->gathered_peak / 1e6, (double)bytes->largest_unit / 1e6);
}

static void tell_formula(int stage, const char *metric, double bytes)
{
    char part[48];

    snprintf(part, sizeof part, "stage %d formula", stage);
    tell(metric, part, bytes / 1e6, "MB");
}

/* One number of a stage beside its formula; in JSON as two records. */
static void tell_stage(const struct training *training, int stage, const char *metric,
                       const char *text, double found, double formula)
{
    char part[48];

    if (!training->options->is_json) {
        printf("  %s %.6f MB (formula %.6f)", text, found / 1e6, formula / 1e6);
        return;
    }
    snprintf(part, sizeof part, "stage %d", stage);
    tell(metric, part, found / 1e6, "MB");
    tell_formula(stage, metric, formula);
}

/* What each stage of a pipeline will take and send in a step. */
static void report_forecast(const struct training *training)
{
    int stages = training->arrangement.placement.stages;
    struct forecast *forecasts = calloc((size_t)stages, sizeof *forecasts);

    if (!forecasts)
        return;
    training_forecast(training, forecasts);
    for (int i = 0; i < stages; i++) {
        const struct forecast *of = &forecasts[i];

        if (!training->options->is_json) {
            printf("stage %d, a rank: %.6f MB of state, %.6f MB of room, %.6f MB of activations\n"
                   "  all its ranks in a step: forward %.6f MB, backward %.6f MB, ends %.6f MB, "
                   "inside %.6f MB\n",
                   i, of->state_bytes / 1e6, of->room_bytes / 1e6, of->activation_bytes / 1e6,
                   of->forward / 1e6, of->backward / 1e6, of->ends / 1e6, of->inside / 1e6);
            continue;
        }
        tell_formula(i, "state", of->state_bytes);
        tell_formula(i, "working", of->room_bytes);
        tell_formula(i, "activations", of->activation_bytes);
        tell_formula(i, "sent_forward", of->forward);
        tell_formula(i, "sent_backward", of->backward);
        tell_formula(i, "sent_ends", of->ends);
        tell_formula(i, "sent_inside", of->inside);
    }
    free(forecasts);
}

/* Beside what they did take, and sent. */
static void report_stages(const struct training *training)
{
    int stages = training->arrangement.placement.stages;
    struct stage_bill *bills = calloc((size_t)stages, sizeof *bills);
    struct forecast *forecasts = calloc((size_t)stages, sizeof *forecasts);

    if (bills && forecasts && training_bill(training, bills, forecasts) == 0 && party.rank == 0) {
        for (int i = 0; i < stages; i++) {
            const struct forecast *of = &forecasts[i];
            const struct stage_bill *bill = &bills[i];

            if (!training->options->is_json)
                printf("stage %d, layers %d to %d, a rank:", i, of->stage.first,
                       of->stage.first + of->stage.layers - 1);
            tell_stage(training, i, "state", "state", bill->state, of->state_bytes);
            tell_stage(training, i, "working", "room", bill->working, of->room_bytes);
            tell_stage(training, i, "activations", "activations", bill->activations,
                       of->activation_bytes);
            if (!training->options->is_json)
                printf("\n  sent in a step:");
            tell_stage(training, i, "sent_forward", "forward", bill->forward, of->forward);
            tell_stage(training, i, "sent_backward", "backward", bill->backward, of->backward);
            tell_stage(training, i, "sent_ends", "ends", bill->ends, of->ends);
            tell_stage(training, i, "sent_inside", "inside", bill->inside, of->inside);
            if (!training->options->is_json)
                putchar('\n');
        }
    }
    free(bills);
    free(forecasts);
}

static void report_end(struct training *training, const struct step_result *last)
{
    double loss;

    if (training->arrangement.placement.stages > 1)
        report_stages(training);
    loss = training_evaluate(training);
    if (party.rank != 0)
        return;
    if (training->options->is_json) {
        tell("loss", "final", loss, "nats");
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
    } else {
        printf("final    loss %.9f\n", loss);
    }
    if (party.ranks > 1 && training->arrangement.placement.stages == 1)
        report_traffic(training, last);
}

/* What went wrong on one rank ends all of them. result: 0 or -1 with err, of this rank. Collective;
 * returns 0, or -1 on all. */
static int agree(struct team *team, int result, const struct error *err)
{
    struct word {
        int result;
        char text[sizeof err->text];
    } *words = calloc((size_t)party.ranks, sizeof *words), word = {.result = result};
    int failed = 0, first = -1;

    if (!words)
        return -1;
    snprintf(word.text, sizeof word.text, "%s", result ? err->text : "");
    team_tell(team, &word, sizeof word, words);
    for (int rank = 0; rank < party.ranks; rank++) {
        failed += words[rank].result != 0;
        if (first < 0 && words[rank].result)
            first = rank;
    }
    if (failed > 0 && party.rank == 0)
        fprintf(stderr, "muster-train: %s%s%s\n",
                failed < party.ranks ? party_name(&party, first) : "",
                failed < party.ranks ? ": " : "", words[first].text);
    free(words);
    return failed ? -1 : 0;
}

static void complain(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "muster-train: %s; the checkpoint before it is tried\n", line);
}

/* Goes on from the newest checkpoint, if there is one. Collective; returns 0, or -1 on all ranks,
 * which was said. */
static int resume(struct training *training, struct saver **saver)
{
    const struct train_options *options = training->options;
    const struct scheme *scheme = options->scheme;
    struct checkpoint_problem problem = training_problem(training);
    size_t count = scheme->pieces(training->holding, false, NULL);
    size_t wanted = scheme->pieces(training->holding, true, NULL);
    struct checkpoint_state *pieces = calloc(count > wanted ? count : wanted, sizeof *pieces);
    struct error err = {""};
    int rv, found = 0;

    if (pieces)
        scheme->pieces(training->holding, false, pieces);
    rv = pieces ? saver_create(options->checkpoint, &problem, training->team, pieces, count,
                               options->keep, saver, &err)
                : error_set(&err, "checkpoints: %m");
    rv = agree(training->team, rv, &err);
    if (rv == 0) {
        scheme->pieces(training->holding, true, pieces);
        found = checkpoint_read(options->checkpoint, &problem, training->team, pieces, wanted,
                                &training->step, complain, NULL, &err);
        rv = agree(training->team, found < 0 ? -1 : 0, &err);
    }
    free(pieces);
    if (rv != 0)
        return -1;
    if (found == 0)
        scheme->draw(training->holding); /* one that was not whole may have left numbers */
    else
        scheme->restored(training->holding);
    if (found > 0 && party.rank == 0)
        fprintf(stderr, "muster-train: goes on from step %ld of %s\n", training->step,
                options->checkpoint);
    return 0;
}

/* What could not be saved is said by one rank. Returns 0, or 1. */
static int judge_saving(int rv, const struct error *err)
{
    if (rv != 0 && party.rank == 0)
        fprintf(stderr, "muster-train: %s\n", err->text);
    return rv != 0;
}

/* A checkpoint that cannot be written costs the checkpoint, not the run. is_due: one more. */
static void save(const struct training *training, struct saver *saver, bool is_due)
{
    bool are_done = true;
    struct error err;

    if (!saver)
        return;
    for (int rank = 0; rank < party.ranks; rank++)
        are_done = are_done && training->words[rank].saved;
    if (is_due)
        judge_saving(saver_save(saver, training->step, &err), &err);
    else if (are_done)
        judge_saving(saver_finish(saver, &err), &err);
}

/* Returns 0, or 1 when the last one is not there. */
static int finish_saving(struct saver *saver)
{
    struct error err;

    return saver ? judge_saving(saver_finish(saver, &err), &err) : 0;
}

/* The loop. Returns the exit status. */
static int train(struct training *training, struct saver *saver)
{
    const struct train_options *options = training->options;
    struct step_result result = {.signal = 0};
    bool has_told = false;
    struct error err;

    if (party.rank == 0) {
        report_begin(training);
        report_plan(training);
    }
    if (options->is_dry) {
        if (party.rank == 0)
            report_forecast(training);
        return 0;
    }
    while (training->step < options->steps && !result.signal) {
        watch_phase("step %ld", training->step);
        if (training_step(training, &stop_signal, !saver || !saver_is_writing(saver), &result,
                          &err) != 0) {
            if (party.rank == 0)
                fprintf(stderr, "muster-train: %s\n", err.text);
            return 1;
        }
        if (party.rank == 0)
            report_step(training, training->step - 1, &result);
        if (party.rank == 0 && !has_told)
            report_choices(training);
        has_told = true;
        if (training->step == 1 && options->prints_norms)
            tell_norms(training);
        if (party.rank == 0)
            report_progress(training, result.seconds);
        save(training, saver,
             training->step % options->checkpoint_every == 0 || training->step == options->steps ||
                 result.signal);
    }
    if (result.signal) {
        finish_saving(saver);
        if (party.rank == 0)
            fprintf(stderr, "muster-train: ended by signal %d after step %ld of %ld\n",
                    result.signal, training->step, options->steps);
        return 128 + result.signal;
    }
    report_end(training, &result);
    return finish_saving(saver) | (ferror(stdout) || fflush(stdout) != 0);
}

/* Help, version and bad options: said by one rank. Returns the exit status, or -1: train. */
static int read_options(int argc, char **argv, struct train_options *options)
{
    bool speaks = launcher_rank() == 0;
    struct error err;

    switch (train_options_read(argc, argv, options, &err)) {
    case TRAIN_HELP:
        if (speaks)
            train_options_help(stdout);
        return 0;
    case TRAIN_VERSION:
        if (speaks)
            puts("muster-train " PACKAGE_VERSION);
        return 0;
    case TRAIN_MISUSE:
        if (speaks)
            fprintf(stderr, "muster-train: %s; see muster-train --help\n", err.text);
        else
            usleep(300000); /* launchers end all ranks when one fails: let rank 0 speak */
        return 2;
    case TRAIN_RUN:
        break;
    }
    return -1;
}

static void tell_measuring(const char *line)
{
    fprintf(stderr, "muster-train: %s\n", line);
}

static int run(const struct train_options *options, struct team *team)
{
    struct training training = {0};
    struct plant plant = {.kind = PLANT_NOTHING};
    struct saver *saver = NULL;
    struct error err = {""};
    const struct compute *compute = options->is_bf16 ? compute_bf16(&err) : &compute_cpu;
    int status = 1, rv;

    party_set_threads(&party, options->threads);
    team_use(team, options->algorithm);
    team_travel(team, options->wire);
    rv = team_measure(team, tell_measuring, &err);
    if (rv == 0)
        rv = compute ? training_start(options, compute, team, &training, &err) : -1;
    if (rv == 0 && options->inject)
        rv = plant_parse(options->inject, &plant, &err);
    training.plant = &plant;
    if (agree(team, rv, &err) == 0 && (!options->checkpoint || resume(&training, &saver) == 0))
        status = train(&training, saver);
    saver_destroy(saver);
    training_clear(&training);
    return status;
}

static const char *rank_name(int rank)
{
    return party_name(&party, rank);
}

int main(int argc, char **argv)
{
    struct train_options options;
    struct team *team = NULL;
    struct error err;
    int status;

    if (argc > 1 && strcmp(argv[1], "tokenize") == 0)
        return tokenize_main(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "battery") == 0)
        return battery_main(argc - 1, argv + 1);
    status = read_options(argc, argv, &options);
    if (status >= 0)
        return status;
    catch_signals();
    team_rank_name = rank_name;
    if (party_start(options.is_json, HUGE_VAL, &party, &err) != 0 ||
        party_team(&party, &team, &err) != 0) {
        fprintf(stderr, "muster-train: %s\n", err.text);
        return 1;
    }
    status = run(&options, team);
    team_destroy(team);
    party_finish(&party);
    return status;
}
