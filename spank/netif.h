/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPANK_NETIF_H
#define MUSTER_SPANK_NETIF_H

#include <stdint.h>

#include "lib/constants/node_constants.h"

/* The interfaces of a node, as root: in the prolog they are made what the Interface lines of
 * muster.conf ask for, in the epilog what they were. The work is done in a process of its own that
 * is given up at NETIF_DEADLINE_MS (drivers take a second or so to change an MTU or a ring), and
 * dies with this one; the journal knows at each moment what is still to be put back. The note of a
 * refusal is left as that of the gate (spank/refusal.h). */

/* Returns 0 to let the job start, or -1 when a setting cannot be made and OnInterface=refuse: then
 * it has logged why, put back what it could, and left the line in the file "refused" beside the
 * certificate. A muster.conf that cannot be read never refuses, nor another job that is being set
 * up or ended, nor a machine without memory or processes. config_path NULL: the default. */
int netif_prolog(const char *config_path, uint32_t job_id);

void netif_epilog(const char *config_path, uint32_t job_id);

/* When slurmd starts: puts back what no job holds any more. */
void netif_recover(const char *config_path);

#endif
