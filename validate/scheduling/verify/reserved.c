/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "validate/scheduling/verify/run.h"

/* Reserved=: a reservation of the site accepts jobs of its users, and no jobs of others.
 * Neither job may begin before an hour has passed, and both are canceled at once: nothing runs
 * there. */

static const struct intent_key keys[] = {
    {"Reservation", "the name of a reservation", INTENT_NEEDED, INTENT_RESERVATION},
    {"Not", "the name of another Who= line, who may not use it", INTENT_OPTIONAL, INTENT_OTHER},
    {NULL},
};

static void reserved_plan(const struct intent_statement *statement,
                          const struct verify_capacity *capacity, struct verify_plan *plan)
{
    const struct intent_who *other = statement->other;

    (void)capacity;
    plan->nodes = 1;
    plan->most_s = VERIFY_END_S;
    snprintf(plan->doing, sizeof plan->doing,
             "reservation %s takes a job of %s%s%s, and none is started", statement->reservation,
             statement->who->user, other ? " and none of " : "", other ? other->user : "");
}

static void reserved_probe(struct verify_run *run, const struct intent_statement *statement,
                           struct verify_seen *seen)
{
    const struct verify_ask ask = {
        .reservation = statement->reservation, .minutes = 1, .is_later = true};

    if (verify_submit(run, statement->who, &ask, seen) && statement->other)
        verify_submit(run, statement->other, &ask, seen);
    verify_wait(run, 0, seen, NULL);
}

static void reserved_judge(const struct intent_statement *statement, const struct verify_seen *seen,
                           struct verify_result *result)
{
    const struct seen_job *own = &seen->jobs[0], *other = &seen->jobs[1];

    if (own->answer == PROBE_DENIED)
        verify_fail(result, VERIFY_RESERVATION_CLOSED, "%s", seen_describe(own).text);
    else if (own->answer != PROBE_ACCEPTED)
        verify_not_shown(result, "%s", seen_describe(own).text);
    else if (!statement->other)
        verify_pass(result, "job %u (%s) is accepted", own->id, own->who->user);
    else if (other->answer == PROBE_ACCEPTED)
        verify_fail(result, VERIFY_RESERVATION_OPEN, "job %u (%s) is accepted", other->id,
                    other->who->user);
    else if (other->answer != PROBE_DENIED)
        verify_not_shown(result, "%s", seen_describe(other).text);
    else
        verify_pass(result, "job %u (%s) is accepted, and %s", own->id, own->who->user,
                    seen_describe(other).text);
}

const struct verify_kind verify_reserved = {"Reserved", keys, reserved_plan, reserved_probe,
                                            reserved_judge};
