/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MEMORY_H
#define MUSTER_MEMORY_H

#include <stdint.h>

#include "validate/slurm/cluster.h"

/* Returns the memory that a job of these whole nodes requests, in slurmctld's notation: 0 (all of
 * it) if MaxMemPerNode or, with Slurm's flag, MaxMemPerCPU permits that on each node of the
 * partition, else as much as it permits on each of these. Slurm refuses, or never starts, a job of
 * all memory if a node of the partition has more than the limit (job_mgr.c, _valid_pn_min_mem()).
 */
uint64_t memory_of_job(const struct cluster *cluster, const struct cluster_partition *partition,
                       const struct hostlist *nodes);

#endif
