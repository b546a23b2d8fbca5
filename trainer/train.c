/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/record.h"
#include "trainer/checkpoint/saver.h"
#include "trainer/tokenize.h"
#include "trainer/training.h"

static volatile sig_atomic_t stop_signal;

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

static void tell_norms(const struct training *training)
{
    for (int tensor = 0; tensor < TENSOR_COUNT; tensor++) {
        const char *name = tensor_kinds[tensor].name;
        double norm = training_norm(training, tensor);

        if (training->options->is_json)
            tell("gradient_norm", name, norm, "1");
        else
            printf("  |d%s| %.7g\n", name, norm);
    }
}

static double tokens_per_s(const struct training *training, double seconds)
{
    return training->geometry.batch * training->geometry.time / seconds;
}

static void report_step(const struct training *training, long step,
                        const struct step_result *result)
{
    double speed = tokens_per_s(training, result->seconds);
    char part[32];

    snprintf(part, sizeof part, "step %ld", step);
    if (training->options->is_json) {
        tell("loss", part, result->loss, "nats");
        tell("gradient_norm", part, result->gradient_norm, "1");
        tell("throughput", part, speed, "tokens/s");
    } else {
        printf("%-8s loss %.9f  norm %-10.7g rate %-9.3g %8.1f ms %9.0f tokens/s\n", part,
               result->loss, result->gradient_norm, result->rate, result->seconds * 1e3, speed);
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

    if (!training->options->is_json)
        printf("%zu parameters: %d layers, %d heads, %d channels, %d tokens of context, %d of "
               "vocabulary; %d sequences a step, fp32\n",
               training->parameter_count, shape->layers, shape->heads, shape->channels,
               shape->context, shape->vocabulary, training->options->batch);
}

static void report_end(struct training *training)
{
    struct step_result result;

    training_evaluate(training, &result);
    if (training->options->is_json) {
        tell("loss", "final", result.loss, "nats");
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
    } else {
        printf("final    loss %.9f\n", result.loss);
    }
}

static void complain(void *context, const char *line)
{
    (void)context;
    fprintf(stderr, "muster-train: %s; the checkpoint before it is tried\n", line);
}

/* Goes on from the newest checkpoint, if there is one. */
static int resume(struct training *training, struct saver **saver, struct error *err)
{
    const struct train_options *options = training->options;
    struct checkpoint_problem problem = training_problem(training);
    struct checkpoint_state state = training_state(training);
    int found;

    if (saver_create(options->checkpoint, &problem, training->parameter_count, options->keep, saver,
                     err) != 0)
        return -1;
    found = checkpoint_read(options->checkpoint, &problem, &state, &training->step, complain, NULL,
                            err);
    if (found < 0)
        return -1;
    if (found > 0)
        fprintf(stderr, "muster-train: goes on from step %ld of %s\n", training->step,
                options->checkpoint);
    else
        training_draw(training); /* one that was not whole may have left its numbers */
    return 0;
}

/* A checkpoint that cannot be written costs the checkpoint, not the run. */
static void save(struct training *training, struct saver *saver)
{
    struct checkpoint_state state = training_state(training);
    struct error err;

    if (saver && saver_save(saver, training->step, &state, &err) != 0)
        fprintf(stderr, "muster-train: %s\n", err.text);
}

/* Returns 0, or 1 when the last one is not there. */
static int finish_saving(struct saver *saver)
{
    struct error err;

    if (!saver || saver_wait(saver, &err) == 0)
        return 0;
    fprintf(stderr, "muster-train: %s\n", err.text);
    return 1;
}

/* The loop. Returns the exit status. */
static int train(struct training *training, struct saver *saver)
{
    const struct train_options *options = training->options;
    struct step_result result;
    struct error err;

    report_begin(training);
    while (training->step < options->steps && !stop_signal) {
        if (training_step(training, &result, &err) != 0) {
            fprintf(stderr, "muster-train: %s\n", err.text);
            return 1;
        }
        report_step(training, training->step - 1, &result);
        if (training->step == 1 && options->prints_norms)
            tell_norms(training);
        report_progress(training, result.seconds);
        if (training->step % options->checkpoint_every == 0 || training->step == options->steps ||
            stop_signal)
            save(training, saver);
    }
    if (stop_signal) {
        finish_saving(saver);
        fprintf(stderr, "muster-train: ended by signal %d after step %ld of %ld\n",
                (int)stop_signal, training->step, options->steps);
        return 128 + (int)stop_signal;
    }
    report_end(training);
    return finish_saving(saver) | (ferror(stdout) || fflush(stdout) != 0);
}

int main(int argc, char **argv)
{
    struct train_options options;
    struct training training;
    struct saver *saver = NULL;
    struct error err;
    int status = 1;

    if (argc > 1 && strcmp(argv[1], "tokenize") == 0)
        return tokenize_main(argc - 1, argv + 1);
    switch (train_options_read(argc, argv, &options, &err)) {
    case TRAIN_HELP:
        train_options_help(stdout);
        return 0;
    case TRAIN_VERSION:
        puts("muster-train " PACKAGE_VERSION);
        return 0;
    case TRAIN_MISUSE:
        fprintf(stderr, "muster-train: %s; see muster-train --help\n", err.text);
        return 2;
    case TRAIN_RUN:
        break;
    }
    if (options.threads > 0)
        compute_threads(options.threads);
    catch_signals();
    if (training_start(&options, &compute_cpu, &training, &err) == 0 &&
        (!options.checkpoint || resume(&training, &saver, &err) == 0))
        status = train(&training, saver);
    else
        fprintf(stderr, "muster-train: %s\n", err.text);
    saver_destroy(saver);
    training_clear(&training);
    return status;
}
