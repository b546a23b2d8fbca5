/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ALLOCATE_H
#define MUSTER_CERTIFY_ALLOCATE_H

#include "validate/certify/state/run.h"

/* Gets the allocation for muster check, certify->job_id, on the nodes to be tested. Each node that
 * cannot be allocated gets a verdict. */
void certify_allocate(struct certify *certify);
/* Replaces the current job by the next one: JOB_BATTERY on the nodes without a fault so far,
 * JOB_CERTIFICATES on the nodes that certify_is_available() accepts. Does nothing if the run is not
 * root's, has no job, or was stopped. */
void certify_allocate_next(struct certify *certify, enum certify_job job);
/* Gets another job after the job was ended early or lost. Slurm ends a job when a prolog fails,
 * possibly just after the allocation seemed complete, and a controller may lose a job (cluster.h).
 * What this did to the job's processes is no node's fault. Ends the stage's progress and requests a
 * job on the nodes that are still available. If no node explains the end, somebody canceled the
 * job: then no other job is requested, and all its nodes are unknown. Returns false, and does
 * nothing, if the job still exists or the run was stopped. */
bool certify_allocate_again(struct certify *certify);
/* Returns whether the job has ended or was lost. */
bool certify_job_is_over(const struct certify *certify);

#endif
