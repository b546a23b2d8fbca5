/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/battery.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/choose/allocate.h"
#include "validate/certify/choose/changes.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/settle/actions.h"
#include "validate/certify/stages/retest.h"
#include "validate/certify/state/estimate.h"
#include "validate/certify/state/rails.h"
#include "validate/certify/step/certify_step.h"
#include "validate/certify/step/peers.h"
#include "validate/certify/step/program_probe.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/slurm/step/step.h"

void certify_apply_verdicts(struct certify *certify, enum stage stage, size_t first,
                            enum verdict least)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run = certify_node_run(certify, record->node);

        if (!node_run || record->verdict < least || !node_run->is_selected ||
            certify_is_death(record))
            continue;
        if ((stage == STAGE_GPU || stage == STAGE_HOST) && record->verdict == VERDICT_FAIL &&
            strikes_is_near(record->limit_source, record->value, record->limit))
            outcome_note_near(&node_run->outcome, stage, record_code(record), record->test,
                              record->part, record->message);
        else
            outcome_note(&node_run->outcome, stage,
                         certify_rails_verdict(certify, node_run, record->part, record->verdict),
                         record_code(record), record->test, record->part, record->message);
    }
}

/* Returns the message of the first bad verdict without a node, such as "MPI does not start", which
 * concerns no node; NULL if there is none. */
static const char *nobodys_fault(const struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (!record->node && record->verdict >= VERDICT_UNKNOWN)
            return record->message;
    }
    return NULL;
}

static size_t bad_nodes(const struct certify *certify, const struct hostlist *names)
{
    size_t bad = 0;

    for (size_t i = 0; i < names->count; i++) {
        const struct node_run *node_run = certify_node_run(certify, names->names[i]);

        bad += node_run->is_suspect || !outcome_is_good(&node_run->outcome);
    }
    return bad;
}

/* Finds the nodes that failed or became suspects in a step that did not complete: by its records,
 * else by querying the nodes and the controller. Returns how many there are. */
static size_t bad_nodes_find(struct certify *certify, enum stage stage,
                             const struct hostlist *names, size_t first)
{
    size_t out;

    if (certify_stop)
        return 0;
    certify_apply_verdicts(certify, stage, first, VERDICT_FAIL);
    certify_suspect(certify, first);
    out = bad_nodes(certify, names);
    if (out == 0) {
        progress_doing(&certify->progress, "querying each node again");
        out = certify_reach_again(certify, names, stage);
        certify_drain_silent(certify);
    }
    if (out == 0) /* slurmd drains its node where it cannot write what a step needs */
        out = certify_changes_note(certify, names, true, NULL);
    if (out == 0)
        out = certify_program_probe(certify, stage, names, false);
    return out;
}

bool certify_once_more(struct certify *certify, enum stage stage, struct certify_tries *tries,
                       struct hostlist *names, size_t first, int rv, struct error *err)
{
    if (rv < 0)
        return false;
    if (rv == 0)
        error_set(err, "ended early%s%s", *certify->error_line.text ? ": " : "",
                  certify->error_line.text);
    if (certify_allocate_again(certify)) { /* the job's end killed what ran: nobody is at fault */
        if (++tries->jobs == CERTIFY_TRIES)
            certify_all(certify, names, stage, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, "slurm.state",
                        "its job was ended early in every attempt");
        if (certify_list_good(certify, names) > 0)
            progress_begin(&certify->progress, stage_name(stage));
        return true;
    }
    if (bad_nodes_find(certify, stage, names, first) == 0)
        tries->blameless++;
    if (tries->blameless > CERTIFY_BLAMELESS_MOST || certify_stop ||
        (++tries->made >= CERTIFY_TRIES &&
         clock_s() - tries->begin >= certify_limit_s(certify, stage, names->count)))
        return false;
    certify_list_good(certify, names);
    return true;
}

/* Runs the battery's program. Returns 0 if it completed on all of the nodes, 1 if it did not, -1 if
 * it could not be started. *rv: the result of certify_step(). is_first: this is the stage's first
 * try. is_pair: the first of the names reports for both. */
static int battery_step(struct certify *certify, const struct battery *battery, bool is_first,
                        bool is_pair, const struct hostlist *names, size_t *first, int *rv,
                        struct error *err)
{
    struct certify_environment environment;
    struct arguments program = {0};
    double limit_s = certify_limit_s(certify, battery->stage, names->count);

    certify_environment(certify, battery->is_fabric, &environment);
    if (is_first)
        certify_environment_peers(certify, &environment);
    battery->build(certify, names, limit_s, &program);
    *rv =
        certify_step(certify,
                     &(struct certify_step){.stage = battery->stage,
                                            .nodes = names,
                                            .tasks_per_node = battery->tasks_per_node > 0
                                                                  ? battery->tasks_per_node
                                                                  : certify_ranks_per_node(certify),
                                            .gpus = battery->gpus,
                                            .container = battery->container,
                                            .is_mpi = true,
                                            .keeps_order = is_pair,
                                            .program = program.argv,
                                            .environment = environment.entries,
                                            .deadline_s = limit_s + CERTIFY_MARGIN_S},
                     first, err);
    arguments_clear(&program);
    return *rv == 0 && !certify_is_complete(certify, *first) ? 1 : *rv;
}

static int battery_pair(struct certify *certify, const struct hostlist *names, size_t *first,
                        const void *context)
{
    struct error err;
    int rv, whole = battery_step(certify, context, false, true, names, first, &rv, &err);

    if (whole == 0 || !certify_job_is_over(certify))
        certify_apply_verdicts(certify, ((const struct battery *)context)->stage, *first,
                               VERDICT_FAIL);
    return whole;
}

static bool battery_takes(const void *context, const struct node_run *node_run)
{
    const struct battery *battery = context;

    return !battery->takes || battery->takes(battery, node_run);
}

/* As certify_list_good(), but only the nodes that the battery tests. */
static size_t battery_nodes(struct certify *certify, const struct battery *battery,
                            struct hostlist *names)
{
    certify_list_good(certify, names);
    hostlist_clear(names);
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];

        node_run->is_selected &= battery_takes(battery, node_run);
        if (node_run->is_selected)
            hostlist_append(names, node_run->name);
    }
    return names->count;
}

void certify_battery(struct certify *certify, const struct battery *battery)
{
    enum stage stage = battery->stage;
    struct hostlist names = {0};
    size_t asked = battery_nodes(certify, battery, &names), first;
    struct certify_tries tries = {.begin = clock_s()};
    struct error err = {""};

    if (asked > 0)
        progress_begin(&certify->progress, stage_name(stage));
    while (names.count > 0) {
        int rv;

        progress_doing(&certify->progress, "%zu node%s%s", names.count, text_plural(names.count),
                       tries.made > 0 ? ", once more" : "");
        if (battery_step(certify, battery, tries.made == 0, false, &names, &first, &rv, &err) ==
            0) {
            certify_apply_verdicts(certify, stage, first, VERDICT_NONE);
            certify_all(certify, &names, stage, VERDICT_PASS, FAULT_NONE, NULL, "");
            break;
        }
        if (!certify_once_more(certify, stage, &tries, &names, first, rv, &err)) {
            const char *fault = nobodys_fault(certify, first);
            char text[256];

            certify_apply_verdicts(certify, stage, first, VERDICT_UNKNOWN);
            text_put(text, sizeof text, "%s: %s", stage_name(stage), fault ? fault : err.text);
            certify_all(certify, &names, stage, VERDICT_UNKNOWN, FAULT_NONE, stage_name(stage),
                        text);
            break;
        }
        battery_nodes(certify, battery, &names);
    }
    certify_retest(certify, stage, asked, battery_pair, battery_takes, battery);
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

/* Finds why nothing was measured, for each node that passed; NULL: something was, or no reason is
 * given. */
static void reasons_find(const struct certify *certify, enum stage stage, enum suite_id suite,
                         size_t first, const char **reasons, bool *is_measured)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        const struct node_run *node_run =
            catalog_is_suite(record->suite, suite) ? certify_node_run(certify, record->node) : NULL;

        if (!node_run || node_run->outcome.stages[stage] != VERDICT_PASS)
            continue;
        if (record->verdict == VERDICT_SKIP)
            reasons[node_run - certify->node_runs] = record->message;
        else
            is_measured[node_run - certify->node_runs] = true;
    }
    for (size_t i = 0; i < certify->count; i++)
        if (is_measured[i])
            reasons[i] = NULL;
}

/* Notes the reason of node `first` for all nodes that have it, marks the stage as skipped there,
 * and removes the reason. */
static void reason_note(struct certify *certify, enum stage stage, const char **reasons,
                        size_t first)
{
    const char *reason = reasons[first];
    struct hostlist names = {0};

    for (size_t i = first; i < certify->count; i++)
        if (reasons[i] && strcmp(reasons[i], reason) == 0) {
            certify->node_runs[i].outcome.stages[stage] = VERDICT_SKIP;
            hostlist_append(&names, certify->node_runs[i].name);
            reasons[i] = NULL;
        }
    certify_note(certify, "%s: %s: %s", stage_name(stage), hostlist_text(&names).text, reason);
    hostlist_clear(&names);
}

void certify_skip_unmeasured(struct certify *certify, enum stage stage, enum suite_id suite,
                             size_t first)
{
    const char **reasons = calloc(certify->count + 1, sizeof *reasons);
    bool *is_measured = calloc(certify->count + 1, sizeof *is_measured);

    if (reasons && is_measured)
        reasons_find(certify, stage, suite, first, reasons, is_measured);
    for (size_t i = 0; reasons && i < certify->count; i++)
        if (reasons[i])
            reason_note(certify, stage, reasons, i);
    free(reasons);
    free(is_measured);
}

void certify_coverage_note(struct certify *certify, enum stage stage, size_t first)
{
    for (size_t i = certify->records.count; i-- > first;) {
        const struct record *record = RECORD_AT(&certify->records, i);

        if (!record->metric || !catalog_is_metric(record->metric, METRIC_COVERAGE))
            continue;
        if (record->value < 1 && record->message)
            certify_note(certify, "%s: %s", stage_name(stage), record->message);
        return;
    }
}
