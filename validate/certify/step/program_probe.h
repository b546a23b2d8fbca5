/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_PROGRAM_PROBE_H
#define MUSTER_CERTIFY_PROGRAM_PROBE_H

#include "validate/certify/state/run.h"

/* Which of the nodes cannot start the program of the last MPI step, as where a library is missing:
 * each prints its version, alone and without MPI. To be asked when nobody else is to blame: one
 * such node keeps all others waiting in MPI_Init. They are unknown in that stage, and not drained:
 * it may be muster that is not whole there. is_running: the step has not ended and may be slow, so
 * that a node counts only when it told why its program does not start. Returns how many; 0 where
 * half of them or more cannot, which is no node's, or where it could not be found out. */
size_t certify_program_probe(struct certify *certify, enum stage stage,
                             const struct hostlist *names, bool is_running);

/* Which of the nodes cannot start muster-gpu in the container: as above. They are skipped in the
 * stage gpu, with a note of the reason, and nobody is at fault. */
void certify_container_probe(struct certify *certify, const char *container,
                             const struct hostlist *names);

#endif
