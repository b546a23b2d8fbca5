/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_JOBS_H
#define MUSTER_SPANK_JOBS_H

#include <stdint.h>
#include <sys/types.h>

#include "lib/constants/node_constants.h"

/* Each job's difference (lib/node/job_log.h): in the prolog a note of what the node's parts have
 * counted, in the epilog what moved while the job ran. The work is done in a process of its own,
 * which is given up after JOBS_DEADLINE_MS. Best effort: no job is held up or refused, and nothing
 * is logged, for want of it. */

void jobs_prolog(const char *config_path, uint32_t job_id, uid_t uid);
void jobs_epilog(const char *config_path, uint32_t job_id);

#endif
