/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEMORY_H
#define MUSTER_MEMORY_H

#include <stdint.h>

#include "validate/slurm/cluster.h"

/* How much memory a job of whole nodes asks for, of any of these nodes, in slurmctld's notation: 0,
 * all of it, where limit permits that, else as much as it permits on each. limit: MaxMemPerNode or,
 * with Slurm's flag, MaxMemPerCPU of the partition or of slurm.conf. Slurm refuses, or never
 * starts, a job of all memory of a node that has more (job_mgr.c, _valid_pn_min_mem()). */
uint64_t memory_of_job(const struct cluster *cluster, const struct hostlist *nodes, uint64_t limit);

#endif
