/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/constants/policy_constants.h"
#include "validate/scheduling/verify/run.h"

/* Preempt=: who is preempted by whom, and how soon. Wait=: how long a dedicated customer waits at
 * most while others have the nodes. First a job of the other gets the node, with a longer time
 * limit than the stated time; then a job is submitted that is not to wait for it. */

static const struct intent_key preempt_keys[] = {
    {"Victim", "the name of another Who= line", INTENT_NEEDED, INTENT_OTHER},
    {"Within", "a time of at most 10:00: 0:30 is 30 s, 5 is 5 minutes", INTENT_NEEDED,
     INTENT_WITHIN},
    {"Mode", "requeue, cancel or suspend", INTENT_OPTIONAL, INTENT_MODE},
    {NULL},
};
static const struct intent_key wait_keys[] = {
    {"Load", "the name of another Who= line", INTENT_NEEDED, INTENT_OTHER},
    {"Within", "a time of at most 10:00: 0:30 is 30 s, 5 is 5 minutes", INTENT_NEEDED,
     INTENT_WITHIN},
    {NULL},
};

enum { VICTIM, PREEMPTOR }; /* the jobs, in the order of their submission */

static void plan_both(const struct intent_statement *statement, struct verify_plan *plan)
{
    plan->nodes = 1;
    plan->most_s = VERIFY_SETTLE_S + statement->within_s + VERIFY_MARGIN_S + VERIFY_END_S;
}

static void preempt_plan(const struct intent_statement *statement,
                         const struct verify_capacity *capacity, struct verify_plan *plan)
{
    (void)capacity;
    plan_both(statement, plan);
    snprintf(plan->doing, sizeof plan->doing, "a job of %s takes the place of one of %s in %.0f s",
             statement->who->user, statement->other->user, statement->within_s);
}

static void wait_plan(const struct intent_statement *statement,
                      const struct verify_capacity *capacity, struct verify_plan *plan)
{
    (void)capacity;
    plan_both(statement, plan);
    snprintf(plan->doing, sizeof plan->doing,
             "a job of %s starts in %.0f s while one of %s has the node", statement->who->user,
             statement->within_s, statement->other->user);
}

static void preempt_probe(struct verify_run *run, const struct intent_statement *statement,
                          struct verify_seen *seen)
{
    const struct verify_ask whole = {
        .minutes = (int)ceil((VERIFY_SETTLE_S + statement->within_s + VERIFY_MARGIN_S) / 60) + 1,
        .is_exclusive = true,
    };

    if (verify_occupy(run, statement->other, whole.minutes, seen) &&
        verify_submit(run, statement->who, &whole, seen))
        verify_wait(run, statement->within_s + VERIFY_MARGIN_S, seen, seen_last_is_decided);
}

/* Returns whether the second job started in time; else the result says what is wrong. */
static bool is_in_time(const struct intent_statement *statement, const struct verify_seen *seen,
                       enum verify_code code, struct verify_result *result)
{
    const struct seen_job *preemptor = &seen->jobs[PREEMPTOR];
    double waited_s = preemptor->started_s - preemptor->submitted_s;

    if (seen_is_limited(preemptor))
        verify_not_shown(result, "%s", seen_describe(preemptor).text);
    else if (!seen_is_running(preemptor))
        verify_fail(result, code, "not within %.0f s: %s", statement->within_s,
                    seen_describe(preemptor).text);
    else if (waited_s > statement->within_s)
        verify_fail(result, code, "job %u (%s) started after %.0f s, stated are %.0f s",
                    preemptor->id, preemptor->who->user, waited_s, statement->within_s);
    else
        return true;
    return false;
}

static enum intent_mode mode_of(const struct seen_job *victim)
{
    if (strcmp(victim->state, "SUSPENDED") == 0)
        return INTENT_SUSPEND;
    return seen_is_pending(victim) || victim->restarts > 0 ? INTENT_REQUEUE : INTENT_CANCEL;
}

static void preempt_judge(const struct intent_statement *statement, const struct verify_seen *seen,
                          struct verify_result *result)
{
    const struct seen_job *victim = &seen->jobs[VICTIM], *preemptor = &seen->jobs[PREEMPTOR];
    struct text_line text = seen_describe(victim);

    if (!is_in_time(statement, seen, VERIFY_NOT_PREEMPTED, result))
        return;
    if (seen_is_running(victim))
        verify_fail(result, VERIFY_NOT_PREEMPTED, "job %u (%s) runs at the same time: %s",
                    preemptor->id, preemptor->who->user, text.text);
    else if (statement->mode != INTENT_ANY_MODE && mode_of(victim) != statement->mode)
        verify_fail(result, VERIFY_PREEMPT_MODE, "%s, and has restarted %d times", text.text,
                    victim->restarts);
    else
        verify_pass(result, "job %u (%s) started after %.0f s, and %s", preemptor->id,
                    preemptor->who->user, preemptor->started_s - preemptor->submitted_s, text.text);
}

static void wait_judge(const struct intent_statement *statement, const struct verify_seen *seen,
                       struct verify_result *result)
{
    const struct seen_job *preemptor = &seen->jobs[PREEMPTOR];

    if (is_in_time(statement, seen, VERIFY_WAIT_TOO_LONG, result))
        verify_pass(result, "job %u (%s) started after %.0f s", preemptor->id, preemptor->who->user,
                    preemptor->started_s - preemptor->submitted_s);
}

const struct verify_kind verify_preempt = {"Preempt", preempt_keys, preempt_plan, preempt_probe,
                                           preempt_judge};
const struct verify_kind verify_dedicated = {"Wait", wait_keys, wait_plan, preempt_probe,
                                             wait_judge};
