/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_ALLOCATE_H
#define MUSTER_CERTIFY_ALLOCATE_H

#include "validate/certify/state/run.h"

/* An allocation of the nodes to be tested, job_id, for muster check. A node that
 * is not to be had has its verdict. */
void certify_allocate(struct certify *certify);
/* The next job, in place of the one that is there: JOB_BATTERY of the nodes that have no fault so
 * far, JOB_CERTIFICATES of those that certify_is_held().
 * Does nothing where all of the run is one user's. */
void certify_allocate_next(struct certify *certify, enum certify_job job);
/* When the job was taken away, whatever its end did to the processes there is no node's fault.
 * Slurm does so once a prolog has failed, which may be a moment after the allocation seemed to be
 * there, and a controller may lose a job (cluster.h): ends the stage's progress and tries to have
 * another job with the nodes that are still to be had. Where no node explains the end, somebody
 * canceled the job: then there is no other one, and all its nodes are unknown. Returns false, and
 * nothing is done, when the job is there. */
bool certify_allocate_again(struct certify *certify);
/* Whether the job was taken away. */
bool certify_job_is_over(const struct certify *certify);

#endif
