/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_TOPOLOGY_H
#define MUSTER_HOST_TOPOLOGY_H

#include <sched.h>
#include <stdint.h>

#include "validate/battery/host/evaluate.h"

/* What a program may use of a node. root: of /proc and /sys, "" for this machine
 * (lib/base/sysfs.h). */

/* Sets model, memory_gib, cores and numas of the node, but no figure. A core is the first of its
 * hardware threads that is allowed. cache_bytes: [HOST_NUMA_NODES] of the last-level caches of each
 * NUMA node, 32 MiB if that is not known. numa_of: [HOST_CORES] the index of each core in numas. */
void topology_read(const char *root, const cpu_set_t *allowed, struct host_node *node,
                   double *cache_bytes, int *numa_of);

/* Returns the memory that can be allocated without an out-of-memory kill, in bytes: what is
 * available, but no more than the memory limits of the process's cgroups, version 1 or 2, leave. 0:
 * not known. */
double topology_free_bytes(const char *root);

/* Returns how long the CPU quotas of the process's cgroups have throttled them since these were
 * created, in seconds, summed over all processors. */
double topology_throttled_s(const char *root);

/* Returns the steal time of the processor in clock ticks: it had work, but the hypervisor ran
 * others. stat: the text of /proc/stat; NULL: 0. */
uint64_t topology_steal_ticks(const char *stat, int cpu);

#endif
