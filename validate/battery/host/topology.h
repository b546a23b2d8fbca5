/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HOST_TOPOLOGY_H
#define MUSTER_HOST_TOPOLOGY_H

#include <sched.h>
#include <stdint.h>

#include "validate/battery/host/evaluate.h"

/* What of a node a program may use. Each function takes the root of /proc and /sys first, "" for
 * this machine (lib/base/sysfs.h). */

/* Fills in model, memory_gib, cores and numas of the node, but no figure: the first of each core's
 * hardware threads among those allowed. cache_bytes: [HOST_NUMA_NODES] of the last-level caches of
 * each NUMA node, 32 MiB where the kernel does not tell. numa_of: [HOST_CORES] the index of each
 * core in numas. */
void topology_read(const char *root, const cpu_set_t *allowed, struct host_node *node,
                   double *cache_bytes, int *numa_of);

/* Memory that can be had without anybody being killed for it: what is available, and what the
 * memory limits of the process's cgroups, version 1 or 2, leave. In bytes; 0: not told. */
double topology_free_bytes(const char *root);

/* How long the CPU quotas of the process's cgroups have held them back, in seconds since these were
 * made, the time of all processors added up. */
double topology_held_back_s(const char *root);

/* The time that a hypervisor gave to others while that processor had work, in clock ticks. */
uint64_t topology_steal_ticks(const char *stat, int cpu);

#endif
