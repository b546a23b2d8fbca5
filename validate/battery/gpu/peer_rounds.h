/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_PEER_ROUNDS_H
#define MUSTER_GPU_PEER_ROUNDS_H

#include <stdbool.h>

/* Which pairs of a node's devices are measured. With up to GPU_PEERS_MOST + 1 devices these are all
 * pairs. With more, each device has GPU_PEERS_MOST partners, or one less, as the time for all pairs
 * grows with the square. The pairs are those of some rounds of a tournament
 * (validate/schedule/tournament.h), spread evenly over all of its rounds. So if each GPU is several
 * devices in a row in the driver's order (AMD's CPX mode), each two GPUs have a pair. Pure. */

/* Returns the number of rounds, GPU_PEERS_MOST at most. A device has one partner in each. */
int peer_rounds(int count);

/* Returns the partner of the device in that round, or TOURNAMENT_BYE. */
int peer_partner(int count, int round, int device);

/* Whether a round has that pair. */
bool peer_is_measured(int count, int device, int other);

#endif
