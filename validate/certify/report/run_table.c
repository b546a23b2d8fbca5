/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/certificate/certificate.h"
#include "validate/certify/report/run_report.h"
#include "validate/report/table.h"

enum { COLUMNS = 3 + STAGE_COUNT - STAGE_CHECK };

static const char *verdict_word(const struct node_run *node_run, enum verdict verdict)
{
    if (node_run->decision == DECISION_SUSPECT)
        return "suspect";
    return verdict == VERDICT_PASS ? "certified" : verdict == VERDICT_FAIL ? "FAILED" : "unknown";
}

static void stage_cell(struct table *table, const struct outcome *outcome, enum stage stage)
{
    enum verdict verdict = outcome->stages[stage];
    const char *text = outcome->cells[stage];

    table_cell(table, verdict == VERDICT_PASS ? VERDICT_NONE : verdict, "%s",
               verdict == VERDICT_NONE   ? "-"
               : *text                   ? text
               : verdict == VERDICT_FAIL ? "FAILED"
                                         : verdict_name(verdict));
}

/* Prints until when the new certificates are valid, and how many nodes keep one of a higher level.
 */
static void certificates_print(const struct certify *certify, FILE *stream)
{
    int level = certificate_level(certify_level_name(certify->options.level));
    const char *until = NULL;
    size_t kept = 0;

    for (size_t i = 0; i < certify->count; i++) {
        const struct node_run *node_run = &certify->node_runs[i];

        if (*node_run->certified_until && node_run->certified_level > level)
            kept++;
        else if (*node_run->certified_until && !until)
            until = node_run->certified_until;
    }
    if (until)
        fprintf(stream, " until %s", until);
    if (kept > 0)
        fprintf(stream, ", %zu keep%s a certificate of a higher level", kept, kept == 1 ? "s" : "");
}

void certify_report(struct certify *certify, FILE *stream)
{
    struct table table = {.columns = COLUMNS};
    size_t counts[VERDICT_FAIL + 1] = {0}, suspects = 0;

    table_cells(&table, "NODE\tVERDICT");
    for (int stage = STAGE_CHECK; stage < STAGE_COUNT; stage++)
        table_cells(&table, "%s", stage_heading((enum stage)stage));
    table_cells(&table, "PART AT FAULT");
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        enum verdict verdict = outcome_conclude(&node_run->outcome);
        char text[OUTCOME_TEXT];

        counts[verdict] += node_run->decision != DECISION_SUSPECT;
        suspects += node_run->decision == DECISION_SUSPECT;
        table_cell(&table, VERDICT_NONE, "%s", node_run->name);
        table_cell(&table, verdict, "%s", verdict_word(node_run, verdict));
        for (int stage = STAGE_CHECK; stage < STAGE_COUNT; stage++)
            stage_cell(&table, &node_run->outcome, (enum stage)stage);
        outcome_text(&node_run->outcome, false, text, sizeof text);
        table_cell(&table, VERDICT_NONE, "%s", *text ? text : "-");
    }
    for (size_t i = 0; i < certify->headlines.count; i++)
        fprintf(stream, "%s%s\n", i == 0 ? "\n" : "", certify->headlines.names[i]);
    table_end(&table, stream, "\n");
    fputc('\n', stream);
    for (size_t i = 0; i < certify->notes.count; i++)
        fprintf(stream, "%s\n", certify->notes.names[i]);
    if (certify->stray_lines > 0)
        fprintf(stream, "%zu line%s of program output ignored: not records\n", certify->stray_lines,
                text_plural(certify->stray_lines));
    if (certify->refused_records > 0)
        fprintf(stream,
                "%s: %zu record%s ignored, the first: %s; next: check what the battery user runs "
                "there\n",
                certify->refused_source, certify->refused_records,
                text_plural(certify->refused_records), certify->refused_reason);
    fprintf(stream, "%s%zu of %zu nodes %s (%s)", certify->options.is_dry_run ? "dry run: " : "",
            counts[VERDICT_PASS], certify->count,
            certify->options.is_dry_run ? "would be certified" : "certified",
            certify_level_name(certify->options.level));
    certificates_print(certify, stream);
    if (counts[VERDICT_FAIL] > 0)
        fprintf(stream, ", %zu failed", counts[VERDICT_FAIL]);
    if (counts[VERDICT_UNKNOWN] > 0)
        fprintf(stream, ", %zu unknown", counts[VERDICT_UNKNOWN]);
    if (suspects > 0)
        fprintf(stream, ", %zu suspect", suspects);
    fprintf(stream, ", %.1f s, run %s\n", clock_s() - certify->begin, certify->run);
}
