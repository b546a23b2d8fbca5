/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/text.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/release.h"
#include "validate/slurm/undo/retest.h"

static int reservations_read(struct cluster_run **runs, int *count, struct error *err)
{
    reserve_info_msg_t *found = NULL;
    int rv = 0;

    if (slurm_load_reservations(0, &found) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its reservations");
    *runs = calloc(found->record_count + 1, sizeof **runs);
    if (!*runs)
        rv = error_set(err, "out of memory for the cluster's runs");
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++) {
        const reserve_info_t *info = &found->reservation_array[i];
        struct cluster_run *run = &(*runs)[*count];
        const char *name = cluster_run_name(info->name);

        if (!name)
            continue;
        snprintf(run->run, sizeof run->run, "%s", name);
        run->since = info->start_time;
        rv = hostlist_expand(text_of(info->node_list), &run->nodes, err);
        *count += rv == 0;
    }
    slurm_free_reservation_info_msg(found);
    return rv;
}

static int jobs_match(uid_t battery_uid, struct cluster_run *runs, int count, struct error *err)
{
    struct cluster_job *jobs = NULL;
    int job_count = cluster_jobs(CLUSTER_RUN_JOB, &jobs, err);

    for (int i = 0; i < job_count; i++)
        for (int k = 0; k < count; k++)
            if (retest_is_job_of(&jobs[i], runs[k].run, battery_uid)) {
                runs[k].has_job = true;
                snprintf(runs[k].host, sizeof runs[k].host, "%s", jobs[i].host);
            }
    free(jobs);
    return job_count < 0 ? -1 : 0;
}

int cluster_runs(uid_t battery_uid, struct cluster_run **runs, struct error *err)
{
    int count = 0;

    *runs = NULL;
    if (reservations_read(runs, &count, err) == 0 &&
        (count == 0 || jobs_match(battery_uid, *runs, count, err) == 0))
        return count;
    cluster_runs_free(*runs, count);
    *runs = NULL;
    return -1;
}

void cluster_runs_free(struct cluster_run *runs, int count)
{
    for (int i = 0; i < count; i++)
        hostlist_clear(&runs[i].nodes);
    free(runs);
}

int cluster_reservation(const char *name, struct hostlist *nodes, time_t *since, struct error *err)
{
    reserve_info_msg_t *found = NULL;
    int rv = 0;

    *nodes = (struct hostlist){0};
    if (slurm_load_reservations(0, &found) != SLURM_SUCCESS)
        return release_failed(err, "cannot query the controller for its reservations");
    for (uint32_t i = 0; rv == 0 && i < found->record_count; i++) {
        const reserve_info_t *info = &found->reservation_array[i];

        if (!info->name || strcmp(info->name, name) != 0)
            continue;
        rv = hostlist_expand(text_of(info->node_list), nodes, err) == 0 ? 1 : -1;
        if (since)
            *since = cluster_reservation_has_end(info->start_time, info->end_time)
                         ? 0
                         : info->start_time;
    }
    slurm_free_reservation_info_msg(found);
    return rv;
}
