/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SLURM_NODE_NAME_H
#define MUSTER_SLURM_NODE_NAME_H

#include <stddef.h>

/* Copies Slurm's name of this node: $SLURMD_NODENAME, which Slurm sets in jobs, prolog, epilog and
 * health check; else the NodeName in the slurm.conf of root for its host name, which may differ
 * from it; else the host name up to its first dot. Reads files: in the path of a job use
 * node_name() instead. root: "" is this machine. Cut at size. */
void slurm_node_name(const char *root, char *name, size_t size);

#endif
