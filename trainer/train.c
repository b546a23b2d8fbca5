/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/signals.h"
#include "lib/base/stdout_flush.h"
#include "trainer/battery/battery.h"
#include "trainer/checkpoint/saver.h"
#include "trainer/plant.h"
#include "trainer/report.h"
#include "trainer/team/party.h"
#include "trainer/tokenize.h"
#include "trainer/training.h"
#include "validate/battery/launcher.h"
#include "validate/battery/watch/watch.h"

static volatile sig_atomic_t stop_signal, saves;
static struct party party;

/* Ends the run after its step; without a checkpoint to write then, within a second in any case. */
static void note_signal(int number)
{
    stop_signal = number;
    if (!saves)
        alarm(1);
}

static void end_at_once(int number)
{
    static const char text[] = "muster-train: ended by a signal before its step was\n";

    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(128 + stop_signal);
}

/* What all ranks know is said by one. */
static void say(const struct error *err)
{
    if (party.rank == 0)
        fprintf(stderr, "muster-train: %s\n", err->text);
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
    rv = team_agree(training->team, rv, &err);
    if (rv == 0) {
        scheme->pieces(training->holding, true, pieces);
        found = checkpoint_read(options->checkpoint, &problem, training->team, pieces, wanted,
                                &training->step, complain, NULL, &err);
        rv = found < 0 ? -1 : 0;
    }
    free(pieces);
    if (rv != 0) {
        say(&err);
        return -1;
    }
    if (found == 0)
        scheme->draw(training->holding); /* one that was not whole may have left numbers */
    else
        scheme->restored(training->holding);
    if (found > 0 && party.rank == 0) {
        fprintf(stderr, "muster-train: goes on from step %ld of %s\n", training->step,
                options->checkpoint);
        checkpoint_prune(options->checkpoint, training->step, options->keep);
    }
    return 0;
}

/* Returns 0, or 1. */
static int judge_saving(int rv, const struct error *err)
{
    if (rv != 0)
        say(err);
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
        report_begin(training, &party);
        report_plan(training, &party);
    }
    if (options->is_dry) {
        if (party.rank == 0)
            report_forecast(training);
        return 0;
    }
    saves = saver != NULL;
    while (training->step < options->steps && !result.signal) {
        watch_phase("step %ld", training->step);
        if (training_step(training, &stop_signal, !saver || !saver_is_writing(saver), &result,
                          &err) != 0) {
            say(&err);
            return 1;
        }
        if (party.rank == 0)
            report_step(training, &party, &result);
        if (party.rank == 0 && !has_told)
            report_choices(training);
        has_told = true;
        if (training->step == 1 && options->prints_norms)
            report_norms(training, &party);
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
    report_end(training, &party, &result);
    return finish_saving(saver) | (stdout_flush("muster-train") != 0);
}

/* Help, version and bad options: said by one rank. Returns the exit status, or -1: train. */
static int read_options(int argc, char **argv, struct train_options *options)
{
    bool speaks = launcher_rank() == 0;
    struct error err;

    if (argc < 2) {
        if (speaks)
            train_options_help(stderr);
        else
            usleep(300000);
        return 2;
    }
    switch (train_options_read(argc, argv, options, &err)) {
    case TRAIN_HELP:
        if (speaks)
            train_options_help(stdout);
        return stdout_flush("muster-train") != 0;
    case TRAIN_VERSION:
        if (speaks)
            puts("muster-train " PACKAGE_VERSION);
        return stdout_flush("muster-train") != 0;
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

    watch_phase("%s", "the beginning");
    party_set_threads(&party, options->threads);
    team_use(team, options->algorithm);
    team_travel(team, options->wire);
    rv = compute ? 0 : -1;
    if (rv == 0 && options->inject)
        rv = plant_parse(options->inject, &plant, &err);
    rv = team_agree(team, rv, &err);
    if (rv == 0)
        rv = team_measure(team, tell_measuring, &err);
    if (rv == 0)
        rv = training_start(options, compute, team, &training, &err);
    training.plant = &plant;
    if (rv != 0)
        say(&err);
    else if (!options->checkpoint || options->is_dry || resume(&training, &saver) == 0)
        status = train(&training, saver);
    saver_destroy(saver);
    training_clear(&training);
    return status;
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
    signal(SIGALRM, end_at_once);
    signals_catch(note_signal, (int)SA_RESETHAND); /* the second one ends it at once */
    if (party_start(options.is_json, HUGE_VAL, &party, &err) != 0 ||
        party_team(&party, &team, &err) != 0) {
        fprintf(stderr, "muster-train: %s\n", err.text);
        return 1;
    }
    if (training_fits(&options, party.ranks, &err) != 0) {
        status = 2;
        if (party.rank == 0)
            fprintf(stderr, "muster-train: %s; see muster-train --help\n", err.text);
    } else {
        status = run(&options, team);
    }
    team_destroy(team);
    party_finish(&party);
    return status;
}
