/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_REQUEUE_H
#define MUSTER_RUN_REQUEUE_H

#include <stdint.h>

#include "validate/slurm/own_job.h"

/* Queues the job that we are in again, with its list of nodes as ExcNodeList, and waits for Slurm
 * to end this process, so that the rest of the job script is not run. A slurmctld that is away is
 * waited for, and one that was started again and has lost the request gets it once more. What is
 * wrong goes to standard error, after name. Returns only where the job is not queued. */
void requeue_until_ended(const char *name, uint32_t id, const struct own_job *job);

#endif
