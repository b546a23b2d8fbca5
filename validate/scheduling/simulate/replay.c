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
#include "validate/slurm/operations.h"
#include "validate/slurm/undo.h"
#include "validate/slurm/user.h"

struct at_work {
    const struct verify_setting *setting;
    struct day *day;
    char name[64]; /* of each job */
    char cluster[256];
    struct undo undo;
    struct user *users; /* each once */
    size_t user_count;
    size_t submitted;
    double begin_s, looked_s;
    double moved_s; /* when a job was last submitted, or ran */
};

static const struct user *user_of(const struct at_work *work, const char *name)
{
    for (size_t i = 0; i < work->user_count; i++)
        if (strcmp(work->users[i].name, name) == 0)
            return &work->users[i];
    return NULL;
}

static int users_find(struct at_work *work, struct error *err)
{
    for (size_t i = 0; i < work->day->count; i++) {
        const struct day_job *job = &work->day->jobs[i];

        if (user_of(work, job->user))
            continue;
        if (!GROW(work->users, work->user_count))
            return error_set(err, "no memory");
        if (user_find(job->user, &work->users[work->user_count], err) != 0)
            return error_prefix(err, "%s:%d: %s", job->line->file, job->line->number, job->user);
        work->user_count++;
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

static int begin(struct at_work *work, struct error *err)
{
    const struct verify_setting *setting = work->setting;
    int rv = undo_begin(&operations_slurm, setting->directory, work->name, work->cluster,
                        setting->argc, setting->argv, &work->undo, err);

    if (rv == 0 && *err->text) { /* nobody would clean up after the keeper */
        setting->on_leftover(err->text);
        *err->text = '\0';
    }
    for (size_t i = 0; rv == 0 && i < work->user_count; i++)
        rv = undo_note_job(&work->undo, work->name, work->users[i].uid, err);
    return rv;
}

static void submit(struct at_work *work, struct day_job *job)
{
    const struct day *day = work->day;
    struct probe_request request = {
        .name = work->name,
        .cluster = work->cluster,
        .user = user_of(work, job->user),
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
static void look_at(struct at_work *work, const char *text, double after_s)
{
    static const char key[] = "JobId=";
    size_t i = 0;

    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        uint32_t id = (uint32_t)strtoul(line + strlen(key), NULL, 10);
        char *one;

        if (i == work->submitted || work->day->jobs[i].seen.id > id)
            i = 0;
        while (i < work->submitted && work->day->jobs[i].seen.id < id)
            i++;
        if (id == 0 || i == work->submitted || work->day->jobs[i].seen.id != id)
            continue;
        one = strndup(line, strcspn(line, "\n"));
        if (one)
            day_job_update(&work->day->jobs[i], one, after_s);
        free(one);
    }
}

/* Looks at the jobs. Returns whether the day is over. */
static bool look(struct at_work *work)
{
    size_t waiting = 0, running = 0;
    double now = clock_s();
    char *text = NULL, doing[160];

    if (cluster_show_job(0, &text, NULL) == 0) /* a controller that is silent is asked again */
        look_at(work, text, now - work->looked_s);
    free(text);
    work->looked_s = now;
    for (size_t i = 0; i < work->submitted; i++) {
        const struct day_job *job = &work->day->jobs[i];
        bool is_waiting = seen_is_pending(&job->seen) || !*job->seen.state;

        if (job->seen.answer != PROBE_ACCEPTED || job->is_over)
            continue;
        ++*(is_waiting ? &waiting : &running);
        if (seen_is_later(&job->seen))
            work->moved_s = now;
    }
    if (running > 0)
        work->moved_s = now;
    snprintf(doing, sizeof doing, "%s of the day: %zu of %zu jobs submitted, %zu run, %zu wait",
             day_duration((now - work->begin_s) * work->day->speed).text, work->submitted,
             work->day->count, running, waiting);
    work->setting->on_doing(doing);
    return work->submitted == work->day->count &&
           (running + waiting == 0 || now - work->moved_s > SIMULATE_STILL_S);
}

static void replay_day(struct at_work *work)
{
    struct day *day = work->day;
    bool is_over = false;

    work->begin_s = work->looked_s = work->moved_s = clock_s();
    while (!is_over && !*work->setting->stop) {
        double now = clock_s(), due = INFINITY;

        if (work->submitted < day->count)
            due = work->begin_s + day->jobs[work->submitted].submit_s / day->speed;
        if (due <= now) {
            submit(work, &day->jobs[work->submitted++]);
            work->moved_s = now;
        }
        if (now >= work->looked_s + SIMULATE_LOOK_S)
            is_over = look(work);
        else if (due > now)
            usleep((useconds_t)(fmin(due, work->looked_s + SIMULATE_LOOK_S) * 1e6 - now * 1e6));
    }
}

int day_replay(const struct verify_setting *setting, struct day *day, struct error *err)
{
    struct at_work work = {
        .setting = setting, .day = day, .undo = {.journal = -1, .keeper_pipe = -1}};
    struct error late = {""};
    int rv = 0;

    text_time(work.name, sizeof work.name, "policy-%Y%m%d-%H%M%S", time(NULL));
    snprintf(work.name + strlen(work.name), sizeof work.name - strlen(work.name), "-%d", getpid());
    rv = operations_slurm.name(work.cluster, sizeof work.cluster, err);
    if (rv == 0 && undo_leftovers(&operations_slurm, setting->directory, work.cluster,
                                  setting->on_leftover, NULL, &late) < 0)
        setting->on_leftover(late.text);
    if (rv == 0)
        rv = users_find(&work, err);
    if (rv == 0)
        rv = is_empty(err);
    if (rv == 0)
        rv = begin(&work, err);
    if (rv == 0)
        replay_day(&work);
    day->end_s = (double)time(NULL);
    if (undo_end(&work.undo, setting->on_leftover, &late) != 0) {
        setting->on_leftover(late.text);
        rv = rv == 0 ? error_set(err, "%s", late.text) : rv;
    }
    free(work.users);
    return rv;
}
