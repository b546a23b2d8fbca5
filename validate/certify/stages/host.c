/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/constants/battery_constants.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/battery.h"
#include "validate/history/history.h"

/* muster-host, a task a node. It judges by the peers; what a node showed in earlier runs is
 * compared here. */

static void host_arguments(const struct certify *certify, const struct hostlist *names,
                           double limit_s, struct arguments *program)
{
    (void)names;
    certify_program(certify, "muster-host", limit_s, program);
    if (certify->options.level == LEVEL_FULL)
        arguments_add(program, "--times=%d", HOST_FULL_TIMES);
}

static void run(struct certify *certify)
{
    certify_battery(
        certify,
        &(struct battery){.stage = STAGE_HOST, .tasks_per_node = 1, .build = host_arguments});
}

/* A figure that passed, of threads that were not kept from running. */
static bool is_figure(const struct record *record)
{
    return record->node && record->part && record->metric && isfinite(record->value) &&
           record->verdict == VERDICT_PASS && !(record->stalled > HOST_STALLED_MOST_SHARE) &&
           catalog_is_suite(record->suite, SUITE_HOST);
}

static void decline_record(struct certify *certify, size_t index, const struct history_query *query)
{
    struct record record = certify->records.items[index]; /* what follows may move the records */
    struct node_run *node_run = certify_node_run(certify, record.node);
    char message[160];

    snprintf(message, sizeof message, "%.4g %s, median of its last %u good runs %.4g", record.value,
             record.unit, query->figure.count, query->figure.median);
    record.suite = "certify";
    record.limit = history_figure_floor(&query->figure);
    record.limit_source = "history";
    record.verdict = VERDICT_WARN;
    record.message = message;
    certify_record(certify, &record);
    if (node_run)
        outcome_note(&node_run->outcome, STAGE_HOST, VERDICT_WARN, record_code(&record),
                     record.test, record.part, message);
}

/* Warns of figures that are below what their part showed in its last good runs. */
static void fold(struct certify *certify, size_t first)
{
    size_t end = certify->records.count, count = 0;
    struct history_query *queries = calloc(end - first + 1, sizeof *queries);
    uint64_t *fingerprints = calloc(certify->count + 1, sizeof *fingerprints);
    struct hostlist names = {calloc(certify->count + 1, sizeof *names.names), certify->count};
    struct error err = {"no memory"};
    bool is_known;

    for (size_t i = 0; names.names && i < certify->count; i++)
        names.names[i] = (char *)(size_t)certify->node_runs[i].name;
    is_known = queries && fingerprints && names.names &&
               history_fingerprints(&certify->records, 0, &names, fingerprints) == 0;
    for (size_t i = first; is_known && i < end; i++) {
        const struct record *record = &certify->records.items[i];
        const struct node_run *node_run =
            is_figure(record) ? certify_node_run(certify, record->node) : NULL;

        if (node_run)
            queries[count++] =
                (struct history_query){.node = record->node,
                                       .part = record->part,
                                       .metric = record->metric,
                                       .fingerprint = fingerprints[node_run - certify->node_runs]};
    }
    is_known = is_known && history_figures(certify->conf.history_path, queries, count, &err) == 0;
    if (!is_known)
        fprintf(stderr, "muster certify: history: %s\n", err.text);
    for (size_t i = first, query = 0; is_known && i < end && query < count; i++) {
        const struct record *record = &certify->records.items[i];

        if (!is_figure(record) || !certify_node_run(certify, record->node))
            continue;
        if (record->value < history_figure_floor(&queries[query].figure))
            decline_record(certify, i, &queries[query]);
        query++;
    }
    free(names.names);
    free(fingerprints);
    free(queries);
}

const struct certify_stage stage_host = {
    .stage = STAGE_HOST,
    .job = JOB_BATTERY,
    .level = LEVEL_STANDARD,
    .program = "muster-host",
    .run = run,
    .fold = fold,
};
