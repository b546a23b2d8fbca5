/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/scheduling/verify/seen.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/text.h"
#include "lib/constants/policy_constants.h"

const char *const seen_factor_names[SEEN_FACTORS] = {
    [SEEN_AGE] = "Age",         [SEEN_FAIRSHARE] = "FairShare",
    [SEEN_JOBSIZE] = "JobSize", [SEEN_PARTITION] = "Partition",
    [SEEN_QOS] = "QOS",         [SEEN_TRES] = "TRES",
};

/* Patterns of the reasons that are limits, as Slurm names them (enum job_state_reason). */
static const char *const limits[] = {"Assoc*",      "QOSMax*",         "QOSMin*",
                                     "QOSGrp*",     "QOS*Limit",       "Max*PerAccount",
                                     "Max*PerUser", "Partition*Limit", NULL};
static const char *const later[] = {"BeginTime", NULL};

/* Reasons of jobs that the scheduler has not looked at, or that are behind another. */
static const char *const turns[] = {"", "None", "Priority"};
enum { TURNS_UNSEEN = 2 }; /* the first of these */

static double time_read(const struct slurm_line *line, const char *key)
{
    struct tm tm = {.tm_isdst = 0};
    char text[64];

    if (!slurm_line_value(line, key, text, sizeof text) ||
        !strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        return NAN;
    return (double)timegm(&tm);
}

static long number_read(const struct slurm_line *line, const char *key)
{
    char text[32];

    return slurm_line_value(line, key, text, sizeof text) ? strtol(text, NULL, 10) : 0;
}

int seen_job_read(const char *text, struct seen_job *job)
{
    const struct slurm_line line = {.text = (char *)(uintptr_t)text};
    struct seen_job read = *job;

    if (!slurm_line_value(&line, "JobState", read.state, sizeof read.state))
        return -1;
    slurm_line_value(&line, "Reason", read.reason, sizeof read.reason);
    read.priority = number_read(&line, "Priority");
    read.restarts = (int)number_read(&line, "Restarts");
    read.submitted_s = time_read(&line, "SubmitTime");
    read.started_s = time_read(&line, "StartTime");
    read.ended_s = time_read(&line, "EndTime");
    *job = read;
    return 0;
}

int seen_factors_read(const char *text, struct seen_job *job)
{
    const struct slurm_line line = {.text = (char *)(uintptr_t)text};
    char value[32];

    if (!slurm_line_value(&line, "Priority", value, sizeof value))
        return -1;
    job->has_factors = true;
    for (int i = 0; i < SEEN_FACTORS; i++)
        job->factors[i] = number_read(&line, seen_factor_names[i]);
    return 0;
}

bool seen_is_running(const struct seen_job *job)
{
    return strcmp(job->state, "RUNNING") == 0;
}

bool seen_is_pending(const struct seen_job *job)
{
    return strcmp(job->state, "PENDING") == 0;
}

bool seen_waits_for(const struct seen_job *job, const char *const *patterns)
{
    for (; seen_is_pending(job) && *patterns; patterns++)
        if (fnmatch(*patterns, job->reason, 0) == 0)
            return true;
    return false;
}

bool seen_is_limited(const struct seen_job *job)
{
    return job->answer == PROBE_LIMITED || seen_waits_for(job, limits);
}

bool seen_is_later(const struct seen_job *job)
{
    return seen_waits_for(job, later);
}

/* Returns whether the job waits for one of the first `count` turns. */
static bool is_turn(const struct seen_job *job, size_t count)
{
    for (size_t i = 0; seen_is_pending(job) && i < count; i++)
        if (strcmp(job->reason, turns[i]) == 0)
            return true;
    return false;
}

bool seen_is_considered(const struct seen_job *job)
{
    return seen_is_pending(job) && job->priority > 0 && !is_turn(job, TURNS_UNSEEN);
}

bool seen_is_settled(const struct seen_job *job)
{
    return job->answer != PROBE_ACCEPTED ||
           (*job->state && !is_turn(job, sizeof turns / sizeof *turns));
}

bool seen_last_is_decided(const struct verify_seen *seen)
{
    const struct seen_job *last = &seen->jobs[seen->count - 1];

    return last->answer != PROBE_ACCEPTED || seen_is_running(last) || seen_is_limited(last);
}

struct text_line seen_describe(const struct seen_job *job)
{
    if (job->answer != PROBE_ACCEPTED)
        return text_line("a job of %s is refused: %s", job->who->user, job->message);
    if (!*job->state)
        return text_line("job %u (%s) is not known to Slurm any more", job->id, job->who->user);
    if (seen_is_pending(job))
        return text_line("job %u (%s) waits: %s", job->id, job->who->user, job->reason);
    return text_line("job %u (%s) is %s", job->id, job->who->user, job->state);
}
