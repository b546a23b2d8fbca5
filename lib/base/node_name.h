/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_NODE_NAME_H
#define MUSTER_NODE_NAME_H

#include <stddef.h>

/* Copies Slurm's name of this node ($SLURMD_NODENAME) if it is set, else the host's name. Cut at
 * size. */
void node_name(char *name, size_t size);

/* Copies the host's name up to its first dot; "?" if it cannot be read. */
void host_name(char *name, size_t size);

#endif
