/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/scheduling/verify/run.h"

/* Reserved=: a reservation of the site accepts jobs of its users, and no jobs of others.
 * Neither job may begin before an hour has passed, and both are canceled at once: nothing runs
 * there. */

static const struct intent_key keys[] = {
    {"Reservation", "the name of a reservation", INTENT_NEEDED, INTENT_RESERVATION},
    {"Not", "the name of another Who= line, who may not use it", INTENT_OPTIONAL, INTENT_OTHER},
    {NULL},
};

static struct verify_plan reserved_plan(const struct intent_statement *statement,
                                        const struct verify_capacity *capacity)
{
    const struct intent_who *other = statement->other;

    (void)capacity;
    return (struct verify_plan){
        1, VERIFY_END_S,
        text_line("reservation %s takes a job of %s%s%s, and none is started",
                  statement->reservation, statement->who->user, other ? " and none of " : "",
                  other ? other->user : "")};
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

static struct verify_result reserved_judge(const struct intent_statement *statement,
                                           const struct verify_seen *seen)
{
    const struct seen_job *own = &seen->jobs[0], *other = &seen->jobs[1];

    if (own->answer == PROBE_DENIED)
        return verify_fail(VERIFY_RESERVATION_CLOSED, "%s", seen_describe(own).text);
    if (own->answer != PROBE_ACCEPTED)
        return verify_not_shown("%s", seen_describe(own).text);
    if (!statement->other)
        return verify_pass("job %u (%s) is accepted", own->id, own->who->user);
    if (other->answer == PROBE_ACCEPTED)
        return verify_fail(VERIFY_RESERVATION_OPEN, "job %u (%s) is accepted", other->id,
                           other->who->user);
    if (other->answer != PROBE_DENIED)
        return verify_not_shown("%s", seen_describe(other).text);
    return verify_pass("job %u (%s) is accepted, and %s", own->id, own->who->user,
                       seen_describe(other).text);
}

const struct verify_kind verify_reserved = {"Reserved", keys, reserved_plan, reserved_probe,
                                            reserved_judge};
