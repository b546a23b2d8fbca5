/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BINDING_H
#define MUSTER_BINDING_H

#include <stddef.h>

/* Finds the socket that a process is bound to. */

enum { BINDING_LIST = 512, BINDING_NODES = 64 };

/* Reads the processors on which the calling process may run, as a list in the kernel's notation:
 * "0-3,8". Returns 0, or -1 with "" if they are not known or do not fit. */
int binding_read(char cpus[BINDING_LIST]);

/* Returns the NUMA nodes of the one socket that has all these processors: bit n for NUMA node n. A
 * NUMA node belongs to the socket with the physical_package_id of its processors; a node with only
 * memory belongs to none. Returns 0 if the processors are of several sockets, or if the tree does
 * not show it. NUMA nodes from BINDING_NODES on are ignored. root as in sysfs.h. */
unsigned long long binding_numa_nodes(const char *root, const char *cpus);

#endif
