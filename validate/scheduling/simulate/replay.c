/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/grow.h"
#include "lib/base/text.h"
#include "lib/constants/policy_constants.h"
#include "validate/scheduling/simulate/day.h"
#include "validate/slurm/job/user.h"
#include "validate/slurm/operations.h"
#include "validate/slurm/undo/undo.h"

struct replay {
    const struct verify_setting *setting;
    struct day *day;
    char name[64]; /* of each job */
    char cluster[256];
    struct undo undo;
    struct user *users; /* each once */
    size_t user_count;
    size_t submitted;
    double begin_s, polled_s;
    double moved_s; /* when a job was last submitted, or ran */
};

static const struct user *user_of(const struct replay *replay, const char *name)
{
    for (size_t i = 0; i < replay->user_count; i++)
        if (strcmp(replay->users[i].name, name) == 0)
            return &replay->users[i];
    return NULL;
}

static int users_find(struct replay *replay, struct error *err)
{
    for (size_t i = 0; i < replay->day->count; i++) {
        const struct day_job *job = &replay->day->jobs[i];

        if (user_of(replay, job->user))
            continue;
        if (!GROW(replay->users, replay->user_count))
            return error_set(err, "no memory");
        if (user_find(job->user, &replay->users[replay->user_count], err) != 0)
            return error_prefix(err, "%s:%d: %s", job->line->file, job->line->number, job->user);
        replay->user_count++;
    }
    return 0;
}

/* Checks that the cluster has no jobs, as a copy has only the day's. Returns 0, or -1 with err. */
static int is_empty(struct error *err)
{
    struct cluster_job *jobs = NULL;
    int count = operations_slurm.jobs("", &jobs, err);

    free(jobs);
    if (count > 0)
        return error_set(err,
                         "the cluster has %d job%s; expected a copy of the site's, without any",
                         count, text_plural((size_t)count));
    return count;
}

static int begin(struct replay *replay, struct error *err)
{
    const struct verify_setting *setting = replay->setting;
    int rv = undo_begin(&operations_slurm, setting->directory, replay->name, replay->cluster,
                        &replay->undo, err);

    if (rv == 0 && *err->text) { /* nobody would clean up after the keeper */
        setting->on_leftover(err->text);
        *err->text = '\0';
    }
    for (size_t i = 0; rv == 0 && i < replay->user_count; i++)
        rv = undo_note_job(&replay->undo, replay->name, replay->users[i].uid, err);
    return rv;
}

static void submit(struct replay *replay, struct day_job *job)
{
    const struct day *day = replay->day;
    struct probe_request request = {
        .name = replay->name,
        .cluster = replay->cluster,
        .user = user_of(replay, job->user),
        .account = job->account,
        .qos = job->qos,
        .partition = job->partition,
        .reservation = "",
        .node = "",
        .gres = job->gres,
        .nodes = (int)job->nodes,
        .cpus = (int)job->nodes,
        .is_exclusive = true,
        .minutes = day_minutes(day, job),
        .run_s = (job->limit_s > 0 ? fmin(job->run_s, job->limit_s) : job->run_s) / day->speed,
        .wait_s = (int)(day->jobs[day->count - 1].submit_s / day->speed),
    };

    job->seen.answer =
        probe_submit(&request, &job->seen.id, job->seen.message, sizeof job->seen.message);
}

/* Reads the lines of all jobs. Job numbers ascend in text, and mostly also in the day. */
static void jobs_update(struct replay *replay, const char *text, double after_s)
{
    static const char key[] = "JobId=";
    size_t i = 0;

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        uint32_t id = (uint32_t)strtoul(line + strlen(key), NULL, 10);
        char *one;

        if (i == replay->submitted || replay->day->jobs[i].seen.id > id)
            i = 0;
        while (i < replay->submitted && replay->day->jobs[i].seen.id < id)
            i++;
        if (id == 0 || i == replay->submitted || replay->day->jobs[i].seen.id != id)
            continue;
        one = strndup(line, strcspn(line, "\n"));
        if (one)
            day_job_update(&replay->day->jobs[i], one, after_s);
        free(one);
    }
}

/* Queries the jobs. Returns whether the day is over. */
static bool jobs_poll(struct replay *replay)
{
    size_t waiting = 0, running = 0;
    double now = clock_s();
    char *text = NULL, doing[160];

    if (cluster_show_job(0, &text, NULL) == 0) /* a controller that is silent is asked again */
        jobs_update(replay, text, now - replay->polled_s);
    free(text);
    replay->polled_s = now;
    for (size_t i = 0; i < replay->submitted; i++) {
        const struct day_job *job = &replay->day->jobs[i];
        bool is_waiting = seen_is_pending(&job->seen) || !*job->seen.state;

        if (job->seen.answer != PROBE_ACCEPTED || job->is_over)
            continue;
        ++*(is_waiting ? &waiting : &running);
        if (seen_is_later(&job->seen))
            replay->moved_s = now;
    }
    if (running > 0)
        replay->moved_s = now;
    snprintf(doing, sizeof doing, "%s of the day: %zu of %zu jobs submitted, %zu run, %zu wait",
             day_duration((now - replay->begin_s) * replay->day->speed).text, replay->submitted,
             replay->day->count, running, waiting);
    replay->setting->on_doing(doing);
    return replay->submitted == replay->day->count &&
           (running + waiting == 0 || now - replay->moved_s > SIMULATE_STILL_S);
}

static void replay_day(struct replay *replay)
{
    struct day *day = replay->day;
    bool is_over = false;

    replay->begin_s = replay->polled_s = replay->moved_s = clock_s();
    while (!is_over && !*replay->setting->stop) {
        double now = clock_s(), due = INFINITY;

        if (replay->submitted < day->count)
            due = replay->begin_s + day->jobs[replay->submitted].submit_s / day->speed;
        if (due <= now) {
            submit(replay, &day->jobs[replay->submitted++]);
            replay->moved_s = now;
        }
        if (now >= replay->polled_s + SIMULATE_POLL_S)
            is_over = jobs_poll(replay);
        else if (due > now)
            usleep((useconds_t)(fmin(due, replay->polled_s + SIMULATE_POLL_S) * 1e6 - now * 1e6));
    }
}

int day_replay(const struct verify_setting *setting, struct day *day, struct error *err)
{
    struct replay replay = {
        .setting = setting, .day = day, .undo = {.journal = -1, .keeper_pipe = -1}};
    struct error late = {""};
    int rv = 0;

    text_time(replay.name, sizeof replay.name, "policy-%Y%m%d-%H%M%S", time(NULL));
    snprintf(replay.name + strlen(replay.name), sizeof replay.name - strlen(replay.name), "-%d",
             getpid());
    rv = operations_slurm.name(replay.cluster, sizeof replay.cluster, err);
    if (rv == 0 && undo_clean_up(&operations_slurm, setting->directory, replay.cluster,
                                 setting->on_leftover, NULL, &late) < 0)
        setting->on_leftover(late.text);
    if (rv == 0)
        rv = users_find(&replay, err);
    if (rv == 0)
        rv = is_empty(err);
    if (rv == 0)
        rv = begin(&replay, err);
    if (rv == 0)
        replay_day(&replay);
    day->end_s = (double)time(NULL);
    if (undo_end(&replay.undo, setting->on_leftover, &late) != 0) {
        setting->on_leftover(late.text);
        rv = rv == 0 ? error_set(err, "%s", late.text) : rv;
    }
    free(replay.users);
    return rv;
}
