/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/report/run_records.h"

#include <stdlib.h>

#include "validate/history/history.h"

void certify_record(struct certify *certify, struct record record)
{
    record.run = certify->run;
    record.time = record_now_s();
    if (records_add(&certify->records, &record) != 0)
        certify_note(certify, "out of memory for all records");
    if (certify->json)
        record_write(certify->json, &record);
}

void certify_verdict(struct certify *certify, struct node_run *node_run, enum stage stage,
                     enum verdict verdict, const char *test, const char *part, const char *message)
{
    certify_fault(certify, node_run, stage, verdict, FAULT_NONE, test, part, message);
}

void certify_fault(struct certify *certify, struct node_run *node_run, enum stage stage,
                   enum verdict verdict, enum fault_code code, const char *test, const char *part,
                   const char *message)
{
    if (!node_run)
        return;
    if (test)
        certify_record(certify,
                       RECORD(.suite = "certify", .test = test, .node = node_run->name,
                              .part = part, .verdict = verdict, .code = code, .message = message));
    outcome_note(&node_run->outcome, stage, verdict, code, test, part, message);
}

void certify_all(struct certify *certify, const struct hostlist *names, enum stage stage,
                 enum verdict verdict, enum fault_code code, const char *test, const char *message)
{
    for (size_t i = 0; i < names->count; i++) {
        struct node_run *node_run = certify_node_run(certify, names->names[i]);

        if (node_run && !node_run->is_suspect && outcome_is_good(&node_run->outcome))
            certify_fault(certify, node_run, stage, verdict, code, test, "", message);
    }
}

/* Publishes the fault for which a node takes part no more, for those who watch the run. */
static void write_live(struct certify *certify, struct node_run *node_run)
{
    const struct outcome_fault *fault = outcome_worst(&node_run->outcome);
    struct live_event event = {.kind = LIVE_NODE, .verdict = node_run->outcome.verdict};

    if (node_run->is_live || outcome_is_good(&node_run->outcome))
        return;
    node_run->is_live = true;
    snprintf(event.stage, sizeof event.stage, "%s", stage_name(fault->stage));
    snprintf(event.node, sizeof event.node, "%s", node_run->name);
    outcome_text(&node_run->outcome, false, event.text, sizeof event.text);
    live_write(&certify->live, &event);
}

uint64_t *certify_fingerprints(const struct certify *certify)
{
    uint64_t *fingerprints = calloc(certify->count + 1, sizeof *fingerprints);

    if (fingerprints)
        history_fingerprints(&certify->records, &certify->by_name, fingerprints);
    return fingerprints;
}

void certify_stage_end(struct certify *certify, size_t asked)
{
    size_t good = 0;

    for (size_t i = 0; i < certify->count; i++) {
        good += outcome_is_good(&certify->node_runs[i].outcome);
        write_live(certify, &certify->node_runs[i]);
    }
    progress_end(&certify->progress, certify->count == good ? VERDICT_NONE : VERDICT_WARN,
                 "%zu node%s tested, %zu of %zu good so far", asked, text_plural(asked), good,
                 certify->count);
}
