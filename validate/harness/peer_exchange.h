/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PEER_EXCHANGE_H
#define MUSTER_PEER_EXCHANGE_H

#include <mpi.h>
#include <stdbool.h>

/* All ranks of comm: exchanges the nodes' addresses and accepts connections from these alone from
 * now on (peers.h). is_reporter: this rank sends its node's. Where a node does not know its
 * addresses nothing changes anywhere. */
void peer_exchange(MPI_Comm comm, bool is_reporter);

#endif
