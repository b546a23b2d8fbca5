/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BINDING_H
#define MUSTER_BINDING_H

#include <stddef.h>

/* To which of a node's sockets a process is bound. */

enum { BINDING_LIST = 512, BINDING_NODES = 64 };

/* The processors on which the calling process may run, as the kernel writes lists of them:
 * "0-3,8". Returns 0, or -1 with "" when that is not told or does not fit. */
int binding_read(char cpus[BINDING_LIST]);

/* The NUMA nodes of the one socket that all these processors are of: bit n for NUMA node n. A
 * socket's NUMA nodes are those with processors of its physical_package_id; nodes of memory alone
 * are of none. 0 where the processors are of several sockets, or the tree does not tell; NUMA nodes
 * from BINDING_NODES on are not told. root as in sysfs.h. */
unsigned long long binding_numa_nodes(const char *root, const char *cpus);

#endif
