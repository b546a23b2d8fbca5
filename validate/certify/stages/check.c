/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/certify/stages/stages.h"

#include <string.h>

#include "lib/certificate/refused.h"
#include "lib/constants/certify_constants.h"
#include "validate/certify/choose/allocate.h"
#include "validate/certify/report/run_records.h"
#include "validate/certify/stages/battery.h"
#include "validate/certify/stages/compare.h"
#include "validate/certify/state/rails.h"
#include "validate/certify/step/certify_step.h"
#include "validate/certify/step/peers.h"
#include "validate/certify/step/reach_nodes.h"
#include "validate/checks/checks.h"
#include "validate/compare/comparison.h"

/* Finds the nodes' own notes that their gate refused a job when Slurm drained them. */
static void refusals_find(struct certify *certify, size_t first)
{
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run =
            record_code(record) == FAULT_GATE_REFUSED && record->value > 0 && record->value < 1e11
                ? certify_node_run(certify, record->node)
                : NULL;

        if (node_run && refused_explains((time_t)record->value, node_run->slurm->reason_time))
            node_run->refusal_record = i + 1;
    }
}

/* Finds who drained each node that Slurm drained for a failed prolog: muster, if the node's own
 * note says that its gate refused a job then; else it is somebody else's drain, which is restored
 * at the end. */
static void refusals_attribute(struct certify *certify, size_t first)
{
    refusals_find(certify, first);
    for (size_t i = 0; i < certify->count; i++) {
        struct node_run *node_run = &certify->node_runs[i];
        char text[256];

        if (!node_run->plan.needs_gate_refusal || !node_run->is_selected)
            continue;
        if (node_run->refusal_record > 0) {
            node_run->plan.needs_gate_refusal = false;
            certify_note(
                certify, "%s was drained by muster's gate: %s", node_run->name,
                text_of(RECORD_AT(&certify->records, node_run->refusal_record - 1)->message));
            continue;
        }
        snprintf(text, sizeof text,
                 "%.100s, not by muster's gate; next: read slurmd's log on %.60s, then scontrol "
                 "update nodename=%.60s state=resume",
                 node_run->slurm->reason, node_run->name, node_run->name);
        certify_verdict(certify, node_run, STAGE_CHECK, VERDICT_FAIL, "slurm.state", "prolog",
                        text);
    }
}

/* Sets which nodes have an accelerator, by what their checks reported. */
static void accelerators_note(struct certify *certify, size_t first)
{
    for (size_t i = 0; i < certify->count; i++)
        certify->node_runs[i].has_accelerator &= !certify->node_runs[i].is_selected;
    for (size_t i = first; i < certify->records.count; i++) {
        const struct record *record = RECORD_AT(&certify->records, i);
        struct node_run *node_run = certify_node_run(certify, record->node);

        if (node_run && record->verdict != VERDICT_SKIP && record->verdict != VERDICT_NONE &&
            (catalog_is_test(record->test, TEST_GPU_ENUMERATE) ||
             catalog_is_test(record->test, TEST_GPU_HEALTH)))
            node_run->has_accelerator = true;
    }
}

static void run(struct certify *certify)
{
    struct hostlist names = {0}, silent = {0};
    char text[256];
    size_t asked = certify_list_good(certify, &names), first;
    struct error err = {""};
    int rv;

    if (asked == 0)
        return;
    for (int i = 1;; i++) {
        struct arguments program = {0};

        progress_begin(&certify->progress, "check");
        progress_doing(&certify->progress, "muster check on %zu node%s", asked, text_plural(asked));
        step_add_muster(&program, "check", "--json", NULL);
        rv = certify_muster(certify,
                            &(struct certify_step){
                                .stage = STAGE_CHECK,
                                .nodes = &names,
                                .held_s = checks_held_s(&certify->conf),
                                .deadline_s = certify_deadline_s(
                                    CERTIFY_CHECK_S + checks_held_s(&certify->conf), names.count)},
                            &program, &first, &err);
        if (comparison_incomplete(&certify->records, first, &names, &silent) != 0)
            certify->has_fault = true;
        if (silent.count < names.count || i == CERTIFY_TRIES || !certify_allocate_again(certify))
            break;
        hostlist_clear(&silent);
        asked = certify_list_good(certify, &names);
        if (asked == 0)
            goto done;
    }
    certify_rails_note(certify, first);
    accelerators_note(certify, first);
    certify_duplicates(certify, first);
    certify_apply_verdicts(certify, STAGE_CHECK, first, VERDICT_NONE);
    /* what a silent node seems to lack it may only have failed to report */
    for (size_t i = 0; i < silent.count; i++)
        certify_node_run(certify, silent.names[i])->is_selected = false;
    refusals_attribute(certify, first);
    certify_compare(certify, first);
    certify_peers(certify, first);
    if (silent.count > 0) {
        certify_reach_again(certify, &silent, STAGE_CHECK);
        text_put(text, sizeof text, "muster check did not complete: %s",
                 rv != 0 ? err.text : error_line_text(&certify->error_line));
        certify_all(certify, &silent, STAGE_CHECK, VERDICT_UNKNOWN, FAULT_NONE, "check", text);
    }
    certify_stage_end(certify, asked);
done:
    hostlist_clear(&silent);
    hostlist_clear(&names);
}

const struct certify_stage stage_check = {
    .stage = STAGE_CHECK,
    .job = JOB_CHECK,
    .level = LEVEL_QUICK,
    .run = run,
};
