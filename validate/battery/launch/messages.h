/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BATTERY_MESSAGES_H
#define MUSTER_BATTERY_MESSAGES_H

#include "validate/battery/program.h"

/* Every pair of ranks exchanges checked messages, 0 bytes to max_bytes, in the order of a
 * tournament (rounds 0: all of its rounds). One record per node with the count, and one for each
 * pair (sender, receiver) whose messages are not what was sent; and one of each node with an
 * InfiniBand or RoCE fabric from which they left by TCP all the same. All ranks call it. */
void messages_exchange(struct program *program, int rounds, int max_bytes);

#endif
