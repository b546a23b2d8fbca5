/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/job/own_job.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "lib/base/clock.h"
#include "tests/unit/tap.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

/* Two tasks of array 36, one of which has the job ID 36 itself, and a job without an array.
 * Slurm takes 36 for both tasks in requests and in lists of steps. */

static char nodes[] = "n[1-2]", app[] = "app", keeper[] = OWN_JOB_KEEPER, own_nodes[] = "n1",
            other_nodes[] = "n5";
static slurm_job_info_t jobs[2] = {
    {.nodes = nodes,
     .array_job_id = 36,
     .array_task_id = 3,
     .job_state = JOB_RUNNING,
     .time_limit = 10},
    {.nodes = nodes, .array_job_id = 36, .array_task_id = 1, .job_state = JOB_RUNNING}};
static job_step_info_t steps[] = {
    {.step_id = {.job_id = 36, .step_id = 1}, .array_job_id = 36, .name = app, .nodes = own_nodes},
    {.step_id = {.job_id = 37, .step_id = 1},
     .array_job_id = 36,
     .name = keeper,
     .nodes = other_nodes},
    {.step_id = {.job_id = 37, .step_id = 4},
     .array_job_id = 36,
     .name = app,
     .nodes = other_nodes}};
static char requeued[32], changed[32], excluded[32];
static int kills;

uint32_t __wrap_release_job_id(const slurm_job_info_t *job)
{
    return job->array_job_id == 0 ? 7 : job == &jobs[0] ? 36 : 37;
}

int __wrap_slurm_load_job(job_info_msg_t **found, uint32_t id, uint16_t flags)
{
    static slurm_job_info_t single = {.nodes = nodes, .array_task_id = NO_VAL};
    static job_info_msg_t message;

    message = id == 7 ? (job_info_msg_t){.record_count = 1, .job_array = &single}
                      : (job_info_msg_t){.record_count = 2, .job_array = jobs};
    *found = &message;
    return SLURM_SUCCESS;
}

void __wrap_slurm_free_job_info_msg(job_info_msg_t *message)
{
}

static int requeue_error;

int __wrap_slurm_requeue2(char *id, uint32_t flags, job_array_resp_msg_t **answer)
{
    snprintf(requeued, sizeof requeued, "%s", id);
    errno = requeue_error;
    return requeue_error == 0 ? SLURM_SUCCESS : SLURM_ERROR;
}

int __wrap_slurm_update_job2(job_desc_msg_t *wanted, job_array_resp_msg_t **answer)
{
    snprintf(changed, sizeof changed, "%s", wanted->job_id_str);
    snprintf(excluded, sizeof excluded, "%s", wanted->exc_nodes);
    return SLURM_SUCCESS;
}

int __wrap_release_steps_load(uint32_t id, job_step_info_response_msg_t **found, struct error *err)
{
    static job_step_info_response_msg_t message = {.job_step_count = sizeof steps / sizeof *steps,
                                                   .job_steps = steps};

    *found = &message;
    return SLURM_SUCCESS;
}

void __wrap_slurm_free_job_step_info_response_msg(job_step_info_response_msg_t *message)
{
}

int __wrap_release_step_kill(uint32_t job_id, uint32_t step_id, uint16_t signal)
{
    kills++;
    return SLURM_SUCCESS;
}

static void check_requeue(uint32_t id, const char *name)
{
    struct own_job job;
    struct error err = {""};

    is_int(own_job_load(id, &job, &err), 0, "job %u is known", id);
    hostlist_append(&job.excluded, "n2");
    is_int(own_job_requeue(&job, &err), 0, "... and is requeued");
    is_str(requeued, name, "... with its own ID only");
    is_str(changed, name, "... and excludes nodes");
    is_str(excluded, "n2", "... the given ones");
    *excluded = '\0';
    requeue_error = ESLURM_DISABLED;
    is_int(own_job_requeue(&job, &err), -1, "... or the requeue is refused");
    requeue_error = ESLURM_JOB_PENDING;
    is_int(own_job_requeue(&job, &err), 0, "... or was done by a request without an answer");
    is_str(excluded, "n2", "... which excludes the nodes, too");
    requeue_error = 0;
    own_job_clear(&job);
}

static void has_steps_of_its_own(void)
{
    struct cluster_component *components;
    struct error err = {""};
    uint32_t leader, first = 1;
    long last;

    is_int(own_job_last_step(36, &last, &err), 0, "the last step of a task is found");
    is_int(last, 1, "... not that of another task");
    is_int(cluster_job_components(36, &first, &leader, &components, &err), 1,
           "... and its components");
    is_int(components[0].nodes.count, 1, "... with its own nodes only");
    cluster_components_free(components, 1);
    is_int(cluster_job_cancel_steps(36, OWN_JOB_KEEPER, &err), 0,
           "it has no keeper step to cancel");
    is_int(kills, 0, "... and no step of another task is canceled");
}

/* end_s is an absolute time, so the time left needs no other query of the job. */
static void has_an_end(void)
{
    struct own_job job;
    double begin = clock_s();

    jobs[0].end_time = time(NULL) + 600;
    is_int(own_job_load(36, &job, NULL), 0, "a job with a time limit");
    ok(job.end_s > begin + 590 && job.end_s < clock_s() + 601, "... has its end");
    own_job_clear(&job);
    jobs[0].time_limit = INFINITE;
    own_job_load(36, &job, NULL);
    ok(isinf(job.end_s), "... one without a limit has none");
    own_job_clear(&job);
}

int main(void)
{
    has_an_end();
    check_requeue(36, "36_3");
    check_requeue(37, "36_1");
    check_requeue(7, "7");
    has_steps_of_its_own();
    return tap_done();
}
