/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_MUNGE_H
#define MUSTER_MUNGE_H

#include "lib/base/error.h"
#include "lib/constants/slurm_constants.h"

/* The munged of this host, by its socket. Without it libslurm tries each request for 21 s and more,
 * and srun does: a run that asks a hundred times would hold its nodes for an hour. */

/* Takes AuthType and AuthInfo of the controller's configuration, both may be NULL. Where nothing
 * listens at the socket that they mean, or it is not MUNGE, munge_wait() never refuses. */
void munge_note(const char *auth_type, const char *auth_info);

/* 0 when requests can be made. Of a munged that was there and has gone it waits until it is back,
 * for MUNGE_WAIT_S the first time and not at all after that: -1 with err, which says what to do. */
int munge_wait(struct error *err);

#endif
