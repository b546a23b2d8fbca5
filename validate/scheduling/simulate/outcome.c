/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/compare.h"
#include "lib/base/text.h"
#include "lib/constants/policy_constants.h"
#include "validate/scheduling/check.h"
#include "validate/scheduling/simulate/day.h"

/* -------------------------------------------------------------------------- the table */

static int compare(const void *a, const void *b)
{
    return COMPARE(*(const double *)a, *(const double *)b);
}

/* Returns how long the job waited, in the time of the replay. */
static double waited(const struct day *day, const struct day_job *job)
{
    return (isnan(job->started_s) ? day->end_s : job->started_s) - job->submitted_s;
}

/* Returns the account's share of what its parent has, times the parent's; NAN: not known. */
static double entitled(const struct site *site, const char *account)
{
    const struct site_record *own = NULL, *record = NULL;
    const char *parent = NULL;
    double shares = NAN, all = 0;

    if (strcmp(account, "root") == 0)
        return 1;
    while (site_next(site, CLUSTER_ASSOCIATIONS, &own))
        if (!*site_value(own, "User") && strcasecmp(site_value(own, "Account"), account) == 0) {
            parent = site_value(own, "ParentName");
            shares = site_number(site_value(own, "Fairshare"));
        }
    while (parent && *parent && site_next(site, CLUSTER_ASSOCIATIONS, &record)) {
        double theirs = site_number(site_value(record, "Fairshare"));

        if (strcmp(site_parent_name(record), parent) == 0 && isfinite(theirs))
            all += theirs;
    }
    return all > 0 ? shares / all * entitled(site, parent) : NAN;
}

int outcome_sum(const struct day *day, const struct site *site, const char *account,
                const char *qos, struct outcome *outcome)
{
    double *waits = malloc((day->count + 1) * sizeof *waits), used = 0, all = 0;
    size_t count = 0;

    *outcome = (struct outcome){.entitled_share = entitled(site, account)};
    if (!waits)
        return -1;
    for (size_t i = 0; i < day->count; i++) {
        const struct day_job *job = &day->jobs[i];

        all += job->used_s * (double)job->nodes;
        if (strcmp(job->account, account) != 0)
            continue;
        used += job->used_s * (double)job->nodes;
        if (strcmp(job->qos, qos) != 0)
            continue;
        outcome->jobs++;
        if (job->seen.answer != PROBE_ACCEPTED) {
            outcome->refused++;
            continue;
        }
        outcome->never += isnan(job->started_s);
        outcome->finished += strcmp(job->seen.state, "COMPLETED") == 0;
        outcome->preempted +=
            (size_t)job->seen.restarts + (strcmp(job->seen.state, "PREEMPTED") == 0);
        if (isfinite(job->submitted_s))
            waits[count++] = waited(day, job) * day->speed;
    }
    outcome->share = all > 0 ? used / all : 0;
    qsort(waits, count, sizeof *waits, compare);
    for (size_t i = 0; i < 3 && count > 0; i++) /* nearest rank */
        outcome->waited_s[i] = waits[(size_t)ceil((double)count * (double[]){0.5, 0.9, 1}[i]) - 1];
    free(waits);
    return 0;
}

/* -------------------------------------------------------------------------- the statements */

/* The counts of a statement. unclear: broken by less than Slurm itself may take. */
struct tally {
    size_t jobs, limited, broken, unclear;
    const struct day_job *worst;
    double most;
};

/* Returns whether the job is one of who's. Who stands for all jobs that request the same account,
 * QOS and partition, or for its user if it states nothing else. */
static bool is_of(const struct day_job *job, const struct intent_who *who)
{
    bool is_user = !*who->account && !*who->qos && !*who->partition;

    return job->seen.answer == PROBE_ACCEPTED && isfinite(job->submitted_s) &&
           (!*who->account || strcmp(who->account, job->account) == 0) &&
           (!*who->qos || strcmp(who->qos, job->qos) == 0) &&
           (!*who->partition || strcmp(who->partition, job->partition) == 0) &&
           (!is_user || strcmp(who->user, job->user) == 0);
}

/* Counts the job if it is one of who's. Returns whether it counts for the statement: a job that
 * waited for a limit shows nothing else. */
static bool is_counted(const struct day_job *job, const struct intent_who *who, struct tally *tally)
{
    bool is = is_of(job, who);

    tally->limited += is && job->was_limited;
    tally->jobs += is && !job->was_limited;
    return is && !job->was_limited;
}

static void note(struct tally *tally, const struct day_job *job, double value)
{
    tally->broken++;
    if (!tally->worst || value > tally->most) {
        tally->worst = job;
        tally->most = value;
    }
}

/* Returns whether WHO's job could have run in place of the other, which has at least as many nodes,
 * for at least as long, in the same partition and with the same gres. */
static bool could_go_before(const struct day *day, const struct day_job *job,
                            const struct day_job *other)
{
    return strcmp(job->partition, other->partition) == 0 && other->nodes >= job->nodes &&
           strcmp(job->gres, other->gres) == 0 && day_minutes(day, other) >= day_minutes(day, job);
}

static void tally_order(const struct day *day, const struct intent_statement *statement,
                        struct tally *tally)
{
    for (size_t i = 0; i < day->count; i++) {
        const struct day_job *job = &day->jobs[i];
        double started_s = isnan(job->started_s) ? day->end_s : job->started_s, longest = 0;

        if (!is_counted(job, statement->who, tally))
            continue;
        for (size_t k = 0; k < day->count; k++) {
            const struct day_job *other = &day->jobs[k];
            double at_s = other->started_s;

            if (is_of(other, statement->other) && at_s > job->submitted_s + SIMULATE_LATENCY_S &&
                at_s < started_s - SIMULATE_LATENCY_S && could_go_before(day, job, other))
                longest = fmax(longest, started_s - at_s);
        }
        if (longest > 0)
            note(tally, job, longest * day->speed);
    }
}

/* Returns whether the nodes of `other` and those that are free at that time are enough for the job.
 * A job that was requeued counts as if it had its nodes all the time: rather too little room. */
static bool has_room(const struct day *day, const struct site *site, const struct day_job *job,
                     const struct intent_who *other, double at_s)
{
    const struct site_record *own =
        site_find(site, CLUSTER_PARTITIONS, "PartitionName", job->partition);
    long room = own ? strtol(site_value(own, "TotalNodes"), NULL, 10) : 0;

    for (size_t i = 0; own && i < day->count; i++) {
        const struct day_job *one = &day->jobs[i];
        const struct site_record *theirs =
            site_find(site, CLUSTER_PARTITIONS, "PartitionName", one->partition);

        if (one->started_s <= at_s && !(one->ended_s <= at_s) && theirs &&
            site_share_nodes(site, own, theirs) && !is_of(one, other))
            room -= one->nodes;
    }
    return room >= job->nodes;
}

static void tally_wait(const struct day *day, const struct site *site,
                       const struct intent_statement *statement, struct tally *tally)
{
    double within_s = statement->within_s / day->speed;

    for (size_t i = 0; i < day->count; i++) {
        const struct day_job *job = &day->jobs[i];
        double late_s = waited(day, job) - within_s, submitted_s = job->submitted_s;
        const struct intent_who *other = statement->other;

        if (!is_counted(job, statement->who, tally))
            continue;
        if (late_s > 0 ? late_s <= SIMULATE_LATENCY_S : isnan(job->started_s))
            tally->unclear++;
        else if (late_s > 0 && has_room(day, site, job, other, submitted_s) &&
                 has_room(day, site, job, other, submitted_s + within_s) &&
                 has_room(day, site, job, other, submitted_s + within_s + SIMULATE_LATENCY_S))
            note(tally, job, waited(day, job) * day->speed);
    }
}

bool outcome_is_shown(const struct intent_statement *statement)
{
    return statement->kind == &verify_priority || statement->kind == &verify_preempt ||
           statement->kind == &verify_dedicated;
}

struct verify_result outcome_judge(const struct day *day, const struct site *site,
                                   const struct intent_statement *statement)
{
    bool is_order = statement->kind == &verify_priority;
    struct tally tally = {0};

    if (is_order)
        tally_order(day, statement, &tally);
    else
        tally_wait(day, site, statement, &tally);
    if (tally.broken)
        return verify_fail(is_order                             ? VERIFY_ORDER_REVERSED
                           : statement->kind == &verify_preempt ? VERIFY_NOT_PREEMPTED
                                                                : VERIFY_WAIT_TOO_LONG,
                           "%zu of %zu jobs; the worst, of line %d of the day (%s), waited %s%s",
                           tally.broken, tally.jobs, tally.worst->line->number, tally.worst->user,
                           day_duration(tally.most).text,
                           is_order ? " more once another had started" : "");
    if (tally.jobs == 0)
        return verify_not_shown("the day has no such job; %zu waited for limits", tally.limited);
    if (tally.unclear)
        return verify_not_shown("%zu of %zu jobs waited longer by no more than Slurm itself may "
                                "take, %s of the day; repeat with a lower --speed to find out",
                                tally.unclear, tally.jobs,
                                day_duration(SIMULATE_LATENCY_S * day->speed).text);
    return verify_pass("%zu job%s; %zu waited for limits", tally.jobs, text_plural(tally.jobs),
                       tally.limited);
}
