/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_PEERS_H
#define MUSTER_CERTIFY_PEERS_H

#include "validate/certify/state/run.h"
#include "validate/certify/step/step_setup.h"

/* Whose connections the programs of the battery accept within MPI_Init, before their ranks
 * have told each other (validate/harness/watch/peers.h). */
/* Takes what muster check said of the nodes that were asked, in the records since first. The
 * addresses are known only when all of those that are good have told theirs; a note names those
 * that have not. */
void certify_peers(struct certify *certify, size_t first);
/* Adds them to the environment, where they are known. For the first try of a stage alone: if a node
 * has an address that it did not tell, the next try shows what the stage is without them, and so
 * does each measurement for which a node may fail. */
void certify_environment_peers(const struct certify *certify,
                               struct certify_environment *environment);

#endif
