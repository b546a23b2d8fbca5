/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_PROGRAM_PROBE_H
#define MUSTER_CERTIFY_PROGRAM_PROBE_H

#include "validate/certify/state/run.h"

/* Finds the nodes that cannot start the program of the last MPI step, for example because a library
 * is missing: each prints the program's version, alone and without MPI. Call it if nobody else is
 * to blame: one such node keeps all others waiting in MPI_Init. Such nodes are unknown in the
 * stage, and not drained: muster itself may be incomplete there. is_running: the step has not ended
 * and may be slow, so a node counts only if it reported why its program does not start. Returns
 * their number; 0 if half of the nodes or more cannot, which is no node's fault, or if the probe
 * failed. */
size_t certify_program_probe(struct certify *certify, enum stage stage,
                             const struct hostlist *names, bool is_running);

/* Finds in the same way the nodes that cannot start muster-gpu in the container. They are skipped
 * in the stage gpu, with a note of the reason; nobody is at fault. */
void certify_container_probe(struct certify *certify, const char *container,
                             const struct hostlist *names);

#endif
