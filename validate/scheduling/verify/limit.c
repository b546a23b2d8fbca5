/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <math.h>
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

/* What is limited. Slurm names the limit of a job that waits, not that of one that it refuses.
 * least: what a job has that has as little of it as possible; reasons: of jobs that wait for a
 * limit of it, for seen_waits_for(). */
enum resource { CPU, NODE, GRES, MINUTES, JOB, SUBMISSION };

static const struct {
    const char *least;
    const char *reasons[5];
} resources[] = {
    [CPU] = {"with a CPU each", {"*GrpCpuLimit", "*MaxCpuPer*Limit", "MaxCpuPerAccount"}},
    [NODE] = {"with as many CPUs",
              {"*GrpNodeLimit", "*MaxNodePer*Limit", "MaxNodePerAccount", "PartitionNodeLimit"}},
    [GRES] = {"without the GRES",
              {"*GrpGRES", "*MaxGRESPerJob", "*MaxGRESPerUser", "MaxGRESPerAccount"}},
    [MINUTES] = {"for a minute", {"*MaxWallDurationPerJobLimit", "PartitionTimeLimit"}},
    [JOB] = {"", {"Assoc*", "Max*", "QOSGrp*", "QOSMax*"}},
    [SUBMISSION] = {"", {"*"}},
};

static enum resource resource_of(const struct intent_statement *statement)
{
    if (statement->limit == INTENT_WALL)
        return MINUTES;
    if (statement->limit == INTENT_JOBS || statement->limit == INTENT_SUBMIT)
        return statement->limit == INTENT_JOBS ? JOB : SUBMISSION;
    return strcmp(statement->tres, "cpu") == 0    ? CPU
           : strcmp(statement->tres, "node") == 0 ? NODE
                                                  : GRES;
}

/* Returns how many of the limited resource a node has; 0: none. */
static long per_node(const struct intent_statement *statement,
                     const struct verify_capacity *capacity)
{
    char kind[64];

    switch (resource_of(statement)) {
    case NODE:
        return 1;
    case GRES:
        snprintf(kind, sizeof kind, "%s", statement->tres + 5);
        kind[strcspn(kind, ":")] = '\0';
        return slurm_gres_count(capacity->gres, kind);
    case MINUTES:
    case SUBMISSION:
        return INT_MAX;
    default:
        return capacity->cpus;
    }
}

/* Returns the fewest nodes for a job that requests so much; each has as much of a GRES. */
static long nodes_for(const struct intent_statement *statement, long amount, long each)
{
    long nodes = (amount + each - 1) / each;

    while (resource_of(statement) == GRES && amount % nodes != 0)
        nodes++;
    return nodes;
}

/* Returns the number that must not be granted: one more than stated. If a GRES would need more
 * nodes than there are for that in one job, the next number that needs no more. */
static long too_many(const struct intent_statement *statement,
                     const struct verify_capacity *capacity, long each)
{
    long amount = statement->amount + 1, most = capacity->nodes;

    if (each <= 0 || statement->limit != INTENT_PER_JOB)
        return amount;
    if (most < (amount + each - 1) / each)
        most = (amount + each - 1) / each;
    while (nodes_for(statement, amount, each) > most)
        amount++;
    return amount;
}

static struct verify_plan limit_plan(const struct intent_statement *statement,
                                     const struct verify_capacity *capacity)
{
    static const char *const what[INTENT_LIMITS] = {
        [INTENT_JOBS] = "jobs at once", [INTENT_SUBMIT] = "jobs submitted",
        [INTENT_WALL] = "minutes",      [INTENT_TOTAL] = "at once",
        [INTENT_PER_JOB] = "in a job",
    };
    enum resource resource = resource_of(statement);
    long each = per_node(statement, capacity), amount = statement->amount,
         over = too_many(statement, capacity, each);
    struct verify_plan plan = {1, VERIFY_SETTLE_S + VERIFY_END_S,
                               text_line("%s has %ld %s%s%s, and not %ld", statement->who->user,
                                         amount, statement->tres, *statement->tres ? " " : "",
                                         what[statement->limit], over)};

    if (resource != JOB && resource != SUBMISSION) /* a job, and two to rule out other limits */
        plan.most_s += VERIFY_SETTLE_S + 3 * VERIFY_END_S;
    if (each <= 0)
        plan.nodes = -1;
    else if (statement->limit != INTENT_TOTAL)
        plan.nodes = (long)fmax((double)nodes_for(statement, amount, each),
                                (double)nodes_for(statement, over, each));
    else if (amount >= each)
        plan.nodes = nodes_for(statement, amount, each) + 1;
    return plan;
}

/* Returns what a job on so many nodes requests for so much of the resource; gres: room for a text.
 */
static struct verify_ask amount_request(const struct intent_statement *statement,
                                        const struct verify_capacity *capacity, long amount,
                                        long nodes, char gres[96])
{
    enum resource resource = resource_of(statement);
    struct verify_ask ask = {.minutes = VERIFY_LIMIT_MIN, .nodes = (int)nodes, .cpus = (int)nodes};

    if (resource == CPU)
        ask.cpus = (int)amount;
    if (statement->limit == INTENT_TOTAL && resource == NODE)
        ask.cpus *= (int)capacity->cpus; /* whole ones: two jobs on a node may count as one */
    if (resource == GRES) {
        snprintf(gres, 96, "%s:%ld", statement->tres + 5, amount / nodes);
        ask.gres = gres;
    }
    if (resource == MINUTES)
        ask.minutes = (int)amount;
    return ask;
}

/* Submits a job that requests so much; if it is refused, one that has it on more nodes, because a
 * limit of a node may be the reason. If that is refused, too, submits another with the least of the
 * resource: if Slurm refuses that one as well, another limit is the reason. */
static void submit_amount(struct verify_run *run, const struct intent_statement *statement,
                          long amount, struct verify_seen *seen)
{
    const struct verify_capacity *capacity = verify_capacity_of(run);
    enum resource resource = resource_of(statement);
    long nodes = nodes_for(statement, amount, per_node(statement, capacity));
    char gres[2][96];
    struct verify_ask ask = amount_request(statement, capacity, amount, nodes, gres[0]), spread;
    struct seen_job *job = verify_submit(run, statement->who, &ask, seen), refused;

    if (!job || job->answer != PROBE_LIMITED)
        return;
    if ((resource == CPU || resource == GRES) && nodes < amount) {
        refused = *job;
        seen->count--;
        spread = amount_request(statement, capacity, amount,
                                nodes_for(statement, amount, (amount - 1) / nodes), gres[1]);
        job = verify_submit(run, statement->who, &spread, seen);
        if (!job || job->answer == PROBE_ACCEPTED)
            return;
        *job = refused;
    }
    if (resource == CPU)
        ask.cpus = ask.nodes;
    if (resource == NODE)
        ask.nodes = (int)((ask.cpus + capacity->cpus - 1) / capacity->cpus);
    if (resource == MINUTES)
        ask.minutes = 1;
    ask.gres = NULL;
    job = verify_submit(run, statement->who, &ask, seen);
    if (!job)
        return;
    if (job->answer == PROBE_ACCEPTED)
        verify_end(run, job);
    else
        text_put(seen->not_shown, sizeof seen->not_shown, "%d node%s %s: %s", ask.nodes,
                 text_plural((size_t)ask.nodes), resources[resource].least,
                 seen_describe(job).text);
    seen->count--;
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

/* Submits a job with too much, ends it, and submits one with the stated amount: no limit counts the
 * first against the second. */
static void probe_one_job(struct verify_run *run, const struct intent_statement *statement,
                          struct verify_seen *seen)
{
    const struct verify_capacity *capacity = verify_capacity_of(run);

    seen->amounts[0] = too_many(statement, capacity, per_node(statement, capacity));
    seen->amounts[1] = statement->amount;
    for (int i = 0; i < 2; i++) {
        submit_amount(run, statement, seen->amounts[i], seen);
        if (*seen->not_shown)
            return;
        verify_wait(run, VERIFY_SETTLE_S, seen,
                    statement->limit == INTENT_WALL ? all_settled : seen_last_is_decided);
        if (i == 0)
            verify_end(run, &seen->jobs[0]);
    }
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

/* Returns whether others' jobs may be the reason: they count towards the limits of a QOS, and of an
 * account. A refused job names no limit: of those only the number of submitted jobs counts others.
 */
static bool may_be_others(const struct intent_statement *statement, const struct verify_seen *seen,
                          const struct seen_job *job)
{
    static const char *const shared[] = {"QOSGrp*", "Max*PerAccount", NULL}, *const of_account[] = {
                                                                                 "AssocGrp*", NULL};
    bool is_counted = statement->limit == INTENT_JOBS || statement->limit == INTENT_SUBMIT;

    return seen->other_jobs > 0 &&
           (seen_waits_for(job, shared) ||
            (seen->is_group_limited &&
             (seen_waits_for(job, of_account) || (is_counted && job->answer == PROBE_LIMITED))));
}

/* Returns the result if a limit kept a job from being granted that is within the statement. */
static struct verify_result judge_below(const struct verify_seen *seen, const struct seen_job *job,
                                        size_t granted)
{
    return verify_fail(VERIFY_LIMIT_BELOW, "%zu of %zu stated jobs were granted: %s", granted,
                       seen->count - 1, seen_describe(job).text);
}

/* Returns whether no limit holds the job. One of TRES must run: while it waits for nodes its limits
 * may not have been compared. One of a time may be longer than the reservation, and never start. */
static bool is_granted(const struct intent_statement *statement, const struct seen_job *job)
{
    if (statement->limit == INTENT_SUBMIT)
        return job->answer == PROBE_ACCEPTED;
    return seen_is_running(job) || (statement->limit == INTENT_WALL && seen_is_settled(job) &&
                                    job->answer == PROBE_ACCEPTED && !seen_is_limited(job));
}

/* Judges jobs that were submitted one by one: all but the last must be granted. */
static struct verify_result judge_together(const struct intent_statement *statement,
                                           const struct verify_seen *seen)
{
    size_t last = seen->count - 1;

    for (size_t i = 0; i <= last; i++) {
        const struct seen_job *job = &seen->jobs[i];
        struct text_line text = seen_describe(job);

        if (is_granted(statement, job))
            continue;
        if (!seen_is_limited(job))
            return verify_not_shown("%s", text.text);
        if (i < last)
            return judge_below(seen, job, i);
        return verify_pass("%zu job%s granted, then %s", last, text_plural(last), text.text);
    }
    return verify_fail(VERIFY_LIMIT_PASSED, "one more than stated was granted: %s",
                       seen_describe(&seen->jobs[last]).text);
}

/* Judges two jobs: the first requests too much, the second the stated amount. */
static struct verify_result judge_one_job(const struct intent_statement *statement,
                                          const struct verify_seen *seen)
{
    long more = seen->amounts[0] - seen->amounts[1];
    const struct seen_job *over = &seen->jobs[0], *within = &seen->jobs[1];
    struct text_line text[] = {seen_describe(over), seen_describe(within)};

    if (seen_is_limited(within))
        return judge_below(seen, within, 0);
    if (is_granted(statement, over))
        return verify_fail(VERIFY_LIMIT_PASSED, "%ld more than stated is not limited: %s", more,
                           text[0].text);
    if (!seen_is_limited(over))
        return verify_not_shown("%s", text[0].text);
    if (!is_granted(statement, within))
        return verify_not_shown("%s", text[1].text);
    return verify_pass("%ld more than stated is refused: %s; the stated amount is not limited: %s",
                       more, text[0].text, text[1].text);
}

static struct verify_result limit_judge(const struct intent_statement *statement,
                                        const struct verify_seen *seen)
{
    for (size_t i = 0; i < seen->count; i++) {
        const struct seen_job *job = &seen->jobs[i];

        if (seen_is_limited(job) && job->answer == PROBE_ACCEPTED &&
            !seen_waits_for(job, resources[resource_of(statement)].reasons))
            return verify_not_shown("%s", seen_describe(job).text);
        if (may_be_others(statement, seen, job))
            return verify_not_shown("%s; %zu jobs of other users may count against that limit",
                                    seen_describe(job).text, seen->other_jobs);
    }
    return statement->limit == INTENT_WALL || statement->limit == INTENT_PER_JOB
               ? judge_one_job(statement, seen)
               : judge_together(statement, seen);
}

const struct verify_kind verify_limit = {"Limit", keys, limit_plan, limit_probe, limit_judge};
