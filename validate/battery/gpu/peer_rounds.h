/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_GPU_PEER_ROUNDS_H
#define MUSTER_GPU_PEER_ROUNDS_H

#include <stdbool.h>

/* Which pairs of so many devices of a node are measured. All of up to GPU_PEERS_MOST + 1 devices;
 * of more each device with GPU_PEERS_MOST others, or one less: all pairs would take a time that
 * grows with the square. These are rounds of a tournament (validate/schedule/tournament.h), spread
 * evenly over all of its rounds. Where each GPU is some devices that follow each other in the
 * driver's order (AMD's CPX mode) each two GPUs have a pair then. Pure. */

/* Rounds of pairs, GPU_PEERS_MOST at most; in each a device has one partner. */
int peer_rounds(int count);

/* The device's partner in that round, or TOURNAMENT_BYE. */
int peer_partner(int count, int round, int device);

/* Whether a round has that pair. */
bool peer_is_measured(int count, int device, int other);

#endif
