/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_RUN_REQUEUE_H
#define MUSTER_RUN_REQUEUE_H

#include <stdint.h>

#include "validate/slurm/job/own_job.h"

/* Requeues the job of this process, with its list of excluded nodes as ExcNodeList, and waits for
 * Slurm to end this process, so that the rest of the job script is not run. Waits for slurmctld if
 * it is away, and repeats the request if slurmctld was restarted and lost it. Errors go to standard
 * error, after name. Returns only if the job is not queued. */
void requeue_until_ended(const char *name, uint32_t id, const struct own_job *job);

#endif
