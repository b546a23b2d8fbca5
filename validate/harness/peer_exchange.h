/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PEER_EXCHANGE_H
#define MUSTER_PEER_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>

/* Collective on comm. Exchanges the addresses of the nodes; from now on only connections from these
 * addresses are accepted (peers.h). is_reporter: this rank sends the addresses of its node. If one
 * node does not know its addresses, nothing changes on any node. */
void peer_exchange(MPI_Comm comm, bool is_reporter);

#endif
