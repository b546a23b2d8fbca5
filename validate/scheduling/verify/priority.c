/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/constants/policy_constants.h"
#include "validate/scheduling/verify/run.h"

/* Priority=: who goes before whom. Two jobs wait behind a job that has the node; the
 * other's is submitted first; sprio shows the factors of their priorities. Then the node becomes
 * free, and one of them is the first to start. */

static const struct intent_key keys[] = {
    {"Above", "the name of another Who= line", INTENT_NEEDED, INTENT_OTHER},
    {NULL},
};

enum { HOLDS, BEHIND, BEFORE }; /* the jobs: who's, which has the node; the other's; who's second */

static struct verify_plan priority_plan(const struct intent_statement *statement,
                                        const struct verify_capacity *capacity)
{
    (void)capacity;
    return (struct verify_plan){1, 3 * VERIFY_SETTLE_S + 2 * VERIFY_END_S,
                                text_line("of two jobs that wait %s's starts before %s's",
                                          statement->who->user, statement->other->user)};
}

static bool has_begun(const struct seen_job *job)
{
    return *job->state && !seen_is_pending(job);
}

static bool is_decided(const struct verify_seen *seen)
{
    return has_begun(&seen->jobs[BEHIND]) || has_begun(&seen->jobs[BEFORE]);
}

/* Returns whether the scheduler has looked at both jobs, or one has begun. */
static bool both_wait(const struct verify_seen *seen)
{
    return is_decided(seen) ||
           (seen_is_considered(&seen->jobs[BEHIND]) && seen_is_considered(&seen->jobs[BEFORE]));
}

static void priority_probe(struct verify_run *run, const struct intent_statement *statement,
                           struct verify_seen *seen)
{
    const struct verify_ask whole = {.minutes = VERIFY_PRIORITY_MIN, .is_exclusive = true};

    if (!verify_occupy(run, statement->who, VERIFY_PRIORITY_MIN, seen) ||
        !verify_submit(run, statement->other, &whole, seen) ||
        !verify_submit(run, statement->who, &whole, seen))
        return;
    verify_wait(run, VERIFY_SETTLE_S, seen, both_wait);
    if (is_decided(seen))
        return;
    verify_factors(&seen->jobs[BEHIND]);
    verify_factors(&seen->jobs[BEFORE]);
    verify_end(run, &seen->jobs[HOLDS]);
    verify_wait(run, VERIFY_SETTLE_S, seen, is_decided);
}

/* Returns what speaks most for the job that is to go behind: "; what counts most for NAME is
 * FairShare, 9000 to 120"; "": not known. */
static struct text_line largest(const struct seen_job *behind, const struct seen_job *before)
{
    struct text_line text = {""};
    long most = 0;

    for (int i = 0; i < SEEN_FACTORS && behind->has_factors && before->has_factors; i++)
        if (behind->factors[i] - before->factors[i] > most) {
            most = behind->factors[i] - before->factors[i];
            text = text_line("; what counts most for %s is %s, %ld to %ld", behind->who->name,
                             seen_factor_names[i], behind->factors[i], before->factors[i]);
        }
    return text;
}

static struct verify_result priority_judge(const struct intent_statement *statement,
                                           const struct verify_seen *seen)
{
    const struct seen_job *behind = &seen->jobs[BEHIND], *before = &seen->jobs[BEFORE];

    (void)statement;
    for (int i = BEHIND; i <= BEFORE; i++)
        if (seen_is_limited(&seen->jobs[i]) || !*seen->jobs[i].state)
            return verify_not_shown("%s", seen_describe(&seen->jobs[i]).text);
    if (has_begun(behind) && (!has_begun(before) || behind->started_s < before->started_s))
        return verify_fail(VERIFY_ORDER_REVERSED,
                           "job %u of %s started first, priority %ld; job %u of %s has %ld%s",
                           behind->id, behind->who->name, behind->priority, before->id,
                           before->who->name, before->priority, largest(behind, before).text);
    if (before->priority <= behind->priority)
        return verify_fail(VERIFY_ORDER_REVERSED,
                           "job %u of %s has priority %ld, job %u of %s has %ld%s", before->id,
                           before->who->name, before->priority, behind->id, behind->who->name,
                           behind->priority, largest(behind, before).text);
    if (!has_begun(before))
        return verify_not_shown("no job started: %s", seen_describe(before).text);
    return verify_pass("job %u of %s, priority %ld, started before job %u of %s with %ld",
                       before->id, before->who->name, before->priority, behind->id,
                       behind->who->name, behind->priority);
}

const struct verify_kind verify_priority = {"Priority", keys, priority_plan, priority_probe,
                                            priority_judge};
