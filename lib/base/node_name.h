/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_NAME_H
#define MUSTER_NODE_NAME_H

#include <stddef.h>

/* Slurm's name of this node, where Slurm tells it ($SLURMD_NODENAME), else the host's. Cut at
 * size. */
void node_name(char *name, size_t size);

/* The host's up to its first dot; "?" where it has none. */
void host_name(char *name, size_t size);

#endif
