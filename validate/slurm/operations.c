/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/operations.h"

static int resume(const char *nodes, const char *text, struct error *err)
{
    (void)text;
    return cluster_resume(nodes, err);
}

const struct cluster_operations operations_slurm = {
    .open = cluster_open,
    .name = cluster_name,
    .load = cluster_load,
    .load_nodes = cluster_load_nodes,
    .reservation = cluster_reservation,
    .jobs = cluster_jobs,
    .job_state = cluster_job_state,
    .drain = cluster_drain,
    .resume = resume,
    .set_comment = cluster_set_comment,
    .set_extra = cluster_set_extra,
    .down = cluster_down,
    .reserve = cluster_reserve,
    .unreserve = cluster_unreserve,
    .wait = cluster_wait,
    .job_cancel = cluster_job_cancel,
    .runs = cluster_runs,
    .reach_nodes = reach_nodes,
    .allocation_get = allocation_get,
    .allocation_check = allocation_check,
    .step_run = step_run,
    .step_run_on = step_run_on,
};
