/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/clock.h"
#include "validate/certify/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "validate/slurm/step.h"

enum {
    CHECK_S = 20,
    GRACE_S = 3,
    TRIES = 3,
    MARGIN_S = 10,
    WATCH_AFTER_S = 5,
    WATCH_EACH_S = 10,
    SILENT_S = 12
};

/* What a step's lines are read into. */
struct hearing {
    struct certify *certify;
    const struct certify_step *step;
    double watch_at;            /* when the nodes are to be asked next */
    volatile sig_atomic_t stop; /* ends the step */
    double heard_at;            /* the last line */
    bool has_lost;              /* a node, and the step goes on without it */
    double until; /* clock_s(): what is said later, while we end it, accuses the wrong ones */
    bool has_memory;
};

static void hear(const char *line, bool is_error, void *context)
{
    struct hearing *hearing = context;
    struct certify *certify = hearing->certify;

    if (is_error) {
        if (strncmp(line, RECORD_PROGRESS, strlen(RECORD_PROGRESS)) == 0)
            progress_doing(&certify->progress, "%s", line + strlen(RECORD_PROGRESS));
        else if (*line)
            snprintf(certify->last_error, sizeof certify->last_error, "%s", line);
        return;
    }
    if (hearing->stop || clock_s() > hearing->until)
        return;
    hearing->heard_at = clock_s();
    switch (records_parse(&certify->records, line)) {
    case 0:
        if (certify->json)
            record_write(certify->json, &certify->records.items[certify->records.count - 1]);
        break;
    case 1:
        certify->stray_lines += *line != '\0';
        break;
    default:
        hearing->has_memory = false;
    }
}

static void tick(void *context)
{
    struct hearing *hearing = context;

    progress_tick(&hearing->certify->progress);
    if (certify_stop) {
        hearing->stop = certify_stop;
    } else if (!hearing->stop && clock_s() > hearing->watch_at) {
        if (certify_reach_again(hearing->certify, hearing->step->nodes, hearing->step->stage) > 0) {
            hearing->has_lost = hearing->step->survives_loss;
            hearing->stop = !hearing->has_lost;
        }
        hearing->watch_at = clock_s() + WATCH_EACH_S;
    } else if (!hearing->stop && hearing->has_lost && clock_s() - hearing->heard_at > SILENT_S) {
        hearing->stop = 1;
    }
}

int certify_step(struct certify *certify, const struct certify_step *step, size_t *first,
                 struct error *err)
{
    struct hearing hearing = {.certify = certify,
                              .step = step,
                              .watch_at = clock_s() + WATCH_AFTER_S,
                              .heard_at = clock_s(),
                              .until = clock_s() + step->deadline_s,
                              .has_memory = true};
    struct process_result result;

    *first = certify->records.count;
    certify->last_error[0] = '\0';
    if (step_run(&(struct step){.job_id = certify->job_id,
                                .nodes = step->nodes,
                                .tasks_per_node = step->tasks_per_node,
                                .mpi = step->is_mpi ? certify->options.mpi : "none",
                                .program = step->program},
                 &(struct process){.input = step->input,
                                   .environment = step->environment,
                                   .deadline_s = step->deadline_s,
                                   .grace_s = GRACE_S,
                                   .on_line = hear,
                                   .on_tick = tick,
                                   .context = &hearing,
                                   .stop = &hearing.stop},
                 &result, err) != 0)
        return -1;
    certify_drop_silent(certify);
    if (!hearing.has_memory)
        return error_set(err, "no memory for the records of %s", step->program[0]);
    if (result.end == PROCESS_TIMED_OUT) {
        error_set(err, "did not end within %.0f s", step->deadline_s);
        return 1;
    }
    if (result.end == PROCESS_STOPPED) {
        error_set(err, certify_stop ? "stopped by a signal" : "a node stopped answering");
        return 1;
    }
    if (result.end == PROCESS_SIGNALED ||
        (result.status != 0 && result.status != 1 && result.status != 3)) {
        error_set(err, "ended with status %d: %s", result.status,
                  *certify->last_error ? certify->last_error : "no word why");
        return 1;
    }
    if (step->is_mpi && !records_tell(&certify->records, *first, result.status)) {
        error_set(err, "rank 0, which tells for all, ended too early (status %d): %s",
                  result.status, *certify->last_error ? certify->last_error : "no word why");
        return 1;
    }
    return 0;
}

int certify_muster(struct certify *certify, const struct certify_step *step,
                   struct arguments *program, size_t *first, struct error *err)
{
    struct certify_environment environment;
    struct certify_step whole = *step;
    int rv;

    certify_environment(certify, false, &environment);
    whole.tasks_per_node = 1;
    whole.program = program->argv;
    whole.environment = environment.entries;
    rv = certify_step(certify, &whole, first, err);
    arguments_clear(program);
    return rv;
}

void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, const char *test, const char *message)
{
    for (size_t i = 0; i < names->count; i++) {
        struct subject *subject = certify_subject(certify, names->names[i]);

        if (subject && outcome_is_good(&subject->outcome))
            certify_verdict(certify, subject, stage, verdict, test, "", message);
    }
}

/* Takes the verdicts about the nodes that were asked among the records since first: those that are
 * at least as bad as `least`. */
static void verdicts_take(struct certify *certify, enum stage stage, size_t first,
                          enum verdict least)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];
        struct subject *subject = record->node ? certify_subject(certify, record->node) : NULL;

        if (subject && record->verdict >= least && subject->is_asked)
            outcome_note(&subject->outcome, stage,
                         certify_rails_verdict(certify, subject, record->part, record->verdict),
                         record->test, record->part, record->message);
    }
}

/* A verdict without a node, "MPI does not start", accuses nobody. */
static const struct record *nobodys_fault(const struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++)
        if (!certify->records.items[i].node && certify->records.items[i].verdict >= VERDICT_UNKNOWN)
            return &certify->records.items[i];
    return NULL;
}

bool certify_is_complete(const struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = &certify->records.items[i];

        if (record->verdict >= VERDICT_UNKNOWN &&
            (!record->node || strcmp(record->test, "workers.enumerate") == 0 ||
             strcmp(record->test, "mpi.launch") == 0))
            return false;
    }
    return certify->records.count > first;
}

static size_t bad_nodes(const struct certify *certify, const struct hostlist *names)
{
    size_t bad = 0;

    for (size_t i = 0; i < names->count; i++)
        bad += !outcome_is_good(&certify_subject(certify, names->names[i])->outcome);
    return bad;
}

size_t certify_accused(struct certify *certify, enum stage stage, const struct hostlist *names,
                       size_t first)
{
    size_t out;

    if (certify_stop)
        return 0;
    verdicts_take(certify, stage, first, VERDICT_FAIL);
    out = bad_nodes(certify, names);
    if (out == 0) {
        progress_doing(&certify->progress, "asking each node again");
        out = certify_reach_again(certify, names, stage);
        certify_drop_silent(certify);
    }
    return out;
}

void certify_environment(const struct certify *certify, bool is_fabric,
                         struct certify_environment *environment)
{
    const struct conf *conf = &certify->conf;
    size_t count = 0;

    *environment = (struct certify_environment){0};
    snprintf(environment->run, sizeof environment->run, "MUSTER_RUN=%s", certify->run);
    environment->entries[count++] = environment->run;
    /* Slurm 22.05 mixes two ways of fencing by default and then lets some ranks out of MPI_Init
     * while others are in its first fence still: with three nodes a launch in twenty died of a
     * message that came too early; none in 60 with either way alone. */
    environment->entries[count++] = "SLURM_PMIX_FENCE=ring";
    if (is_fabric) {
        char *text = environment->management;

        if (certify_rails_setting(certify, text, sizeof environment->management) == 0)
            environment->entries[count++] = text;
        return;
    }
    /* A bad rail must not stop the control traffic of the tests that look for it. */
    environment->entries[count++] = "MUSTER_MPI=control";
    environment->entries[count++] = "OMPI_MCA_pml=ob1";
    environment->entries[count++] = "OMPI_MCA_btl=^openib,uct,ofi,usnic";
    if (*conf->management_interface) {
        snprintf(environment->management, sizeof environment->management,
                 "OMPI_MCA_btl_tcp_if_include=%s", conf->management_interface);
        snprintf(environment->oob, sizeof environment->oob, "OMPI_MCA_oob_tcp_if_include=%s",
                 conf->management_interface);
        environment->entries[count++] = environment->management;
        environment->entries[count++] = environment->oob;
    }
}

/* Nodes of the list of which no record came. */
static size_t silent_nodes(const struct certify *certify, const struct hostlist *names,
                           size_t first, struct hostlist *silent)
{
    bool *is_heard = calloc(certify->count + 1, sizeof *is_heard);

    *silent = (struct hostlist){0};
    for (size_t i = first; is_heard && i < certify->records.count; i++) {
        const char *node = certify->records.items[i].node;
        const struct subject *subject = node ? certify_subject(certify, node) : NULL;

        if (subject)
            is_heard[subject - certify->subjects] = true;
    }
    for (size_t i = 0; is_heard && i < names->count; i++)
        if (!is_heard[certify_subject(certify, names->names[i]) - certify->subjects])
            hostlist_append(silent, names->names[i]);
    free(is_heard);
    return silent->count;
}

void certify_check(struct certify *certify)
{
    struct hostlist names, silent = {0};
    char text[256];
    size_t asked = certify_good(certify, &names), first;
    struct error err = {""};
    int rv;

    if (asked == 0)
        return;
    for (int i = 1;; i++) {
        struct arguments program = {0};

        progress_begin(&certify->progress, "check");
        progress_doing(&certify->progress, "muster check on %zu nodes", asked);
        step_muster(&program, "check", "--json", NULL);
        rv = certify_muster(
            certify,
            &(struct certify_step){.stage = STAGE_CHECK, .nodes = &names, .deadline_s = CHECK_S},
            &program, &first, &err);
        if (silent_nodes(certify, &names, first, &silent) < names.count || i == TRIES ||
            !certify_allocate_again(certify))
            break;
        hostlist_clear(&silent);
        hostlist_clear(&names);
        asked = certify_good(certify, &names);
        if (asked == 0)
            goto done;
    }
    certify_rails_note(certify, first);
    verdicts_take(certify, STAGE_CHECK, first, VERDICT_NONE);
    certify_compare(certify, first);
    if (silent.count > 0) {
        certify_reach_again(certify, &silent, STAGE_CHECK);
        snprintf(text, sizeof text, "muster check said nothing: %.200s",
                 rv != 0                ? err.text
                 : *certify->last_error ? certify->last_error
                                        : "no word why");
        certify_all(certify, &silent, STAGE_CHECK, VERDICT_UNKNOWN, "check", text);
    }
    certify_stage_end(certify, asked);
done:
    hostlist_clear(&silent);
    hostlist_clear(&names);
}

/* A stage whose program says who is at fault. When it was stopped by a node the rest is asked once
 * more without that node. build: fills in the arguments for those nodes. */
static void battery_run(struct certify *certify, enum stage stage, int tasks_per_node,
                        bool is_fabric, double limit_s,
                        void (*build)(const struct certify *certify, const struct hostlist *names,
                                      double limit_s, struct arguments *program))
{
    struct certify_environment environment;
    struct hostlist names;
    size_t asked = certify_good(certify, &names), first;
    struct error err = {""};
    int blameless = 0;

    if (asked > 0)
        progress_begin(&certify->progress, stage_name(stage));
    certify_environment(certify, is_fabric, &environment);
    for (int i = 0; i < TRIES && names.count > 0; i++) {
        struct arguments program = {0};
        int rv;

        build(certify, &names, limit_s, &program);
        progress_doing(&certify->progress, "%zu nodes%s", names.count, i > 0 ? ", once more" : "");
        rv = certify_step(certify,
                          &(struct certify_step){.stage = stage,
                                                 .nodes = &names,
                                                 .tasks_per_node = tasks_per_node,
                                                 .is_mpi = true,
                                                 .program = program.argv,
                                                 .environment = environment.entries,
                                                 .deadline_s = limit_s + MARGIN_S},
                          &first, &err);
        arguments_clear(&program);
        if (rv == 0 && certify_is_complete(certify, first)) {
            verdicts_take(certify, stage, first, VERDICT_NONE);
            certify_all(certify, &names, stage, VERDICT_PASS, NULL, "");
            break;
        }
        if (rv == 0)
            error_set(&err, "did not run to its end: %s", certify->last_error);
        /* Nobody's fault may be a moment's: one more try, and only one. */
        if (rv < 0 || (certify_accused(certify, stage, &names, first) == 0 && ++blameless > 1) ||
            certify_stop || i == TRIES - 1) {
            const struct record *fault = nobodys_fault(certify, first);
            char text[256];

            verdicts_take(certify, stage, first, VERDICT_UNKNOWN);
            snprintf(text, sizeof text, "%s: %.200s", stage_name(stage),
                     fault && fault->message ? fault->message : err.text);
            certify_all(certify, &names, stage, VERDICT_UNKNOWN, stage_name(stage), text);
            break;
        }
        hostlist_clear(&names);
        certify_good(certify, &names);
    }
    if (asked > 0)
        certify_stage_end(certify, asked);
    hostlist_clear(&names);
}

static int ranks_per_node(const struct certify *certify)
{
    return certify->options.level == LEVEL_QUICK ? 1 : 2;
}

static void common_arguments(const struct certify *certify, const char *name, double limit_s,
                             struct arguments *program)
{
    char path[4096];

    step_program_path(name, path, sizeof path);
    arguments_add(program, "%s", path);
    arguments_add(program, "--json");
    arguments_add(program, "--time-limit=%.0f", limit_s);
    if (certify->options.level == LEVEL_QUICK)
        arguments_add(program, "--quick");
}

static void launch_arguments(const struct certify *certify, const struct hostlist *names,
                             double limit_s, struct arguments *program)
{
    char *folded = hostlist_fold(names);

    common_arguments(certify, "muster-launch", limit_s, program);
    arguments_add(program, "--expect-nodes=%s", folded ? folded : "");
    arguments_add(program, "--expect-ranks-per-node=%d", ranks_per_node(certify));
    arguments_add(program, "--started=%.3f", clock_epoch_s());
    free(folded);
}

void certify_launch(struct certify *certify)
{
    battery_run(certify, STAGE_LAUNCH, ranks_per_node(certify), false, certify->budget_s / 2,
                launch_arguments);
}

static void collectives_arguments(const struct certify *certify, const struct hostlist *names,
                                  double limit_s, struct arguments *program)
{
    (void)names;
    common_arguments(certify, "muster-collectives", limit_s, program);
}

void certify_collectives(struct certify *certify)
{
    battery_run(certify, STAGE_COLLECTIVES, ranks_per_node(certify), true, certify->budget_s / 2,
                collectives_arguments);
}

static void train_arguments(const struct certify *certify, const struct hostlist *names,
                            double limit_s, struct arguments *program)
{
    char path[4096];

    (void)names;
    step_program_path("muster-train", path, sizeof path);
    arguments_add(program, "%s", path);
    arguments_add(program, "battery");
    arguments_add(program, "--json");
    arguments_add(program, "--time-limit=%.0f", limit_s);
    if (certify->options.level != LEVEL_FULL)
        arguments_add(program, "--quick");
}

/* Not at level quick, nor where the trainer was not built. */
void certify_train(struct certify *certify)
{
    char path[4096];

    step_program_path("muster-train", path, sizeof path);
    if (certify->options.level != LEVEL_QUICK && access(path, X_OK) == 0) {
        battery_run(certify, STAGE_TRAIN, ranks_per_node(certify), true, certify->budget_s / 2,
                    train_arguments);
        return;
    }
    for (size_t i = 0; i < certify->count; i++)
        if (outcome_is_good(&certify->subjects[i].outcome))
            outcome_note(&certify->subjects[i].outcome, STAGE_TRAIN, VERDICT_SKIP, NULL, "", "");
}
