/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/outcome.h"

#include <stdio.h>
#include <string.h>

const char *stage_name(enum stage stage)
{
    static const char *const names[] = {"reach", "check",       "launch",
                                        "links", "collectives", "train"};

    return stage < STAGE_COUNT ? names[stage] : "";
}

/* A stage with something passed and something skipped is passed. */
static int weight_of(enum verdict verdict)
{
    return verdict == VERDICT_SKIP ? 1 : verdict == VERDICT_NONE ? 0 : (int)verdict + 2;
}

void outcome_note(struct outcome *outcome, enum stage stage, enum verdict verdict, const char *test,
                  const char *part, const char *message)
{
    if (weight_of(verdict) > weight_of(outcome->stages[stage]))
        outcome->stages[stage] = verdict;
    if ((verdict <= outcome->verdict && !(verdict == VERDICT_FAIL && outcome->is_near)) ||
        verdict < VERDICT_WARN)
        return;
    outcome->is_near = false;
    outcome->verdict = verdict;
    outcome->stage = stage;
    snprintf(outcome->test, sizeof outcome->test, "%s", test ? test : "");
    snprintf(outcome->part, sizeof outcome->part, "%s", part ? part : "");
    snprintf(outcome->message, sizeof outcome->message, "%s", message ? message : "");
}

void outcome_note_near(struct outcome *outcome, enum stage stage, const char *test,
                       const char *part, const char *message)
{
    if (outcome->verdict == VERDICT_FAIL)
        return;
    outcome_note(outcome, stage, VERDICT_FAIL, test, part, message);
    outcome->is_near = true;
}

bool outcome_is_good(const struct outcome *outcome)
{
    return outcome->verdict < VERDICT_UNKNOWN;
}

enum verdict outcome_conclude(struct outcome *outcome)
{
    if (outcome->verdict >= VERDICT_UNKNOWN)
        return outcome->verdict;
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        char text[64];

        if (outcome->stages[stage] == VERDICT_PASS || outcome->stages[stage] == VERDICT_WARN)
            continue;
        if (stage == STAGE_TRAIN && outcome->stages[stage] == VERDICT_SKIP)
            continue;
        snprintf(text, sizeof text, "%s was not run to its end", stage_name((enum stage)stage));
        outcome_note(outcome, (enum stage)stage, VERDICT_UNKNOWN, "certify", "", text);
        return VERDICT_UNKNOWN;
    }
    return VERDICT_PASS;
}

int outcome_exit_status(const enum verdict *verdicts, size_t count, bool is_fault)
{
    int status = count == 0 ? 3 : is_fault ? 1 : 0;

    for (size_t i = 0; i < count; i++) {
        if (verdicts[i] == VERDICT_FAIL)
            return 1;
        if (verdicts[i] != VERDICT_PASS && status == 0)
            status = 3;
    }
    return status;
}
