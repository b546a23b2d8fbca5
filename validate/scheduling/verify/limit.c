/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "lib/constants/policy_constants.h"
#include "lib/slurm/slurmconf.h"
#include "validate/scheduling/verify/run.h"

/* Limit=: how much somebody may have: a number of jobs, the length of a job, TRES of one job or of
 * all that run at once. Tries whether the stated amount is granted, and more is not. */

static const struct intent_key keys[] = {
    {"Jobs", "a number of jobs that run at once, 1 to 64", INTENT_ONE, INTENT_COUNT, INTENT_JOBS},
    {"Submit", "a number of jobs that are accepted, 1 to 64", INTENT_ONE, INTENT_COUNT,
     INTENT_SUBMIT},
    {"Wall", "whole minutes as in Slurm: 90, 8:00:00, 7-0", INTENT_ONE, INTENT_MINUTES,
     INTENT_WALL},
    {"TRES", "cpu=N, node=N or gres/NAME=N of all jobs that run at once, N 1 to 64", INTENT_ONE,
     INTENT_TRES, INTENT_TOTAL},
    {"TRESPerJob", "cpu=N, node=N or gres/NAME=N of one job, N 1 to 64", INTENT_ONE, INTENT_TRES,
     INTENT_PER_JOB},
    {NULL},
};

static bool is_tres(const struct intent_statement *statement, const char *tres)
{
    return (statement->limit == INTENT_TOTAL || statement->limit == INTENT_PER_JOB) &&
           strncmp(statement->tres, tres, strlen(tres)) == 0;
}

/* Returns how many of the limited resource a node has; 0: none. */
static long per_node(const struct intent_statement *statement,
                     const struct verify_capacity *capacity)
{
    char kind[64];

    if (is_tres(statement, "node"))
        return 1;
    if (!is_tres(statement, "gres/"))
        return capacity->cpus;
    snprintf(kind, sizeof kind, "%s", statement->tres + 5);
    kind[strcspn(kind, ":")] = '\0';
    return slurm_gres_count(capacity->gres, kind);
}

/* Returns the fewest nodes for a job that requests so much; each has as much of a GRES. */
static long nodes_for(const struct intent_statement *statement, long amount, long each)
{
    long nodes = (amount + each - 1) / each;

    while (is_tres(statement, "gres/") && amount % nodes != 0)
        nodes++;
    return nodes;
}

/* Returns the number that must not be granted: one more than stated. If a GRES would need more
 * nodes than there are for that, the next number that needs no more. */
static long too_many(const struct intent_statement *statement,
                     const struct verify_capacity *capacity, long each)
{
    long amount = statement->amount + 1, most = each > 0 ? (amount + each - 1) / each : 0;

    if (most < capacity->nodes)
        most = capacity->nodes;
    while (each > 0 && is_tres(statement, "gres/") && nodes_for(statement, amount, each) > most)
        amount++;
    return amount;
}

static void limit_plan(const struct intent_statement *statement,
                       const struct verify_capacity *capacity, struct verify_plan *plan)
{
    static const char *const what[INTENT_LIMITS] = {
        [INTENT_JOBS] = "jobs at once", [INTENT_SUBMIT] = "jobs submitted",
        [INTENT_WALL] = "minutes",      [INTENT_TOTAL] = "at once",
        [INTENT_PER_JOB] = "in a job",
    };
    long each = per_node(statement, capacity), amount = statement->amount, over = amount + 1;

    if (statement->limit == INTENT_PER_JOB)
        over = too_many(statement, capacity, each);
    plan->most_s = VERIFY_SETTLE_S + VERIFY_END_S;
    if (statement->limit == INTENT_PER_JOB && is_tres(statement, "gres/"))
        plan->most_s += VERIFY_END_S; /* of the job without the GRES */
    plan->nodes = 1;
    if (statement->limit != INTENT_WALL && statement->limit != INTENT_SUBMIT && each <= 0) {
        plan->nodes = -1;
    } else if (statement->limit == INTENT_TOTAL && amount >= each) {
        plan->nodes = nodes_for(statement, amount, each) + 1;
    } else if (statement->limit == INTENT_JOBS || statement->limit == INTENT_PER_JOB) {
        long within_nodes = nodes_for(statement, amount, each),
             over_nodes = nodes_for(statement, over, each);

        plan->nodes = over_nodes > within_nodes ? over_nodes : within_nodes;
    }
    snprintf(plan->doing, sizeof plan->doing, "%s has %ld %s%s%s, and not %ld",
             statement->who->user, amount, statement->tres, *statement->tres ? " " : "",
             what[statement->limit], over);
}

/* Submits a job on so many nodes that requests so many of the limited resource. */
static void submit_on(struct verify_run *run, const struct intent_statement *statement, long nodes,
                      long amount, struct verify_seen *seen)
{
    struct verify_ask ask = {.minutes = VERIFY_LIMIT_MIN, .nodes = (int)nodes, .cpus = (int)nodes};
    char gres[96];

    if (nodes > 1 && amount % nodes != 0 && statement->limit == INTENT_TOTAL) {
        snprintf(seen->not_shown, sizeof seen->not_shown,
                 "%ld %s are not the same number on each of %ld nodes", amount, statement->tres,
                 nodes);
        return;
    }
    if (is_tres(statement, "cpu"))
        ask.cpus = (int)amount;
    if (is_tres(statement, "node")) /* whole nodes: two jobs on one may count as one node */
        ask.cpus = (int)(nodes * verify_capacity_of(run)->cpus);
    if (is_tres(statement, "gres/") && amount > 0) {
        snprintf(gres, sizeof gres, "%s:%ld", statement->tres + 5, amount / nodes);
        ask.gres = gres;
    }
    verify_submit(run, statement->who, &ask, seen);
}

static void submit_amount(struct verify_run *run, const struct intent_statement *statement,
                          long amount, struct verify_seen *seen)
{
    long each = per_node(statement, verify_capacity_of(run));

    submit_on(run, statement, nodes_for(statement, amount, each), amount, seen);
}

/* Submits a refused job without its GRES: Slurm does not name the limit for which it refuses a job,
 * and if it refuses this one as well, that is another limit. */
static void rule_out_others(struct verify_run *run, const struct intent_statement *statement,
                            long amount, struct verify_seen *seen)
{
    long each = per_node(statement, verify_capacity_of(run)),
         nodes = nodes_for(statement, amount, each);
    struct seen_job *job = &seen->jobs[seen->count];
    size_t count = seen->count;

    submit_on(run, statement, nodes, 0, seen);
    if (seen->count > count && job->answer == PROBE_ACCEPTED)
        verify_end(run, job);
    else if (seen->count > count)
        text_put(seen->not_shown, sizeof seen->not_shown, "%ld node%s without %s: %s", nodes,
                 text_plural(nodes), statement->tres, seen_describe(job).text);
    seen->count = count;
}

static bool all_settled(const struct verify_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++)
        if (!seen_is_settled(&seen->jobs[i]))
            return false;
    return true;
}

/* Returns whether the last job has been decided about, and those before it run or never will. */
static bool is_last_decided(const struct verify_seen *seen)
{
    for (size_t i = 0; i + 1 < seen->count; i++)
        if (!seen_is_running(&seen->jobs[i]) && !seen_is_limited(&seen->jobs[i]))
            return false;
    return all_settled(seen);
}

/* Submits a job with too much, then one with the stated amount: the first does not block the
 * second. */
static void probe_one_job(struct verify_run *run, const struct intent_statement *statement,
                          struct verify_seen *seen)
{
    bool is_wall = statement->limit == INTENT_WALL;
    const struct verify_capacity *capacity = verify_capacity_of(run);

    seen->amounts[0] = is_wall ? statement->amount + 1
                               : too_many(statement, capacity, per_node(statement, capacity));
    seen->amounts[1] = statement->amount;
    for (int i = 0; i < 2; i++) {
        if (is_wall)
            verify_submit(run, statement->who,
                          &(struct verify_ask){.minutes = (int)seen->amounts[i]}, seen);
        else
            submit_amount(run, statement, seen->amounts[i], seen);
        verify_wait(run, VERIFY_SETTLE_S / 2, seen, all_settled);
    }
    for (size_t i = 0; is_tres(statement, "gres/") && i < seen->count; i++)
        if (seen->jobs[i].answer == PROBE_LIMITED)
            rule_out_others(run, statement, seen->amounts[i], seen);
}

static void limit_probe(struct verify_run *run, const struct intent_statement *statement,
                        struct verify_seen *seen)
{
    const struct verify_ask one = {.minutes = VERIFY_LIMIT_MIN,
                                   .is_later = statement->limit == INTENT_SUBMIT};

    switch (statement->limit) {
    case INTENT_JOBS:
    case INTENT_SUBMIT:
        for (long i = 0; i <= statement->amount && verify_submit(run, statement->who, &one, seen);)
            i++;
        break;
    case INTENT_TOTAL:
        submit_amount(run, statement, statement->amount, seen);
        submit_amount(run, statement, 1, seen);
        break;
    default:
        probe_one_job(run, statement, seen);
        return;
    }
    if (statement->limit == INTENT_SUBMIT)
        verify_wait(run, 0, seen, all_settled);
    else
        verify_wait(run, VERIFY_SETTLE_S, seen, is_last_decided);
}

/* Returns whether others' jobs may be the reason: they count towards a limit of a group, and a
 * submission that is refused has no reason that names the limit. */
static bool may_be_others(const struct seen_job *job, const struct verify_seen *seen)
{
    return seen->other_jobs > 0 && (seen_is_of_group(job) || job->answer == PROBE_LIMITED);
}

static void judge_below(const struct seen_job *job, const struct verify_seen *seen, size_t granted,
                        struct verify_result *result)
{
    struct text_line text = seen_describe(job);

    if (may_be_others(job, seen))
        verify_not_shown(result, "%s; %zu jobs of other users may count against that limit",
                         text.text, seen->other_jobs);
    else
        verify_fail(result, VERIFY_LIMIT_BELOW, "%zu of %zu jobs were granted: %s", granted,
                    seen->count - 1, text.text);
}

/* Judges jobs that were submitted one by one: all but the last must be granted. */
static void judge_together(const struct intent_statement *statement, const struct verify_seen *seen,
                           struct verify_result *result)
{
    const struct seen_job *last = &seen->jobs[seen->count - 1];
    bool is_submit = statement->limit == INTENT_SUBMIT;
    struct text_line text;

    for (size_t i = 0; i + 1 < seen->count; i++) {
        const struct seen_job *job = &seen->jobs[i];
        bool is_granted = is_submit ? job->answer == PROBE_ACCEPTED : seen_is_running(job);

        text = seen_describe(job);
        if (is_submit ? !is_granted : seen_is_limited(job)) {
            judge_below(job, seen, i, result);
            return;
        }
        if (!is_granted) {
            verify_not_shown(result, "%s", text.text);
            return;
        }
    }
    text = seen_describe(last);
    if (is_submit ? last->answer == PROBE_LIMITED : seen_is_limited(last))
        verify_pass(result, "%zu job%s granted, then %s", seen->count - 1,
                    text_plural(seen->count - 1), text.text);
    else if (is_submit ? last->answer == PROBE_ACCEPTED : seen_is_running(last))
        verify_fail(result, VERIFY_LIMIT_PASSED, "one more than stated was granted: %s", text.text);
    else
        verify_not_shown(result, "%s", text.text);
}

/* Judges two jobs: the first requests too much, the second the stated amount. */
static void judge_one_job(const struct verify_seen *seen, struct verify_result *result)
{
    long more = seen->amounts[0] - seen->amounts[1];
    const struct seen_job *over = &seen->jobs[0], *within = &seen->jobs[1];
    struct text_line text[] = {seen_describe(over), seen_describe(within)};

    if (seen_is_limited(within) && may_be_others(within, seen))
        verify_not_shown(result, "%s; %zu jobs of other users may count against that limit",
                         text[1].text, seen->other_jobs);
    else if (seen_is_limited(within))
        verify_fail(result, VERIFY_LIMIT_BELOW, "the stated amount is not granted: %s",
                    text[1].text);
    else if (!seen_is_settled(over))
        verify_not_shown(result, "%s", text[0].text);
    else if (!seen_is_limited(over))
        verify_fail(result, VERIFY_LIMIT_PASSED, "%ld more than stated is not limited: %s", more,
                    text[0].text);
    else if (!seen_is_settled(within))
        verify_not_shown(result, "%s", text[1].text);
    else
        verify_pass(result,
                    "%ld more than stated is refused: %s; the stated amount is not limited: %s",
                    more, text[0].text, text[1].text);
}

/* Returns the first job that a limit of something else than the GRES keeps waiting; NULL: none. */
static const struct seen_job *held_by_other(const struct intent_statement *statement,
                                            const struct verify_seen *seen)
{
    for (size_t i = 0; is_tres(statement, "gres/") && i < seen->count; i++)
        if (seen_is_limited(&seen->jobs[i]) && seen->jobs[i].answer == PROBE_ACCEPTED &&
            !seen_is_of_gres(&seen->jobs[i]))
            return &seen->jobs[i];
    return NULL;
}

static void limit_judge(const struct intent_statement *statement, const struct verify_seen *seen,
                        struct verify_result *result)
{
    const struct seen_job *other = held_by_other(statement, seen);

    if (other)
        verify_not_shown(result, "%s", seen_describe(other).text);
    else if (seen->count < 2)
        verify_not_shown(result, "no job was submitted");
    else if (statement->limit == INTENT_WALL || statement->limit == INTENT_PER_JOB)
        judge_one_job(seen, result);
    else
        judge_together(statement, seen, result);
}

const struct verify_kind verify_limit = {"Limit", keys, limit_plan, limit_probe, limit_judge};
