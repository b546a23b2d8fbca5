/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OPERATIONS_H
#define MUSTER_OPERATIONS_H

#include "validate/slurm/batch.h"
#include "validate/slurm/cluster.h"
#include "validate/slurm/job/allocation.h"
#include "validate/slurm/job/pending.h"
#include "validate/slurm/runs.h"
#include "validate/slurm/show.h"
#include "validate/slurm/step/reach.h"
#include "validate/slurm/step/step.h"

/* All requests of certify and policy to Slurm. A test replaces this table to simulate a cluster and
 * to refuse requests. Each entry is the function of that name in the header named above it. */
struct cluster_operations {
    /* cluster.h: queries */
    int (*open)(struct error *err);
    int (*name)(char *name, size_t size, struct error *err);
    int (*load)(struct cluster *cluster, struct error *err);
    int (*load_nodes)(struct cluster *cluster, struct error *err);
    int (*reservation)(const char *name, struct hostlist *nodes, time_t *since, struct error *err);
    int (*jobs)(const char *prefix, struct cluster_job **jobs, struct error *err);
    enum cluster_job_state (*job_state)(uint32_t id, const char *name);
    /* show.h */
    int (*show)(enum cluster_text what, const char *cluster, char **text, struct error *err);
    /* cluster.h: changes */
    batch_change_fn *drain, *resume /* its text is not used */, *set_comment, *set_extra, *down;
    int (*reserve)(const char *name, const char *nodes, const char *user, int minutes,
                   struct error *err);
    int (*unreserve)(const char *name, struct error *err);
    int (*update_waiting)(const struct hostlist *names, const struct hostlist *changed,
                          bool is_there, struct error *err);
    int (*job_cancel)(uint32_t id, struct error *err);
    /* runs.h */
    int (*runs)(uid_t battery_uid, struct cluster_run **runs, struct error *err);
    /* pending.h */
    int (*pending)(uid_t battery_uid, struct pending_job **jobs, struct error *err);
    /* reach.h */
    int (*reach_nodes)(struct cluster_node *const *nodes, size_t count, double deadline_s,
                       const volatile sig_atomic_t *stop, struct reach *answers, struct error *err);
    /* allocation.h */
    int (*allocation_get)(const struct allocation_request *request, uint32_t *job_id,
                          struct error *err);
    int (*allocation_check)(const struct allocation_request *request, struct error *err);
    /* step.h */
    int (*step_run)(const struct step *step, const struct process *watching,
                    struct process_result *result, struct error *err);
    int (*step_run_on)(const struct hostlist *nodes, const char *partition, int wait_s,
                       char *const *program, const struct process *watching,
                       struct process_result *result, struct error *err);
};

extern const struct cluster_operations operations_slurm; /* Slurm's */

#endif
