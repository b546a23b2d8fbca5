/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/slurm/memory.h"

#include "validate/slurm/release.h"

uint64_t memory_of_job(const struct cluster *cluster, const struct hostlist *nodes, uint64_t limit)
{
    uint64_t flag = limit & MEM_PER_CPU, most = limit & ~MEM_PER_CPU, least = most;
    bool is_beyond = false;

    for (size_t i = 0; most > 0 && i < nodes->count; i++) {
        const struct cluster_node *node = cluster_node(cluster, nodes->names[i]);
        uint64_t units = flag && node && node->cpus > 0 ? (uint64_t)node->cpus : 1;

        if (!node || node->memory_mb / units == 0)
            continue;
        is_beyond |= node->memory_mb > most * units;
        least = node->memory_mb / units < least ? node->memory_mb / units : least;
    }
    return is_beyond ? least | flag : 0;
}
