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
#include "trainer/comm/world.h"
#include "trainer/injection.h"
#include "trainer/report.h"
#include "trainer/tokenize.h"
#include "trainer/training.h"
#include "validate/harness/launcher.h"
#include "validate/harness/watch/watch.h"

static volatile sig_atomic_t stop_signal, saves;
static struct world world;

/* Ends the run after its step; if no checkpoints are written, within a second in any case. */
static void note_signal(int number)
{
    stop_signal = number;
    if (!saves)
        alarm(1);
}

static void end_at_once(int number)
{
    static const char text[] = "muster-train: ended by a signal during a step\n";

    (void)number;
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    _exit(128 + stop_signal);
}

/* Prints, on rank 0, an error that all ranks have. */
static void print_error(const struct error *err)
{
    if (world.rank == 0)
        fprintf(stderr, "muster-train: %s\n", err->text);
}

static void complain(const char *line)
{
    fprintf(stderr, "muster-train: %s; trying the previous checkpoint\n", line);
}

/* Resumes from the newest checkpoint, if there is one. Collective; returns 0, or -1 on all ranks
 * after printing the error. */
static int resume(struct training *training, struct saver **saver)
{
    const struct train_options *options = training->options;
    struct shard *shard = training->shard;
    struct checkpoint_problem problem = training_problem(training);
    struct error err = {""};
    int rv, found = 0;

    watch_phase("the checkpoints of %s", options->checkpoint);
    rv = saver_create(options->checkpoint, &problem, training->comm, shard->saves,
                      shard->piece_count, options->keep, saver, &err);
    rv = comm_agree(training->comm, rv, &err);
    if (rv == 0) {
        found = checkpoint_read(options->checkpoint, &problem, training->comm, shard->loads,
                                shard->piece_count, &training->step, complain, &err);
        rv = found < 0 ? -1 : 0;
    }
    if (rv != 0) {
        print_error(&err);
        return -1;
    }
    saver_resume_from(*saver, training->step);
    if (found == 0)
        shard->strategy->draw(shard); /* one that is not intact may have left numbers */
    else
        shard->strategy->restored(shard);
    if (found > 0 && world.rank == 0) {
        fprintf(stderr, "muster-train: resuming from step %ld of %s\n", training->step,
                options->checkpoint);
        checkpoint_prune(options->checkpoint, training->step, options->keep);
    }
    return 0;
}

/* Prints the error if rv is not 0. Returns 0, or 1 after an error. */
static int judge_saving(int rv, const struct error *err)
{
    if (rv != 0)
        print_error(err);
    return rv != 0;
}

/* Finishes the checkpoint that was begun, if all ranks have written it or the next is due. is_due:
 * begins one, and sets *lost to 0, or to 1 if that failed. A checkpoint that cannot be written does
 * not end the run. */
static void save(const struct training *training, struct saver *saver, bool is_due, int *lost)
{
    bool are_done = true;
    struct error err;

    if (!saver)
        return;
    for (int rank = 0; rank < world.ranks; rank++)
        are_done = are_done && training->rank_steps[rank].saved;
    if (is_due || are_done)
        judge_saving(saver_finish(saver, &err), &err);
    if (is_due)
        *lost = judge_saving(saver_begin(saver, training->step, &err), &err);
}

/* Finishes the last checkpoint. Returns 0, or 1 if it could not be written. */
static int finish_saving(struct saver *saver)
{
    struct error err;

    return saver ? judge_saving(saver_finish(saver, &err), &err) : 0;
}

/* Trains: the loop over steps. Returns the exit status. */
static int train(struct training *training, struct saver *saver)
{
    const struct train_options *options = training->options;
    struct step_result result = {.signal = 0};
    bool has_printed = false;
    int lost = 0;
    struct error err;

    if (world.rank == 0) {
        report_begin(training, &world);
        report_plan(training, &world);
    }
    if (options->is_dry) {
        if (world.rank == 0)
            report_forecast(training);
        return stdout_flush("muster-train") != 0;
    }
    saves = saver != NULL;
    while (training->step < options->steps && !result.signal) {
        watch_phase("step %ld", training->step);
        if (training_step(training, &stop_signal, !saver || !saver_is_writing(saver), &result,
                          &err) != 0) {
            print_error(&err);
            return 1;
        }
        if (world.rank == 0)
            report_step(training, &world, &result);
        if (world.rank == 0 && !has_printed)
            report_choices(training);
        has_printed = true;
        if (training->step == 1 && options->prints_norms)
            report_norms(training, &world);
        if (world.rank == 0)
            report_progress(training, result.seconds);
        save(training, saver,
             training->step % options->checkpoint_every == 0 || training->step == options->steps ||
                 result.signal,
             &lost);
    }
    if (result.signal) {
        finish_saving(saver);
        if (world.rank == 0)
            fprintf(stderr, "muster-train: ended by signal %d after step %ld of %ld\n",
                    result.signal, training->step, options->steps);
        return 128 + result.signal;
    }
    report_end(training, &world, &result);
    return finish_saving(saver) | lost | (stdout_flush("muster-train") != 0);
}

/* Reads the options; one rank prints help, version and errors. Returns the exit status, or -1 to
 * train. */
static int read_options(int argc, char **argv, struct train_options *options)
{
    bool is_reporter = launcher_rank() == 0;
    enum option_request request;
    struct error err;

    if (argc < 2) {
        if (is_reporter)
            option_set_print(&train_option_set, OPTION_HELP, stderr);
        else
            usleep(300000);
        return 2;
    }
    request = train_options_read(argc, argv, options, &err);
    if (request == OPTION_RUN || request == OPTION_MISUSE) {
        if (is_reporter && *err.text)
            fprintf(stderr, "muster-train: %s%s\n", err.text,
                    request == OPTION_RUN ? "" : "; see muster-train --help");
        if (!is_reporter && request == OPTION_MISUSE)
            usleep(300000); /* launchers end all ranks when one fails: let rank 0 print */
        return request == OPTION_RUN ? -1 : 2;
    }
    if (is_reporter)
        option_set_print(&train_option_set, request, stdout);
    return stdout_flush("muster-train") != 0;
}

static void print_measuring(const char *line)
{
    fprintf(stderr, "muster-train: %s\n", line);
}

static int run(const struct train_options *options, struct comm *comm)
{
    struct training training = {0};
    struct injection injection = {.kind = INJECT_NOTHING};
    struct saver *saver = NULL;
    struct error err = {""};
    const struct compute *compute = options->is_bf16 ? compute_bf16(&err) : &compute_cpu;
    int status = 1, rv;

    watch_phase("%s", "the beginning");
    world_set_threads(&world, options->threads);
    comm_set_algorithm(comm, options->algorithm);
    comm_set_wire(comm, options->wire);
    rv = compute ? 0 : -1;
    if (rv == 0 && options->inject)
        rv = injection_parse(options->inject, &injection, &err);
    rv = comm_agree(comm, rv, &err);
    if (rv == 0)
        rv = comm_measure(comm, print_measuring, &err);
    if (rv == 0)
        rv = training_start(options, compute, comm, &training, &err);
    training.injection = &injection;
    if (rv != 0)
        print_error(&err);
    else if (!options->checkpoint || options->is_dry || resume(&training, &saver) == 0)
        status = train(&training, saver);
    saver_destroy(saver);
    training_clear(&training);
    return status;
}

int main(int argc, char **argv)
{
    struct train_options options;
    struct comm *comm = NULL;
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
    signals_catch(note_signal, (int)SA_RESETHAND); /* a second signal ends it at once */
    if (world_init(options.is_json, HUGE_VAL, &world, &err) != 0 ||
        world_comm(&world, &comm, &err) != 0) {
        fprintf(stderr, "muster-train: %s\n", err.text);
        return 1;
    }
    if (training_fits(&options, world.ranks, &err) != 0) {
        status = 2;
        if (world.rank == 0)
            fprintf(stderr, "muster-train: %s; see muster-train --help\n", err.text);
    } else {
        status = run(&options, comm);
    }
    comm_destroy(comm);
    world_finalize(&world);
    return status;
}
