/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_JOBS_H
#define MUSTER_SPANK_JOBS_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/constants/node_constants.h"

/* The counter differences of each job (lib/node/job_log.h): the prolog notes the error counters of
 * the node's parts, the epilog records how they changed while the job ran. The work runs in a
 * child process, which is killed after JOBS_DEADLINE_MS. Best effort: a failure refuses no job and
 * logs nothing. */

void jobs_prolog(const char *config_path, uint32_t job_id, uid_t uid);
void jobs_epilog(const char *config_path, uint32_t job_id);

#endif
