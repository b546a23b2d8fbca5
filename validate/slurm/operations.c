/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/slurm/operations.h"

#include <string.h>

#include "validate/slurm/munge.h"

/* Each request waits for a restart of the local munged, and fails at once if munged stays away. A
 * failed request has empty outputs. */
#define REQUEST(name, function, empty, parameters, arguments)                                      \
    static int name parameters                                                                     \
    {                                                                                              \
        empty;                                                                                     \
        return munge_wait(err) == 0 ? function arguments : -1;                                     \
    }
#define ORDER(name, function, parameters, arguments)                                               \
    REQUEST(name, function, (void)0, parameters, arguments)
#define CHANGE(name)                                                                               \
    ORDER(name, cluster_##name, (const char *nodes, const char *text, struct error *err),          \
          (nodes, text, err))

REQUEST(load, cluster_load, memset(cluster, 0, sizeof *cluster),
        (struct cluster * cluster, struct error *err), (cluster, err))
REQUEST(load_nodes, cluster_load_nodes, memset(cluster, 0, sizeof *cluster),
        (struct cluster * cluster, struct error *err), (cluster, err))
REQUEST(reservation, cluster_reservation, memset(nodes, 0, sizeof *nodes),
        (const char *name, struct hostlist *nodes, time_t *since, struct error *err),
        (name, nodes, since, err))
REQUEST(jobs, cluster_jobs, *jobs = NULL,
        (const char *prefix, struct cluster_job **jobs, struct error *err), (prefix, jobs, err))
REQUEST(runs, cluster_runs, *runs = NULL,
        (uid_t battery_uid, struct cluster_run **runs, struct error *err), (battery_uid, runs, err))
REQUEST(pending, pending_jobs, *jobs = NULL,
        (uid_t battery_uid, struct pending_job **jobs, struct error *err), (battery_uid, jobs, err))
CHANGE(drain)
REQUEST(resume, cluster_resume, (void)reason,
        (const char *nodes, const char *reason, struct error *err), (nodes, err))
CHANGE(set_comment)
CHANGE(set_extra)
CHANGE(down)
ORDER(reserve, cluster_reserve,
      (const char *name, const char *nodes, const char *user, int minutes, struct error *err),
      (name, nodes, user, minutes, err))
ORDER(unreserve, cluster_unreserve, (const char *name, struct error *err), (name, err))
ORDER(update_waiting, cluster_update_waiting,
      (const struct hostlist *names, const struct hostlist *changed, bool is_there,
       struct error *err),
      (names, changed, is_there, err))
ORDER(job_cancel, cluster_job_cancel, (uint32_t id, struct error *err), (id, err))
ORDER(allocate, allocation_get,
      (const struct allocation_request *request, uint32_t *job_id, struct error *err),
      (request, job_id, err))
ORDER(allocation, allocation_check, (const struct allocation_request *request, struct error *err),
      (request, err))
ORDER(step, step_run,
      (const struct step *step, const struct process *watching, struct process_result *result,
       struct error *err),
      (step, watching, result, err))
ORDER(step_on, step_run_on,
      (const struct hostlist *nodes, const char *partition, int wait_s, char *const *program,
       const struct process *watching, struct process_result *result, struct error *err),
      (nodes, partition, wait_s, program, watching, result, err))

static enum cluster_job_state job_state(uint32_t id, const char *name)
{
    return munge_wait(NULL) == 0 ? cluster_job_state(id, name) : CLUSTER_JOB_UNKNOWN;
}

const struct cluster_operations operations_slurm = {
    .open = cluster_open,
    .name = cluster_name,
    .load = load,
    .load_nodes = load_nodes,
    .reservation = reservation,
    .jobs = jobs,
    .job_state = job_state,
    .show = cluster_show,
    .drain = drain,
    .resume = resume,
    .set_comment = set_comment,
    .set_extra = set_extra,
    .down = down,
    .reserve = reserve,
    .unreserve = unreserve,
    .update_waiting = update_waiting,
    .job_cancel = job_cancel,
    .runs = runs,
    .pending = pending,
    .reach_nodes = reach_nodes,
    .allocation_get = allocate,
    .allocation_check = allocation,
    .step_run = step,
    .step_run_on = step_on,
};
