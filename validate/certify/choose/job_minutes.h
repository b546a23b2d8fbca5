/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_JOB_MINUTES_H
#define MUSTER_CERTIFY_JOB_MINUTES_H

#include "validate/certify/state/run.h"

/* Returns the run's partition; NULL if it has none yet. */
const struct cluster_partition *certify_partition(const struct certify *certify);
/* Returns the time limit of the job in minutes: the time that its steps may take, but no more than
 * the partition allows (MaxTime), as Slurm never starts a longer job. */
int certify_job_minutes(const struct certify *certify, enum certify_job job);
/* Writes a warning to text if the partition's MaxTime may end the job before its steps' own limits;
 * else "". */
void certify_job_most_text(const struct certify *certify, enum certify_job job, char *text,
                           size_t size);

#endif
