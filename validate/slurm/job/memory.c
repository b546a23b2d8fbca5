/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/job/memory.h"

#include "validate/slurm/release.h"

/* Returns the memory that a job may have on each of the nodes: the limit, or that of the smallest
 * node. A limit by CPU applies to each of a node's CPUs. *is_beyond: whether a node has more than
 * the limit. */
static uint64_t least_memory(const struct cluster *cluster, const struct hostlist *nodes,
                             uint64_t limit, bool *is_beyond)
{
    uint64_t most = limit & ~MEM_PER_CPU, least = most;

    *is_beyond = false;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct cluster_node *node = cluster_node(cluster, nodes->names[i]);
        uint64_t units = limit & MEM_PER_CPU && node && node->cpus > 0 ? (uint64_t)node->cpus : 1;

        if (!node || node->memory_mb / units == 0)
            continue;
        *is_beyond |= node->memory_mb > most * units;
        least = node->memory_mb / units < least ? node->memory_mb / units : least;
    }
    return least | (limit & MEM_PER_CPU);
}

uint64_t memory_of_job(const struct cluster *cluster, const struct cluster_partition *partition,
                       const struct hostlist *nodes)
{
    uint64_t limit = partition->max_memory;
    bool is_beyond;

    if ((limit & ~MEM_PER_CPU) == 0)
        return 0;
    (void)least_memory(cluster, &partition->nodes, limit, &is_beyond);
    return is_beyond ? least_memory(cluster, nodes, limit, &is_beyond) : 0;
}
