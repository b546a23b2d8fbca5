/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PENDING_H
#define MUSTER_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/hostlist.h"

struct cluster;

/* Jobs that wait only for nodes, and which of them need given nodes. */

struct pending_job {
    uint32_t id;
    uid_t uid;
    char name[64];
    uint32_t nodes;   /* it needs at least so many */
    bool is_refused;  /* Resources: the scheduler found no nodes. Else (None, Priority) it has not
                         tried yet, or other jobs go first */
    char *partitions; /* "a,b" */
    char *required;   /* nodes that it must have, in Slurm's notation; "" */
    char *excluded;   /* nodes that it must not have; "" */
    char *features;   /* its constraint; "" */
};

/* Lists the jobs that wait for nodes: not those that depend on others, begin later, are held, at a
 * limit, or have a reservation of their own, nor those of muster certify. battery_uid: BatteryUser.
 * Release *jobs with pending_jobs_free(). Returns their number, or -1 with err. */
int pending_jobs(uid_t battery_uid, struct pending_job **jobs, struct error *err);
void pending_jobs_free(struct pending_job *jobs, int count);

/* Used by pending_jobs(): returns whether a job with these numbers of Slurm waits for nodes, and
 * sets its is_refused. */
bool pending_needs_nodes(uint32_t state, uint32_t reason, bool *is_refused);

/* Returns the first job that can start on these nodes and may not start without them; NULL: none. A
 * job that cannot be evaluated, as with a constraint of several features, counts as such a job.
 * Pure. cluster: partitions and features. now: current node states. If memory is out, returns the
 * first job. */
const struct pending_job *pending_job_for_nodes(const struct pending_job *jobs, int count,
                                                const struct cluster *cluster,
                                                const struct cluster *now,
                                                const struct hostlist *nodes);

/* Removes from nodes those that are in a partition of the job. Returns 0, or -1 if memory is out,
 * with no node left. */
int pending_nodes_remove(const struct pending_job *job, const struct cluster *cluster,
                         struct hostlist *nodes);

#endif
