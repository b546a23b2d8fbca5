/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_NETIF_H
#define MUSTER_SPANK_NETIF_H

#include <stdint.h>

#include "lib/constants/node_constants.h"

/* The interfaces of a node, as root: the prolog applies the Interface lines of muster.conf, the
 * epilog restores the former settings. The work runs in a child process, which is killed after
 * NETIF_DEADLINE_MS (drivers take about a second to change an MTU or a ring) and dies with this
 * process. The journal lists at each moment the settings still to be restored. A refusal leaves
 * the same note as the gate's (spank/refusal.h). */

/* Returns 0 to let the job start, or -1 if a setting cannot be made and OnInterface=refuse. Before
 * -1 it logs the reason, restores what it can, and leaves the line in the file "refused" beside the
 * certificate. None of these refuses a job: a muster.conf that cannot be read, another job that is
 * starting or ending, or a lack of memory or processes. config_path NULL: the default path. */
int netif_prolog(const char *config_path, uint32_t job_id);

void netif_epilog(const char *config_path, uint32_t job_id);

/* Called when slurmd starts: restores the settings that no job holds any more. */
void netif_recover(const char *config_path);

#endif
