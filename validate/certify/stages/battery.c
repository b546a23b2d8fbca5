/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/battery.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/certificate/refused.h"
#include "validate/certify/choose/allocate.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/stages/retest.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/state/rails.h"
#include "validate/certify/step/certify_step.h"
#include "validate/certify/step/peers.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/slurm/step.h"

/* BLAMELESS_MOST: tries that end early with nobody at fault: that may be a moment's, but only once.
 */
enum { BLAMELESS_MOST = 1, MARGIN_S = 10 };

void certify_verdicts_take(struct certify *certify, enum stage stage, size_t first,
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
    certify_verdicts_take(certify, stage, first, VERDICT_FAIL);
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
        if (++tries->jobs == CERTIFY_TRIES)
            certify_all(certify, names, stage, VERDICT_UNKNOWN, "slurm.state",
                        "its job was ended again and again");
        hostlist_clear(names);
        if (certify_good(certify, names) > 0)
            progress_begin(&certify->progress, stage_name(stage));
        return true;
    }
    if (accused(certify, stage, names, first) == 0)
        tries->blameless++;
    if (tries->blameless > BLAMELESS_MOST || ++tries->made == CERTIFY_TRIES || certify_stop)
        return false;
    hostlist_clear(names);
    certify_good(certify, names);
    return true;
}

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
                                              .tasks_per_node = certify_ranks_per_node(certify),
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
        certify_verdicts_take(certify, ((const struct battery *)context)->stage, *first,
                              VERDICT_FAIL);
    return whole;
}

void certify_battery(struct certify *certify, const struct battery *battery)
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
            certify_verdicts_take(certify, stage, first, VERDICT_NONE);
            certify_all(certify, &names, stage, VERDICT_PASS, NULL, "");
            break;
        }
        if (!certify_once_more(certify, stage, &tries, &names, first, rv, &err)) {
            const struct record *fault = nobodys_fault(certify, first);
            char text[256];

            certify_verdicts_take(certify, stage, first, VERDICT_UNKNOWN);
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

int certify_ranks_per_node(const struct certify *certify)
{
    return certify->options.level == LEVEL_QUICK ? 1 : 2;
}

void certify_program(const struct certify *certify, const char *name, double limit_s,
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

void certify_coverage_note(struct certify *certify, enum stage stage, size_t first)
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
