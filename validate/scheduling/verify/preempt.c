/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
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

static struct verify_plan preempt_plan(const struct intent_statement *statement,
                                       const struct verify_capacity *capacity)
{
    (void)capacity;
    return (struct verify_plan){
        1, VERIFY_SETTLE_S + statement->within_s + VERIFY_MARGIN_S + VERIFY_END_S,
        text_line(statement->kind == &verify_preempt
                      ? "a job of %s takes the place of one of %s in %.0f s"
                      : "a job of %s starts while one of %s has the node, in %.0f s",
                  statement->who->user, statement->other->user, statement->within_s)};
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

/* Returns what is wrong with the start of the second job, or how long it waited. */
static struct verify_result judge_start(const struct intent_statement *statement,
                                        const struct verify_seen *seen, enum verify_code code)
{
    const struct seen_job *preemptor = &seen->jobs[PREEMPTOR];
    double waited_s = preemptor->started_s - preemptor->submitted_s;

    if (seen_is_limited(preemptor))
        return verify_not_shown("%s", seen_describe(preemptor).text);
    if (!seen_is_running(preemptor))
        return verify_fail(code, "not within %.0f s: %s", statement->within_s,
                           seen_describe(preemptor).text);
    if (waited_s > statement->within_s)
        return verify_fail(code, "job %u (%s) started after %.0f s, stated are %.0f s",
                           preemptor->id, preemptor->who->user, waited_s, statement->within_s);
    return verify_pass("job %u (%s) started after %.0f s", preemptor->id, preemptor->who->user,
                       waited_s);
}

static enum intent_mode mode_of(const struct seen_job *victim)
{
    if (strcmp(victim->state, "SUSPENDED") == 0)
        return INTENT_SUSPEND;
    return seen_is_pending(victim) || victim->restarts > 0 ? INTENT_REQUEUE : INTENT_CANCEL;
}

static struct verify_result preempt_judge(const struct intent_statement *statement,
                                          const struct verify_seen *seen)
{
    const struct seen_job *victim = &seen->jobs[VICTIM], *preemptor = &seen->jobs[PREEMPTOR];
    struct text_line text = seen_describe(victim);
    struct verify_result start = judge_start(statement, seen, VERIFY_NOT_PREEMPTED);

    if (start.verdict != VERDICT_PASS)
        return start;
    if (seen_is_running(victim))
        return verify_fail(VERIFY_NOT_PREEMPTED, "job %u (%s) runs at the same time: %s",
                           preemptor->id, preemptor->who->user, text.text);
    if (statement->mode != INTENT_ANY_MODE && mode_of(victim) != statement->mode)
        return verify_fail(VERIFY_PREEMPT_MODE, "%s, and has restarted %d times", text.text,
                           victim->restarts);
    return verify_pass("%s, and %s", start.found, text.text);
}

static struct verify_result wait_judge(const struct intent_statement *statement,
                                       const struct verify_seen *seen)
{
    return judge_start(statement, seen, VERIFY_WAIT_TOO_LONG);
}

const struct verify_kind verify_preempt = {"Preempt", preempt_keys, preempt_plan, preempt_probe,
                                           preempt_judge};
const struct verify_kind verify_dedicated = {"Wait", wait_keys, preempt_plan, preempt_probe,
                                             wait_judge};
