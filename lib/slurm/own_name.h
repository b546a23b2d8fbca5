/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_OWN_NAME_H
#define MUSTER_OWN_NAME_H

#include <stddef.h>

/* Slurm's name of this node: $SLURMD_NODENAME, which Slurm sets in jobs, prolog, epilog and health
 * check; elsewhere the NodeName that root's slurm.conf has for root's host name, which may be
 * another; without either, that host name up to its first dot. Reads files, so not for a job's way:
 * node_name() is. root: "" is this machine. Cut at size. */
void own_name(const char *root, char *name, size_t size);

#endif
