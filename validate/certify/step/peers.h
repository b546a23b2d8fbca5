/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CERTIFY_PEERS_H
#define MUSTER_CERTIFY_PEERS_H

#include "validate/certify/state/run.h"
#include "validate/certify/step/step_setup.h"

/* The hosts whose connections the battery's programs accept within MPI_Init, before their ranks
 * have exchanged addresses (validate/harness/watch/peers.h). */
/* Reads the addresses of the nodes that were asked from the records of muster check since first.
 * They are used only if all good nodes have reported theirs; a note names those that have not. */
void certify_peers(struct certify *certify, size_t first);
/* Adds the addresses to the environment, if they are known. Only for the first try of a stage: if a
 * node has an address that it did not report, later tries show how the stage ends without this
 * restriction, and so does each measurement for which a node may fail. */
void certify_environment_peers(const struct certify *certify,
                               struct certify_environment *environment);

#endif
