/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/pending.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "lib/base/utf8.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

static bool is_of_certify(const slurm_job_info_t *info, uid_t battery_uid)
{
    return info->name && strncmp(info->name, CLUSTER_RUN_JOB, strlen(CLUSTER_RUN_JOB)) == 0 &&
           (info->user_id == 0 || info->user_id == battery_uid);
}

static int job_fill(const slurm_job_info_t *info, struct pending_job *job)
{
    job->id = release_job_id(info);
    job->uid = info->user_id;
    snprintf(job->name, sizeof job->name, "%s", text_of(info->name));
    utf8_clean(job->name);
    job->nodes = info->num_nodes > 0 && info->num_nodes != NO_VAL ? info->num_nodes : 1;
    job->partitions = strdup(text_of(info->partition));
    job->required = strdup(text_of(info->req_nodes));
    job->excluded = strdup(text_of(info->exc_nodes));
    job->features = strdup(text_of(info->features));
    return job->partitions && job->required && job->excluded && job->features ? 0 : -1;
}

int pending_jobs(uid_t battery_uid, struct pending_job **jobs, struct error *err)
{
    job_info_msg_t *found = NULL;
    int count = 0, rv = 0;

    *jobs = NULL;
    if (slurm_load_jobs(0, &found, SHOW_ALL) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its jobs");
    *jobs = calloc(found->record_count + 1, sizeof **jobs);
    for (uint32_t i = 0; *jobs && rv == 0 && i < found->record_count; i++) {
        const slurm_job_info_t *info = &found->job_array[i];
        struct pending_job *job = &(*jobs)[count];

        if (!pending_needs_nodes(info->job_state, info->state_reason, &job->is_refused) ||
            (info->resv_name && *info->resv_name) || is_of_certify(info, battery_uid))
            continue;
        rv = job_fill(info, job);
        count++;
    }
    slurm_free_job_info_msg(found);
    if (*jobs && rv == 0)
        return count;
    pending_jobs_free(*jobs, count);
    *jobs = NULL;
    return error_set(err, "out of memory for the cluster's jobs");
}

void pending_jobs_free(struct pending_job *jobs, int count)
{
    for (int i = 0; jobs && i < count; i++) {
        free(jobs[i].partitions);
        free(jobs[i].required);
        free(jobs[i].excluded);
        free(jobs[i].features);
    }
    free(jobs);
}
