/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/preflight_constants.h"
#include "validate/localization/localization.h"
#include "validate/preflight/preflight.h"
#include "validate/slurm/release.h"
#include "validate/slurm/step/reach.h"
#include "validate/slurm/step/step.h"

/* ---------------------------------------------------------------- steps */

struct receiver {
    struct preflight *preflight;
    int status; /* reported by the program; -1: not yet */
    bool has_memory;
};

static void receive_line(const char *line, bool is_error, void *context)
{
    struct receiver *receiver = context;
    struct preflight *preflight = receiver->preflight;

    if (is_error)
        return; /* step_run() keeps the line nearest to the cause (error_line.h) */
    switch (records_parse(&preflight->records, line)) {
    case 0:
        receiver->status = records_end(&preflight->records);
        if (preflight->json)
            record_write(preflight->json,
                         RECORD_AT(&preflight->records, preflight->records.count - 1));
        break;
    case -1:
        receiver->has_memory = false;
        break;
    }
}

/* Whether a step has run to its end with all its nodes: no record without a node is UNKNOWN, and no
 * rank is missing. */
static bool is_complete(const struct records *records, size_t first)
{
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if ((record->verdict == VERDICT_UNKNOWN && !record->node) || record_lacks_rank(record))
            return false;
    }
    return records->count > first;
}

/* Sets the reason of a program that ended without a record. */
static void explain_silence(struct preflight *preflight)
{
    char line[sizeof preflight->reason];

    text_put(line, sizeof line, "%s", preflight->reason);
    text_put(
        preflight->reason, sizeof preflight->reason,
        "MPI did not start (check that srun's --mpi, or MpiDefault of slurm.conf, matches it): %s",
        *line ? line : "no error message was given");
}

/* Returns why the result is unknown, as the program says, or NULL if it does not say. */
static const char *unknown_reason(const struct records *records, size_t first)
{
    for (size_t i = first; i < records->count; i++) {
        const struct record *record = RECORD_AT(records, i);

        if (record->verdict == VERDICT_UNKNOWN && !record->node)
            return record->message;
    }
    return NULL;
}

bool preflight_step(struct preflight *preflight, const struct preflight_step *step, size_t *first)
{
    struct receiver receiver = {preflight, -1, true};
    long *groups = preflight_groups(preflight, step->names);
    struct process_result result;
    const char *entries[10] = {"MUSTER_IN_PREFLIGHT=1"};
    char text[2][128];
    size_t count = 1;
    const char *unknown;
    struct error err;
    int rv;

    *first = preflight->records.count;
    /* MPI as the job has it, or on the management network if the rails may be faulty */
    count += release_mpi_environment(
        step->is_on_management ? preflight->conf.management_interface : NULL, text, entries + 1);
    if (step->is_on_management)
        entries[count] = "MUSTER_ENVIRONMENT=off";
    rv = step_run(&(struct step){.job_id = preflight->options.job_id,
                                 .nodes = step->names,
                                 .groups = groups,
                                 .tasks_per_node = 1,
                                 .name = preflight->step_name,
                                 .mpi = preflight->options.mpi,
                                 .has_no_gres = step->gpus == 0,
                                 .gpus = step->gpus,
                                 .options = step_container_options(step->container),
                                 .program = step->program->argv},
                  &(struct process){.environment = entries,
                                    .deadline_s = fmin(step->limit_s + PREFLIGHT_GRACE_S,
                                                       fmax(preflight_left_s(preflight), 1)),
                                    .grace_s = PREFLIGHT_GRACE_S,
                                    .on_line = receive_line,
                                    .context = &receiver,
                                    .stop = &preflight_stop,
                                    .reported_status = &receiver.status},
                  &result, &err);
    free(groups);
    arguments_clear(step->program);
    text_put(preflight->reason, sizeof preflight->reason, "%s",
             rv == 0 ? result.error_line.text : "");
    if (rv != 0)
        text_put(preflight->reason, sizeof preflight->reason, "%s", err.text);
    else if (!receiver.has_memory)
        snprintf(preflight->reason, sizeof preflight->reason, "out of memory");
    else if (result.end == PROCESS_TIMED_OUT)
        snprintf(preflight->reason, sizeof preflight->reason,
                 "the tests did not end within %.0f s (budget %.0f s)", result.seconds,
                 preflight->budget_s);
    else if (result.end == PROCESS_EXITED && is_complete(&preflight->records, *first) &&
             records_explain(&preflight->records, *first, result.status))
        return true;
    else if ((unknown = unknown_reason(&preflight->records, *first)) != NULL)
        text_put(preflight->reason, sizeof preflight->reason, "%s", unknown);
    else if (result.end == PROCESS_EXITED && preflight->records.count == *first &&
             !result.error_line.is_refusal)
        explain_silence(preflight);
    else if (!*preflight->reason)
        snprintf(preflight->reason, sizeof preflight->reason, "the step ended early");
    return false;
}

void preflight_program(const char *name, double limit_s, struct arguments *program)
{
    char path[4096];

    step_program_path(name, path, sizeof path);
    arguments_add(program, "%s", path);
    arguments_add(program, "--json");
    arguments_add(program, "--time-limit=%.0f", fmax(1, floor(limit_s)));
}

/* Runs the short form of the battery. is_links_only: with MPI on the management network, nothing
 * but the links. */
static bool battery_run(struct preflight *preflight, const struct hostlist *names,
                        bool is_links_only, double limit_s, size_t *first)
{
    struct arguments program = {0};
    char *folded = hostlist_fold(names);

    preflight_program("muster-preflight", limit_s, &program);
    arguments_add(&program, "--expect-nodes=%s", folded ? folded : "");
    arguments_add(&program, "--started=%.3f", clock_epoch_s());
    if (preflight->options.level == PREFLIGHT_QUICK) {
        arguments_add(&program, "--quick");
        arguments_add(&program, "--rounds=%d", PREFLIGHT_QUICK_ROUNDS);
        arguments_add(&program, "--repeats=%d", PREFLIGHT_QUICK_REPEATS);
    }
    if (is_links_only)
        arguments_add(&program, "--links-only");
    free(folded);
    return preflight_step(preflight,
                          &(struct preflight_step){.names = names,
                                                   .is_on_management = is_links_only,
                                                   .limit_s = limit_s,
                                                   .program = &program},
                          first);
}

/* Runs every collective, checked to the bit; for the level standard. */
static bool collectives_run(struct preflight *preflight, const struct hostlist *names,
                            size_t *first)
{
    double limit_s = preflight_left_s(preflight) - PREFLIGHT_GRACE_S;
    struct arguments program = {0};

    preflight_program("muster-collectives", limit_s, &program);
    arguments_add(&program, "--quick");
    return preflight_step(
        preflight,
        &(struct preflight_step){.names = names, .limit_s = limit_s, .program = &program}, first);
}

/* ---------------------------------------------------------------- nodes that do not respond */

/* Whether the deadline was too short to fail the node. With a short budget a busy slurmd has no
 * time to answer, and a lost packet no time to be sent again. */
static bool is_deadline_short(const struct reach *answer, double deadline_s)
{
    return (answer->state == REACH_FROZEN && deadline_s < PREFLIGHT_REACH_MOST_S) ||
           (answer->state == REACH_CUT_OFF && deadline_s < PREFLIGHT_CONNECT_S &&
            answer->seconds >= deadline_s);
}

static void nodes_query(struct preflight *preflight)
{
    struct cluster_node **nodes = calloc(preflight->names.count + 1, sizeof(*nodes));
    struct member **queried = calloc(preflight->names.count + 1, sizeof(*queried));
    struct reach *answers = calloc(preflight->names.count + 1, sizeof *answers);
    double deadline_s = fmin(PREFLIGHT_REACH_MOST_S, PREFLIGHT_REACH_SHARE * preflight->budget_s);
    size_t count = 0;
    struct error err;

    for (size_t i = 0; nodes && queried && answers && i < preflight->names.count; i++) {
        struct member *member = &preflight->members[i];

        if (member->slurm && !member->is_silent) {
            queried[count] = member;
            nodes[count++] = member->slurm;
        }
    }
    if (count > 0 && reach_nodes(nodes, count, deadline_s, &preflight_stop, answers, &err) == 0)
        for (size_t i = 0; i < count; i++) {
            enum reach_state state = answers[i].state;

            if (!reach_kind(state)->is_failure ||
                state == REACH_NO_MUNGE) /* that may be this host's own fault */
                continue;
            queried[i]->is_silent = true;
            preflight_add_verdict(
                preflight, queried[i],
                is_deadline_short(&answers[i], deadline_s) ? VERDICT_UNKNOWN : VERDICT_FAIL,
                FAULT_NONE, "workers.enumerate", reach_kind(state)->part, answers[i].message);
        }
    free(nodes);
    free(queried);
    free(answers);
}

/* ---------------------------------------------------------------- localization of link faults */

static bool suspects_measure(void *context, const struct hostlist *names, const char *pairs,
                             enum retest_passes passes, size_t *first)
{
    struct preflight *preflight = context;
    double limit_s = preflight_left_s(preflight) - PREFLIGHT_GRACE_S;
    struct arguments program = {0};

    if (limit_s < PREFLIGHT_LEAST_S || preflight_stop)
        return false;
    preflight_program("muster-links", limit_s, &program);
    arguments_add(&program, "--quick");
    arguments_add(&program, "--pairs=%s", pairs);
    arguments_add(&program, "--repeats=%d", PREFLIGHT_CONFIRM_REPEATS);
    if (passes == PASSES_TOGETHER)
        arguments_add(&program, "--passes=pairs,together");
    return preflight_step(
        preflight,
        &(struct preflight_step){
            .names = names, .is_on_management = true, .limit_s = limit_s, .program = &program},
        first);
}

static void add_verdict(void *context, const char *node, enum verdict verdict,
                        const struct record *record)
{
    struct member *member = preflight_member(context, node);

    if (member)
        preflight_add_verdict(context, member, verdict, record->code, record->test,
                              record->part ? record->part : "",
                              record->message ? record->message : "");
}

/* Whether the nodes of the localization are known to be on several leaf switches. Other jobs share
 * the links between these. */
static bool crosses_leaves(const struct localization *localization)
{
    for (size_t i = 1; i < localization->source.names->count; i++)
        if (localization->source.leaves[i] != localization->source.leaves[0])
            return true;
    return false;
}

/* Reports a finding. What may be another job's traffic is only a note. */
static void report_finding(struct preflight *preflight, const struct localization *localization,
                           const struct finding *finding)
{
    const struct links *links = &localization->links;
    struct member *member =
        finding->node >= 0 ? preflight_member(preflight, links->nodes[finding->node]) : NULL;
    enum verdict verdict = finding->verdict;
    bool is_of_path = finding->kind == FINDING_PAIR || finding->kind == FINDING_MISPLACED ||
                      (finding->kind == FINDING_AMBIGUOUS && finding->is_intermittent),
         has_part;
    char text[320];

    if (finding->kind == FINDING_AMBIGUOUS && localization->retests != SIZE_MAX &&
        !crosses_leaves(localization))
        verdict = VERDICT_FAIL; /* the step would suffer from it, whichever end it is */
    if (finding->kind == FINDING_MISSING && member && member->verdict == VERDICT_FAIL)
        return; /* reported with its node already */
    if (member && !is_of_path) {
        preflight_add_verdict(preflight, member, verdict, FAULT_NONE, "links", finding->part,
                              finding->message);
        return;
    }
    has_part = strncmp(finding->message, finding->part, strlen(finding->part)) == 0;
    snprintf(text, sizeof text, "%s%s%s", has_part ? "" : finding->part, has_part ? "" : ": ",
             finding->message);
    hostlist_append(&preflight->notes, text);
}

/* Sets the figures by which --keep ranks the nodes. */
static void set_figures(struct preflight *preflight, const struct localization *localization)
{
    const struct links *links = &localization->links;
    double *figures = calloc(links->node_count + 1, sizeof *figures);

    for (size_t k = 0; figures && k < links->rail_count; k++) {
        double best = NAN;

        for (size_t i = 0; i < links->node_count; i++) {
            figures[i] = links->figures_mbps[i * links->rail_count + k];
            best = fmax(best, figures[i]); /* fmax() of NAN and a number is the number */
        }
        for (size_t i = 0; i < links->node_count; i++) {
            struct member *member = preflight_member(preflight, links->nodes[i]);
            double nominal = links->nominal_mbps[i * links->rail_count + k];

            if (member)
                member->share = fmin(member->share, figures[i] / (nominal > 0 ? nominal : best));
        }
    }
    free(figures);
    for (size_t end = 0; end < links->node_count * links->rail_count; end++) {
        struct member *member = preflight_member(preflight, links->nodes[end / links->rail_count]);

        if (member)
            member->latency_us = fmin(member->latency_us, links->delays_us[end]);
    }
}

/* Localizes faults of the links, with retests. Returns 0, or -1 if memory is out. */
static int localize_links(struct preflight *preflight, const struct hostlist *names, size_t first)
{
    int *leaves = calloc(names->count + 1, sizeof *leaves);
    struct localization localization = {
        .source = {.records = &preflight->records,
                   .conf = &preflight->conf,
                   .names = names,
                   .leaves = leaves,
                   .leaf_names = (const char *const *)preflight->cluster.leaves},
        .first = first,
        .tries = PREFLIGHT_CONFIRM_TRIES,
        .measure = suspects_measure,
        .context = preflight,
    };
    int rv = -1;

    for (size_t i = 0; leaves && i < names->count; i++) {
        const struct member *member = preflight_member(preflight, names->names[i]);

        leaves[i] = member && member->slurm ? member->slurm->leaf : -1;
    }
    if (leaves)
        rv = localization_run(&localization);
    if (rv == 0) {
        localization_self_reports(&localization, add_verdict, preflight);
        for (size_t i = 0; i < localization.findings.count; i++)
            report_finding(preflight, &localization, &localization.findings.items[i]);
        set_figures(preflight, &localization);
    }
    localization_clear(&localization);
    free(leaves);
    return rv;
}

/* ---------------------------------------------------------------- the run */

/* Adds the failures of nodes, and those of no node. Failures of links are left to
 * localize_links(). */
static void add_verdicts(struct preflight *preflight, size_t first, size_t last)
{
    for (size_t i = first; i < last; i++) {
        const struct record record = *RECORD_AT(&preflight->records, i);

        if (record.verdict != VERDICT_FAIL || catalog_is_suite(record.suite, SUITE_LINKS))
            continue;
        if (record.node) {
            add_verdict(preflight, record.node, record.verdict, &record);
        } else {
            preflight->has_fault = true;
            hostlist_append(&preflight->faults, record.message ? record.message : record.test);
        }
    }
}

static void test_nodes(struct preflight *preflight, const struct hostlist *names)
{
    size_t first, last;

    if (battery_run(preflight, names, false, PREFLIGHT_FIRST_SHARE * preflight_left_s(preflight),
                    &first)) {
        last = preflight->records.count;
        if (localize_links(preflight, names, first) != 0)
            preflight_set_unknown(preflight, "out of memory");
        add_verdicts(preflight, first, last);
        if (preflight->options.level == PREFLIGHT_STANDARD && !preflight->has_fault &&
            preflight_left_s(preflight) > PREFLIGHT_LEAST_S) {
            if (!collectives_run(preflight, names, &first))
                preflight_set_unknown(preflight, "collectives: %s", preflight->reason);
            add_verdicts(preflight, first, preflight->records.count);
        }
        return;
    }
    if (preflight_stop)
        return;
    /* MPI does not work as the job has it: find nodes that do not respond, then faulty rails */
    last = preflight->records.count;
    preflight_set_unknown(preflight, "%s", preflight->reason);
    nodes_query(preflight);
    if (!preflight->has_fault &&
        preflight_left_s(preflight) > PREFLIGHT_LEAST_S + PREFLIGHT_GRACE_S) {
        size_t retry_first;

        if (battery_run(preflight, names, true, preflight_left_s(preflight) - PREFLIGHT_GRACE_S,
                        &retry_first))
            localize_links(preflight, names, retry_first);
    }
    if (!preflight->has_fault)
        add_verdicts(preflight, first, last);
}

void preflight_run(struct preflight *preflight)
{
    struct hostlist names;

    nodes_query(preflight);
    /* A step with a node at fault does not start. With --keep the other nodes are tested without
     * it. A node whose answer may only be late is left out in any case. */
    for (int i = 0; i < 2 && !preflight_stop; i++) {
        bool is_over = preflight->has_fault && preflight->options.keep == 0;
        size_t good = preflight_good(preflight, &names);

        preflight->unknown[0] = '\0';
        if (!is_over && good > 1)
            test_nodes(preflight, &names);
        hostlist_clear(&names);
        /* test once more, without the nodes that prevented the test */
        if (is_over || preflight->options.keep == 0 || !*preflight->unknown ||
            preflight_good(preflight, &names) == good ||
            preflight_left_s(preflight) < PREFLIGHT_LEAST_S) {
            hostlist_clear(&names);
            break;
        }
        hostlist_clear(&names);
    }
    if (!preflight_stop && !*preflight->unknown &&
        (!preflight->has_fault || preflight->options.keep > 0))
        preflight_gpus(preflight);
}
