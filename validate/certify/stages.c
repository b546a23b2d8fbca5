/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "lib/base/clock.h"
#include "validate/certify/certify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/certificate/refused.h"
#include "validate/slurm/step.h"

/* BLAMELESS_MOST: tries that end early with nobody at fault: that may be a moment's, but only once.
 */
enum { CHECK_S = 20, TRIES = 3, BLAMELESS_MOST = 1, MARGIN_S = 10 };

void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, const char *test, const char *message)
{
    for (size_t i = 0; i < names->count; i++) {
        struct subject *subject = certify_subject(certify, names->names[i]);

        if (subject && !subject->is_suspect && outcome_is_good(&subject->outcome))
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

        if (subject && record->verdict >= least && subject->is_asked && !certify_is_death(record))
            outcome_note(&subject->outcome, stage,
                         certify_rails_verdict(certify, subject, record->part, record->verdict),
                         record_code(record), record->test, record->part, record->message);
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

        if ((record->verdict >= VERDICT_UNKNOWN && !record->node) || record_lacks_rank(record))
            return false;
    }
    return certify->records.count > first;
}

static size_t bad_nodes(const struct certify *certify, const struct hostlist *names)
{
    size_t bad = 0;

    for (size_t i = 0; i < names->count; i++) {
        const struct subject *subject = certify_subject(certify, names->names[i]);

        bad += subject->is_suspect || !outcome_is_good(&subject->outcome);
    }
    return bad;
}

/* Whoever a step that did not end accuses or makes a suspect: by its records, else by asking the
 * nodes. Returns how many nodes that are. */
static size_t accused(struct certify *certify, enum stage stage, const struct hostlist *names,
                      size_t first)
{
    size_t out;

    if (certify_stop)
        return 0;
    verdicts_take(certify, stage, first, VERDICT_FAIL);
    certify_suspect(certify, first);
    out = bad_nodes(certify, names);
    if (out == 0) {
        progress_doing(&certify->progress, "asking each node again");
        out = certify_reach_again(certify, names, stage);
        certify_drop_silent(certify);
    }
    return out;
}

bool certify_once_more(struct certify *certify, enum stage stage, struct certify_tries *tries,
                       struct hostlist *names, size_t first, int rv, struct error *err)
{
    if (rv < 0)
        return false;
    if (rv == 0)
        error_set(err, "did not run to its end: %s", certify->complaint.text);
    if (certify_allocate_again(certify)) { /* its end killed what ran: nobody is at fault */
        if (++tries->jobs == TRIES)
            certify_all(certify, names, stage, VERDICT_UNKNOWN, "slurm.state",
                        "its job was ended again and again");
        hostlist_clear(names);
        if (certify_good(certify, names) > 0)
            progress_begin(&certify->progress, stage_name(stage));
        return true;
    }
    if (accused(certify, stage, names, first) == 0)
        tries->blameless++;
    if (tries->blameless > BLAMELESS_MOST || ++tries->made == TRIES || certify_stop)
        return false;
    hostlist_clear(names);
    certify_good(certify, names);
    return true;
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

/* Whose the drain of a node is that Slurm drained for a failed prolog: its own note says that its
 * gate refused a job then, or the drain is somebody else's and stands again at the end. */
static void refusals_take(struct certify *certify, size_t first)
{
    for (size_t i = 0; i < certify->count; i++) {
        struct subject *subject = &certify->subjects[i];
        const struct record *note = NULL;
        char text[256];

        if (!subject->plan.wants_refusal || !subject->is_asked)
            continue;
        for (size_t k = first; k < certify->records.count; k++) {
            const struct record *record = &certify->records.items[k];

            if (record->node && strcmp(record->node, subject->name) == 0 &&
                record_code(record) == FAULT_GATE_REFUSED && record->value > 0 &&
                record->value < 1e11 &&
                refused_explains((time_t)record->value, subject->slurm->reason_time))
                note = record;
        }
        if (note) {
            subject->plan.wants_refusal = false;
            certify_note(certify, "%s was drained by muster's gate: %s", subject->name,
                         note->message ? note->message : "");
            continue;
        }
        snprintf(text, sizeof text,
                 "%.100s, and not by muster's gate: slurmd's log on %.60s has why; then scontrol "
                 "update nodename=%.60s state=resume",
                 subject->slurm->reason, subject->name, subject->name);
        certify_verdict(certify, subject, STAGE_CHECK, VERDICT_FAIL, "slurm.state", "prolog", text);
    }
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
            &(struct certify_step){.stage = STAGE_CHECK,
                                   .nodes = &names,
                                   .deadline_s = certify_deadline_s(CHECK_S, names.count)},
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
    certify_duplicates(certify, first);
    verdicts_take(certify, STAGE_CHECK, first, VERDICT_NONE);
    refusals_take(certify, first);
    certify_compare(certify, first);
    certify_peers(certify, first);
    if (silent.count > 0) {
        certify_reach_again(certify, &silent, STAGE_CHECK);
        text_put(text, sizeof text, "muster check said nothing: %s",
                 rv != 0                    ? err.text
                 : *certify->complaint.text ? certify->complaint.text
                                            : "no word why");
        certify_all(certify, &silent, STAGE_CHECK, VERDICT_UNKNOWN, "check", text);
    }
    certify_stage_end(certify, asked);
done:
    hostlist_clear(&silent);
    hostlist_clear(&names);
}

/* A stage whose program says who is at fault. */
struct battery {
    enum stage stage;
    int tasks_per_node;
    bool is_fabric;
    /* fills in the arguments for those nodes */
    void (*build)(const struct certify *certify, const struct hostlist *names, double limit_s,
                  struct arguments *program);
};

/* Returns 0 when it ran to its end with all of the nodes, 1 when it did not, -1 when it could not
 * be started; rv: what certify_step() gave. is_first: it is the stage's first try. */
static int battery_step(struct certify *certify, const struct battery *battery, bool is_first,
                        const struct hostlist *names, size_t *first, int *rv, struct error *err)
{
    struct certify_environment environment;
    struct arguments program = {0};
    double limit_s = certify_limit_s(certify, battery->stage, names->count);

    certify_environment(certify, battery->is_fabric, &environment);
    if (is_first)
        certify_environment_peers(certify, &environment);
    battery->build(certify, names, limit_s, &program);
    *rv = certify_step(certify,
                       &(struct certify_step){.stage = battery->stage,
                                              .nodes = names,
                                              .tasks_per_node = battery->tasks_per_node,
                                              .is_mpi = true,
                                              .program = program.argv,
                                              .environment = environment.entries,
                                              .deadline_s = limit_s + MARGIN_S},
                       first, err);
    arguments_clear(&program);
    return *rv == 0 && !certify_is_complete(certify, *first) ? 1 : *rv;
}

static int battery_pair(struct certify *certify, const struct hostlist *names, size_t *first,
                        const void *context)
{
    struct error err;
    int rv, whole = battery_step(certify, context, false, names, first, &rv, &err);

    if (whole == 0 || !certify_job_is_over(certify))
        verdicts_take(certify, ((const struct battery *)context)->stage, *first, VERDICT_FAIL);
    return whole;
}

static void battery_run(struct certify *certify, const struct battery *battery)
{
    enum stage stage = battery->stage;
    struct hostlist names;
    size_t asked = certify_good(certify, &names), first;
    struct certify_tries tries = {0};
    struct error err = {""};

    if (asked > 0)
        progress_begin(&certify->progress, stage_name(stage));
    while (names.count > 0) {
        int rv;

        progress_doing(&certify->progress, "%zu nodes%s", names.count,
                       tries.made > 0 ? ", once more" : "");
        if (battery_step(certify, battery, tries.made == 0, &names, &first, &rv, &err) == 0) {
            verdicts_take(certify, stage, first, VERDICT_NONE);
            certify_all(certify, &names, stage, VERDICT_PASS, NULL, "");
            break;
        }
        if (!certify_once_more(certify, stage, &tries, &names, first, rv, &err)) {
            const struct record *fault = nobodys_fault(certify, first);
            char text[256];

            verdicts_take(certify, stage, first, VERDICT_UNKNOWN);
            text_put(text, sizeof text, "%s: %s", stage_name(stage),
                     fault && fault->message ? fault->message : err.text);
            certify_all(certify, &names, stage, VERDICT_UNKNOWN, stage_name(stage), text);
            break;
        }
    }
    certify_retest(certify, stage, asked, battery_pair, battery);
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

/* What a stage left out of what it could have tested, by its newest record of metric coverage. */
static void coverage_note(struct certify *certify, enum stage stage, size_t first)
{
    for (size_t i = certify->records.count; i-- > first;) {
        const struct record *record = &certify->records.items[i];

        if (!record->metric || !catalog_is_metric(record->metric, METRIC_COVERAGE))
            continue;
        if (record->value < 1 && record->message)
            certify_note(certify, "%s: %s", stage_name(stage), record->message);
        return;
    }
}

void certify_launch(struct certify *certify)
{
    size_t first = certify->records.count;

    battery_run(certify,
                &(struct battery){STAGE_LAUNCH, ranks_per_node(certify), false, launch_arguments});
    coverage_note(certify, STAGE_LAUNCH, first);
}

static void collectives_arguments(const struct certify *certify, const struct hostlist *names,
                                  double limit_s, struct arguments *program)
{
    (void)names;
    common_arguments(certify, "muster-collectives", limit_s, program);
}

void certify_collectives(struct certify *certify)
{
    size_t first = certify->records.count;

    battery_run(certify, &(struct battery){STAGE_COLLECTIVES, ranks_per_node(certify), true,
                                           collectives_arguments});
    coverage_note(certify, STAGE_COLLECTIVES, first);
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
        battery_run(certify,
                    &(struct battery){STAGE_TRAIN, ranks_per_node(certify), true, train_arguments});
        return;
    }
    for (size_t i = 0; i < certify->count; i++)
        if (outcome_is_good(&certify->subjects[i].outcome))
            outcome_note(&certify->subjects[i].outcome, STAGE_TRAIN, VERDICT_SKIP, FAULT_NONE, NULL,
                         "", "");
}
