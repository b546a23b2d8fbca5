/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/compare.h"
#include "lib/constants/policy_constants.h"
#include "validate/scheduling/simulate/day.h"

static bool is_time(double seconds)
{
    return seconds >= 1 && seconds <= SIMULATE_RUN_MOST_S;
}

/* Reads the job of the line. Returns NULL, or the key that is wrong, with what is expected of it.
 */
static const char *job_parse(const struct slurm_line *line, struct day_job *job,
                             const char **expected)
{
    struct tm tm = {.tm_isdst = 0};
    char value[64];
    const char *end;

    *job = (struct day_job){.line = line,
                            .seen.answer = PROBE_NO_ANSWER,
                            .submitted_s = NAN,
                            .started_s = NAN,
                            .ended_s = NAN};
    slurm_line_value(line, "Account", job->account, sizeof job->account);
    slurm_line_value(line, "QOS", job->qos, sizeof job->qos);
    slurm_line_value(line, "Partition", job->partition, sizeof job->partition);
    slurm_line_value(line, "Gres", job->gres, sizeof job->gres);
    *expected = "the name of a user";
    if (!slurm_line_value(line, "User", job->user, sizeof job->user))
        return "User";
    *expected = "a time as 2026-11-26T08:00:00";
    slurm_line_value(line, "Submit", value, sizeof value);
    end = strptime(value, "%Y-%m-%dT%H:%M:%S", &tm);
    job->submit_s = (double)timegm(&tm);
    if (!end || *end)
        return "Submit";
    *expected = "a number of nodes";
    slurm_line_value(line, "Nodes", value, sizeof value);
    if (intent_count(value, SIMULATE_NODES_MOST, &job->nodes) != 0)
        return "Nodes";
    *expected = "a time as 0:30, 90 for minutes, 8:00:00, 1-0";
    slurm_line_value(line, "Run", value, sizeof value);
    job->run_s = site_seconds(value);
    if (!is_time(job->run_s))
        return "Run";
    /* a value that is no time is the partition's: UNLIMITED and Partition_Limit of sacct */
    slurm_line_value(line, "Limit", value, sizeof value);
    job->limit_s = site_seconds(value);
    if (!isfinite(job->limit_s))
        job->limit_s = 0;
    return job->limit_s == 0 || is_time(job->limit_s) ? NULL : "Limit";
}

static int compare(const void *a, const void *b)
{
    const struct day_job *one = a, *other = b;

    return COMPARE(one->submit_s, other->submit_s) ?: COMPARE(one->line, other->line);
}

int day_read(const char *path, struct day *day, struct error *err)
{
    double first;

    if (slurm_file_read(path, &day->lines, err) != 0)
        return -1;
    if (day->lines.count == 0)
        return error_set(err, "%s: found no job, expected a line for each", path);
    day->jobs = calloc(day->lines.count, sizeof *day->jobs);
    if (!day->jobs)
        return error_set(err, "no memory");
    for (; day->count < day->lines.count; day->count++) {
        const struct slurm_line *line = &day->lines.lines[day->count];
        const char *expected, *key = job_parse(line, &day->jobs[day->count], &expected);
        char value[64];

        if (key && slurm_line_value(line, key, value, sizeof value))
            return error_set(err, "%s:%d: found %s=%s, expected %s", line->file, line->number, key,
                             value, expected);
        if (key)
            return error_set(err, "%s:%d: found no %s=, expected %s", line->file, line->number, key,
                             expected);
    }
    qsort(day->jobs, day->count, sizeof *day->jobs, compare);
    first = day->jobs[0].submit_s;
    for (size_t i = 0; i < day->count; i++)
        day->jobs[i].submit_s -= first;
    return 0;
}

void day_clear(struct day *day)
{
    slurm_lines_clear(&day->lines);
    free(day->jobs);
    *day = (struct day){.count = 0};
}

int day_minutes(const struct day *day, const struct day_job *job)
{
    return (int)ceil(job->limit_s / day->speed / 60);
}

struct text_line day_duration(double seconds)
{
    long all = lround(seconds), days = all / 86400;

    return text_line("%.0ld%s%ld:%02ld:%02ld", days, days ? "-" : "", all / 3600 % 24,
                     all / 60 % 60, all % 60);
}

static bool is_one_of(const char *state, const char *const *states)
{
    while (*states && strcmp(*states, state) != 0)
        states++;
    return *states != NULL;
}

void day_job_update(struct day_job *job, const char *text, double after_s)
{
    static const char *const over[] = {"COMPLETED", "FAILED",    "TIMEOUT",  "NODE_FAIL",
                                       "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
                                       "CANCELLED", NULL};
    static const char *const has_nodes[] = {"RUNNING", "SUSPENDED", "COMPLETING", NULL};
    const struct slurm_line line = {.text = (char *)(uintptr_t)text};

    if (job->is_over || seen_job_read(text, &job->seen) != 0)
        return;
    slurm_line_value(&line, "Account", job->account, sizeof job->account);
    slurm_line_value(&line, "QOS", job->qos, sizeof job->qos);
    slurm_line_value(&line, "Partition", job->partition, sizeof job->partition);
    if (isnan(job->submitted_s)) /* a requeued job has another */
        job->submitted_s = job->seen.submitted_s;
    job->was_limited |= seen_is_limited(&job->seen);
    job->is_over = is_one_of(job->seen.state, over);
    if (is_one_of(job->seen.state, has_nodes)) {
        if (isnan(job->started_s))
            job->started_s = job->seen.started_s;
        job->used_s += after_s;
    }
    if (!job->is_over)
        return;
    job->ended_s = job->seen.ended_s;
    /* a job that is canceled while it waits begins and ends at once */
    if (job->seen.started_s < job->ended_s) {
        if (isnan(job->started_s))
            job->started_s = job->seen.started_s;
        if (job->seen.restarts == 0)
            job->used_s = job->ended_s - job->seen.started_s;
    }
}
