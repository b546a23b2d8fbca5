/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MUNGE_H
#define MUSTER_MUNGE_H

#include "lib/base/error.h"
#include "lib/constants/slurm_constants.h"

/* Watches this host's munged by its socket. Without munged, libslurm and srun try each request for
 * 21 s and more: a run with a hundred requests would hold its nodes for an hour. */

/* Sets the socket from AuthType and AuthInfo of the controller's configuration, both may be NULL.
 * If nothing listens there, or it is not MUNGE, munge_wait() never fails. */
void munge_set_socket(const char *auth_type, const char *auth_info);

/* Returns 0 if requests can be made. If munged has stopped, waits up to MUNGE_WAIT_S for it, but
 * only the first time. Returns -1 with err, which names the next step, if munged does not return.
 */
int munge_wait(struct error *err);

#endif
