/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/decline.h"

#include <stdio.h>
#include <stdlib.h>

#include "validate/certify/report/run_records.h"
#include "validate/history/history.h"

static void decline_record(struct certify *certify, enum stage stage, size_t index,
                           const struct history_query *query)
{
    struct record record = *RECORD_AT(&certify->records, index);
    struct node_run *node_run = certify_node_run(certify, record.node);
    char message[160];

    snprintf(message, sizeof message, "%.4g %s, median of its last %u good runs %.4g", record.value,
             record.unit, query->figure.count, query->figure.median);
    record.suite = "certify";
    record.limit = history_figure_floor(&query->figure);
    record.limit_source = "history";
    record.verdict = VERDICT_WARN;
    record.message = message;
    certify_record(certify, record);
    if (node_run)
        outcome_note(&node_run->outcome, stage, VERDICT_WARN, record_code(&record), record.test,
                     record.part, message);
}

void certify_decline(struct certify *certify, enum stage stage, size_t first,
                     bool (*is_figure)(const struct record *record))
{
    size_t end = certify->records.count, count = 0;
    struct history_query *queries = calloc(end - first + 1, sizeof *queries);
    uint64_t *fingerprints = certify_fingerprints(certify);
    struct error err = {"no memory"};
    bool is_known = queries && fingerprints;

    for (size_t i = first; is_known && i < end; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
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
        const struct record *record = RECORD_AT(&certify->records, i);

        if (!is_figure(record) || !certify_node_run(certify, record->node))
            continue;
        if (record->value < history_figure_floor(&queries[query].figure))
            decline_record(certify, stage, i, &queries[query]);
        query++;
    }
    free(fingerprints);
    free(queries);
}
