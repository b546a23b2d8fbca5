/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/certify/state/outcome.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/text.h"
#include "validate/policy/decision.h"

#define NAME(upper, lower) #lower,
#define HEADING(upper, lower) #upper,

const char *stage_name(enum stage stage)
{
    static const char *const names[] = {STAGE_LIST(NAME)};

    return stage < STAGE_COUNT ? names[stage] : "";
}

const char *stage_heading(enum stage stage)
{
    static const char *const headings[] = {STAGE_LIST(HEADING)};

    return stage < STAGE_COUNT ? headings[stage] : "";
}

/* Returns the weight of a verdict: a stage with something passed and something skipped is passed.
 */
static int weight_of(enum verdict verdict)
{
    return verdict == VERDICT_SKIP ? 1 : verdict == VERDICT_NONE ? 0 : (int)verdict + 2;
}

/* Returns the rank of a fault: a failure near a limit is less than any other. */
static int rank_of(const struct outcome_fault *fault)
{
    return 2 * (int)fault->verdict - (fault->is_near ? 1 : 0);
}

static void conclude(struct outcome *outcome)
{
    const struct outcome_fault *worst = outcome_worst(outcome);

    outcome->verdict = worst->verdict;
    outcome->is_near = worst->is_near;
}

static void fault_remove(struct outcome *outcome, size_t at)
{
    outcome->fault_count--;
    memmove(&outcome->faults[at], &outcome->faults[at + 1],
            (outcome->fault_count - at) * sizeof *outcome->faults);
}

/* Makes room for a fault with a new code: removes the last fault that is as bad and shares
 * its code with an earlier one. Returns whether it did. */
static bool make_room(struct outcome *outcome, const struct outcome_fault *fault)
{
    size_t doubled = 0;

    for (size_t i = 0; i < outcome->fault_count; i++) {
        if (outcome->faults[i].code == fault->code)
            return false;
        for (size_t k = 0; k < i && rank_of(&outcome->faults[i]) == rank_of(fault); k++)
            if (outcome->faults[k].code == outcome->faults[i].code)
                doubled = i;
    }
    if (doubled > 0)
        fault_remove(outcome, doubled);
    return doubled > 0;
}

/* Inserts the fault by its rank, in place of a lesser one of the same code, test and part. */
static void fault_add(struct outcome *outcome, const struct outcome_fault *fault)
{
    size_t at = 0;

    for (size_t i = 0; i < outcome->fault_count; i++) {
        const struct outcome_fault *other = &outcome->faults[i];

        if (other->code != fault->code || strcmp(other->test, fault->test) != 0 ||
            strcmp(other->part, fault->part) != 0)
            continue;
        if (rank_of(other) >= rank_of(fault))
            return;
        fault_remove(outcome, i);
        break;
    }
    while (at < outcome->fault_count && rank_of(&outcome->faults[at]) >= rank_of(fault))
        at++;
    if (at == OUTCOME_FAULTS) {
        if (!make_room(outcome, fault))
            return;
        at = outcome->fault_count;
    }
    if (outcome->fault_count == OUTCOME_FAULTS)
        outcome->fault_count--;
    memmove(&outcome->faults[at + 1], &outcome->faults[at],
            (outcome->fault_count - at) * sizeof *outcome->faults);
    outcome->faults[at] = *fault;
    outcome->fault_count++;
    conclude(outcome);
}

static void note(struct outcome *outcome, enum stage stage, enum verdict verdict, bool is_near,
                 enum fault_code code, const char *test, const char *part, const char *message)
{
    const struct record record = {.test = test, .verdict = verdict, .code = code};
    struct outcome_fault fault = {
        .stage = stage, .verdict = verdict, .code = record_code(&record), .is_near = is_near};

    if (weight_of(verdict) > weight_of(outcome->stages[stage]))
        outcome->stages[stage] = verdict;
    if (verdict < VERDICT_WARN)
        return;
    snprintf(fault.test, sizeof fault.test, "%s", text_of(test));
    snprintf(fault.part, sizeof fault.part, "%s", text_of(part));
    text_put(fault.message, sizeof fault.message, "%s", text_of(message));
    fault_add(outcome, &fault);
}

void outcome_note(struct outcome *outcome, enum stage stage, enum verdict verdict,
                  enum fault_code code, const char *test, const char *part, const char *message)
{
    note(outcome, stage, verdict, false, code, test, part, message);
}

void outcome_note_near(struct outcome *outcome, enum stage stage, enum fault_code code,
                       const char *test, const char *part, const char *message)
{
    note(outcome, stage, VERDICT_FAIL, true, code, test, part, message);
}

void outcome_excuse(struct outcome *outcome, size_t at)
{
    struct outcome_fault fault = outcome->faults[at];
    enum verdict worst = VERDICT_NONE;

    fault_remove(outcome, at);
    fault.verdict = VERDICT_UNKNOWN;
    fault.is_near = false;
    fault.is_common = true;
    fault_add(outcome, &fault);
    for (size_t i = 0; i < outcome->fault_count; i++)
        if (outcome->faults[i].stage == fault.stage && outcome->faults[i].verdict > worst)
            worst = outcome->faults[i].verdict;
    outcome->stages[fault.stage] = worst;
}

const struct outcome_fault *outcome_worst(const struct outcome *outcome)
{
    static const struct outcome_fault none = {.verdict = VERDICT_NONE};

    return outcome->fault_count > 0 ? &outcome->faults[0] : &none;
}

const struct outcome_fault *outcome_drain_cause(const struct outcome *outcome)
{
    for (size_t i = 0; i < outcome->fault_count; i++)
        if (decision_drains(outcome->faults[i].verdict, outcome->faults[i].code, DRAIN_CERTIFY))
            return &outcome->faults[i];
    return NULL;
}

void outcome_text(const struct outcome *outcome, bool is_first_bare, char *text, size_t size)
{
    char all[OUTCOME_FAULTS * 330] = "";
    size_t used = 0;

    for (size_t i = 0; i < outcome->fault_count; i++) {
        const struct outcome_fault *fault = &outcome->faults[i];
        bool is_bare = !*fault->part || (i == 0 && is_first_bare) ||
                       strncmp(fault->message, fault->part, strlen(fault->part)) == 0;

        if (fault->verdict == outcome->verdict)
            used +=
                (size_t)snprintf(all + used, sizeof all - used, "%s%s%s%s", i > 0 ? "; " : "",
                                 is_bare ? "" : fault->part, is_bare ? "" : ": ", fault->message);
    }
    text_put(text, size, "%s", all);
}

bool outcome_is_good(const struct outcome *outcome)
{
    return outcome->verdict < VERDICT_UNKNOWN;
}

/* Returns the first stage before end that was not passed; end if there is none. */
static enum stage missing_before(const struct outcome *outcome, enum stage end)
{
    enum stage stage = 0;

    for (; stage < end; stage++) {
        enum verdict verdict = outcome->stages[stage];
        bool may_be_skipped = stage == STAGE_HOST || stage == STAGE_GPU || stage >= STAGE_TRAIN;

        if (verdict != VERDICT_PASS && verdict != VERDICT_WARN &&
            !(may_be_skipped && verdict == VERDICT_SKIP))
            break;
    }
    return stage;
}

enum verdict outcome_tested(const struct outcome *outcome)
{
    if (outcome->verdict >= VERDICT_UNKNOWN)
        return outcome->verdict;
    return missing_before(outcome, STAGE_CERTIFICATE) < STAGE_CERTIFICATE ? VERDICT_UNKNOWN
                                                                          : VERDICT_PASS;
}

enum verdict outcome_conclude(struct outcome *outcome)
{
    enum stage missing = missing_before(outcome, STAGE_COUNT);
    char text[64];

    if (outcome->verdict < VERDICT_UNKNOWN && missing < STAGE_COUNT) {
        snprintf(text, sizeof text, "stage %s did not complete", stage_name(missing));
        outcome_note(outcome, missing, VERDICT_UNKNOWN, FAULT_NOT_MEASURED, "certify", "", text);
    }
    return outcome->verdict >= VERDICT_UNKNOWN ? outcome->verdict : VERDICT_PASS;
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
