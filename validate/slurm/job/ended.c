/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/ended.h"

#include <stdlib.h>
#include <string.h>

#include "lib/constants/certify_constants.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"

static bool is_of_interest(const slurm_job_info_t *info)
{
    uint32_t base = info->job_state & JOB_STATE_BASE;

    return (base == JOB_COMPLETE || base == JOB_FAILED || base == JOB_TIMEOUT) &&
           info->user_id != 0 && info->nodes && *info->nodes &&
           (!info->resv_name || strncmp(info->resv_name, CLUSTER_RUN, strlen(CLUSTER_RUN)) != 0);
}

int ended_jobs_load(struct ended_job **jobs, size_t *count, struct error *err)
{
    job_info_msg_t *found = NULL;
    int rv = 0;

    *count = 0;
    *jobs = NULL;
    if (slurm_load_jobs(0, &found, SHOW_ALL) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its jobs");
    *jobs = calloc(found->record_count + 1, sizeof **jobs);
    if (!*jobs)
        rv = error_set(err, "out of memory for the cluster's jobs");
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++) {
        const slurm_job_info_t *info = &found->job_array[i];
        struct ended_job *job = &(*jobs)[*count];

        if (!is_of_interest(info))
            continue;
        job->uid = info->user_id;
        job->has_failed_early = (info->job_state & JOB_STATE_BASE) == JOB_FAILED &&
                                info->end_time - info->start_time < SUSPECTS_QUICK_S;
        rv = hostlist_expand(info->nodes, &job->nodes, err);
        *count += rv == 0;
    }
    slurm_free_job_info_msg(found);
    if (rv != 0) {
        ended_jobs_free(*jobs, *count);
        *jobs = NULL;
    }
    return rv;
}

void ended_jobs_free(struct ended_job *jobs, size_t count)
{
    for (size_t i = 0; jobs && i < count; i++)
        hostlist_clear(&jobs[i].nodes);
    free(jobs);
}
