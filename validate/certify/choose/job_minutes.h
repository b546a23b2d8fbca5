/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_JOB_MINUTES_H
#define MUSTER_CERTIFY_JOB_MINUTES_H

#include "validate/certify/state/run.h"

/* The run's; NULL: it has none yet. */
const struct cluster_partition *certify_partition(const struct certify *certify);
/* The time limit of such a job: what its steps may take, but no more than the partition allows
 * (MaxTime), as Slurm never starts a longer one. */
int certify_job_minutes(const struct certify *certify, enum certify_job job);
/* What is to be said of a job that may end before its tests' own limits; text is "" of others. */
void certify_job_most_text(const struct certify *certify, enum certify_job job, char *text,
                           size_t size);

#endif
