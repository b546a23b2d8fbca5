/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/own_job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/base/clock.h"
#include "lib/base/text.h"
#include "lib/constants/run_constants.h"
#include "validate/slurm/release.h"

/* Writes a name for this job alone. The job ID of one task of an array may equal the array's ID,
 * which in requests means all tasks. */
static void name_print(const slurm_job_info_t *info, char *name, size_t size)
{
    if (info->array_job_id != 0 && info->array_task_id != NO_VAL)
        snprintf(name, size, "%u_%u", info->array_job_id, info->array_task_id);
    else
        snprintf(name, size, "%u", release_job_id(info));
}

static int fill(const slurm_job_info_t *info, struct own_job *job, struct error *err)
{
    if (hostlist_expand(text_of(info->nodes), &job->nodes, err) != 0 ||
        hostlist_expand(text_of(info->exc_nodes), &job->excluded, err) != 0)
        return -1;
    name_print(info, job->name, sizeof job->name);
    job->can_requeue = info->batch_flag && info->requeue == 1;
    job->is_heterogeneous = info->het_job_id != 0 && info->het_job_id != NO_VAL;
    job->is_running =
        (info->job_state & JOB_STATE_BASE) == JOB_RUNNING && !(info->job_state & JOB_COMPLETING);
    job->uid = info->user_id;
    job->requeues = info->restart_cnt;
    job->end_s =
        info->time_limit == INFINITE ? INFINITY : clock_s() + difftime(info->end_time, time(NULL));
    return 0;
}

int own_job_load(uint32_t id, struct own_job *job, struct error *err)
{
    job_info_msg_t *jobs = NULL;
    int rv = 1;

    *job = (struct own_job){0};
    if (slurm_load_job(&jobs, id, SHOW_ALL) != SLURM_SUCCESS)
        return error_set(err, "cannot query the controller for job %u: %s", id,
                         slurm_strerror(errno));
    for (uint32_t i = 0; rv == 1 && i < jobs->record_count; i++)
        if (release_job_id(&jobs->job_array[i]) == id)
            rv = fill(&jobs->job_array[i], job, err);
    slurm_free_job_info_msg(jobs);
    if (rv == 1)
        rv = error_set(err, "the controller does not know job %u", id);
    if (rv != 0)
        own_job_clear(job);
    return rv;
}

void own_job_clear(struct own_job *job)
{
    hostlist_clear(&job->nodes);
    hostlist_clear(&job->excluded);
    *job = (struct own_job){0};
}

/* Returns rv, or SLURM_ERROR with errno if a task of the job got an error. Frees answer. */
static int answer_check(job_array_resp_msg_t *answer, int rv)
{
    if (answer) {
        for (uint32_t i = 0; rv == SLURM_SUCCESS && i < answer->job_array_count; i++)
            if (answer->error_code[i] != SLURM_SUCCESS) {
                errno = (int)answer->error_code[i];
                rv = SLURM_ERROR;
            }
        slurm_free_job_array_resp(answer);
    }
    return rv;
}

/* Requests name the job by a text, as scontrol's do: the same on all releases. */
static int requeue(char *id)
{
    job_array_resp_msg_t *answer = NULL;
    int rv = slurm_requeue2(id, 0, &answer);

    return answer_check(answer, rv);
}

static int exclude(char *id, char *nodes)
{
    job_array_resp_msg_t *answer = NULL;
    job_desc_msg_t wanted;
    int rv;

    slurm_init_job_desc_msg(&wanted);
    wanted.job_id_str = id;
    wanted.exc_nodes = nodes;
    rv = slurm_update_job2(&wanted, &answer);
    return answer_check(answer, rv);
}

int own_job_requeue(const struct own_job *job, struct error *err)
{
    char *folded = hostlist_fold_for_slurm(&job->excluded), text[sizeof job->name];
    int rv = 0;

    memcpy(text, job->name, sizeof text);
    if (!folded)
        return error_set(err, "out of memory for %zu nodes", job->excluded.count);
    /* pending: an earlier request was accepted, but its reply was lost */
    if (requeue(text) != SLURM_SUCCESS && errno != ESLURM_JOB_PENDING) {
        rv = error_set(err, "cannot queue job %s again: %s", text, slurm_strerror(errno));
        goto done;
    }
    /* Only a pending job can exclude nodes. */
    for (double end = clock_s() + RUN_EXCLUDE_S;
         (rv = exclude(text, folded)) != SLURM_SUCCESS && clock_s() < end;)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    if (rv != SLURM_SUCCESS) {
        error_set(err, "cannot exclude %s from job %s: %s", folded, text, slurm_strerror(errno));
        rv = 1;
    }
done:
    free(folded);
    return rv;
}

int own_job_last_step(uint32_t id, long *last, struct error *err)
{
    job_step_info_response_msg_t *found = NULL;

    *last = -1;
    if (release_steps_load(id, &found, err) != 0)
        return -1;
    for (uint32_t i = 0; i < found->job_step_count; i++) {
        uint32_t step = found->job_steps[i].step_id.step_id;

        if (release_step_is_of(&found->job_steps[i], id) && step < SLURM_MAX_NORMAL_STEP_ID &&
            (long)step > *last &&
            !(found->job_steps[i].name && strcmp(found->job_steps[i].name, OWN_JOB_KEEPER) == 0))
            *last = (long)step;
    }
    slurm_free_job_step_info_response_msg(found);
    return 0;
}
