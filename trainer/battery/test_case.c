/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/battery/test_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/codec/crc32c.h"
#include "lib/base/clock.h"
#include "lib/constants/battery_constants.h"
#include "lib/constants/trainer_constants.h"
#include "trainer/checkpoint/saver.h"
#include "validate/harness/watch/cpu_time.h"

/* losses before each update, and after the last */
static const double reference[CASE_STEPS + 1] = {5.556740297, 5.221874668, 5.033396350, 4.899984272,
                                                 4.798376302, 4.707333925, 4.621736354, 4.543080947,
                                                 4.467205045, 4.392749320, 4.321273976};

static const volatile sig_atomic_t no_signal;

static struct train_options options_of(struct shape shape, int batch,
                                       const struct strategy *strategy)
{
    return (struct train_options){
        .shape = shape,
        .batch = batch,
        .steps = CASE_STEPS,
        .rate = {.peak = 1e-3, .steps = CASE_STEPS},
        .adamw = {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .decay = 0.01},
        .weights_seed = 1337,
        .data_seed = 42,
        .is_batch_fixed = true,
        .strategy = strategy,
        .bucket_mb = 1,
        .window = 2,
        .verifies = true,
    };
}

static void note_loss(struct case_outcome *outcome, int32_t step, double loss)
{
    double off = fabs(loss - reference[step]);

    if (off <= outcome->worst)
        return;
    outcome->worst = off;
    outcome->step = step;
    outcome->found = loss;
}

static uint32_t digest_of(const struct training *training)
{
    const struct shard *shard = training->shard;
    uint32_t crc = 0;

    for (size_t i = 0; i < shard->piece_count; i++)
        crc = crc32c(crc, shard->loads[i].parameters, shard->loads[i].count * sizeof(real));
    return crc;
}

static int run_steps(struct training *training, long until, struct case_outcome *outcome,
                     struct error *err)
{
    struct step_result result;

    while (training->step < until) {
        if (training_step(training, &no_signal, 1, &result, err) != 0)
            return -1;
        note_loss(outcome, (int32_t)training->step - 1, result.loss);
    }
    return 0;
}

static void ignore(const char *line)
{
    (void)line;
}

/* Saves a checkpoint, or if loads resumes from it. Collective. */
static int store(struct training *training, const char *directory, bool loads, struct error *err)
{
    struct checkpoint_problem problem = training_problem(training);
    const struct shard *shard = training->shard;
    struct saver *saver = NULL;
    long step = 0;
    int rv;

    if (loads) {
        rv = checkpoint_read(directory, &problem, training->comm, shard->loads, shard->piece_count,
                             &step, ignore, err);
        if (rv == 0)
            error_set(err, "%s: the written checkpoint is incomplete", directory);
        training->step = step;
        return rv == 1 ? 0 : -1;
    }
    rv = saver_create(directory, &problem, training->comm, shard->saves, shard->piece_count, 1,
                      &saver, err);
    rv = comm_agree(training->comm, rv, err);
    if (rv == 0) {
        rv = saver_begin(saver, training->step, err);
        rv |= saver_finish(saver, err);
    }
    saver_destroy(saver);
    return rv;
}

/* Runs the first half and saves it; then starts another training that resumes from it. */
static int run_in_halves(struct training *training, const struct test_case *test_case,
                         struct case_outcome *outcome, struct error *err)
{
    const struct train_options *options = training->options;
    struct comm *comm = training->comm;

    if (run_steps(training, CASE_STEPS / 2, outcome, err) != 0)
        return -1;
    outcome->is_unsaved = store(training, test_case->checkpoint, false, err) != 0;
    if (outcome->is_unsaved)
        return -1;
    training_clear(training);
    if (training_start(options, &compute_cpu, comm, training, err) != 0)
        return -1;
    return store(training, test_case->checkpoint, true, err);
}

void case_run(const struct test_case *test_case, struct comm *comm, struct case_outcome *outcome)
{
    struct train_options options =
        options_of((struct shape){4, 4, 64, 32, 256}, 4, test_case->strategy);
    struct training training;
    struct error err = {""};

    *outcome = (struct case_outcome){.worst = -1};
    outcome->rv = training_start(&options, &compute_cpu, comm, &training, &err);
    training.injection = test_case->injection;
    if (outcome->rv == 0 && test_case->checkpoint)
        outcome->rv = run_in_halves(&training, test_case, outcome, &err);
    if (outcome->rv == 0)
        outcome->rv = run_steps(&training, CASE_STEPS, outcome, &err);
    if (outcome->rv == 0) {
        note_loss(outcome, CASE_STEPS, training_evaluate(&training));
        outcome->digest = digest_of(&training);
    }
    if (outcome->worst < 0)
        outcome->worst = NAN;
    snprintf(outcome->text, sizeof outcome->text, "%s", err.text);
    training_clear(&training);
}

int case_speed(struct comm *comm, const struct injection *injection, double seconds,
               struct case_speed *speed, struct error *err)
{
    int ranks = comm_rank_info(comm).ranks;
    struct train_options options =
        options_of((struct shape){4, 4, 256, 128, 4096}, 2 * ranks, &strategy_ddp);
    double start_s = 0, waited_s = 0, queued_s;
    struct step_result result;
    struct training training;
    bool goes_on = true;
    long steps = 0;
    int rv;

    options.is_batch_fixed = options.verifies = false;
    rv = training_start(&options, &compute_cpu, comm, &training, err);
    training.injection = injection;
    if (rv == 0)
        rv = training_step(&training, &no_signal, 1, &result, err);
    start_s = clock_s(); /* the first step has taken its memory */
    queued_s = cpu_time_queued_s();
    while (goes_on && rv == 0) {
        rv = training_step(&training, &no_signal, 1, &result, err);
        waited_s += result.waited_s;
        steps++;
        goes_on = clock_s() - start_s < seconds; /* as rank 0 sees it */
        comm_broadcast(comm, &goes_on, sizeof goes_on);
    }
    seconds = clock_s() - start_s;
    speed->tokens_per_s = (double)steps * options.batch * options.shape.context / seconds;
    speed->waited_share = waited_s / seconds;
    speed->stalled_share = (cpu_time_queued_s() - queued_s) / seconds;
    training_clear(&training);
    return rv;
}

enum verdict case_speed_judge(const struct case_speed *speed, double median, int ranks)
{
    if (ranks <= 2 || !(speed->tokens_per_s < TRAIN_SPEED_LEAST_SHARE * median))
        return VERDICT_NONE;
    return speed->stalled_share > HOST_STALLED_MOST_SHARE ? VERDICT_SKIP : VERDICT_WARN;
}
