/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHANNEL_H
#define MUSTER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/comm/comm.h"

/* Sends bytes from one rank of a communicator to another, apart from its collectives. A lane has at
 * most one transfer under way. Transfers from one rank to another with the same tag arrive in the
 * order in which they were begun. */

struct channel;

/* Creates a channel. Collective over the communicator, which must live as long. Returns 0, or -1
 * with err on all ranks. */
int channel_create(struct comm *comm, int lanes, struct channel **channel, struct error *err);
void channel_destroy(struct channel *channel);

enum { CHANNEL_MOST = 0x7fffffff }; /* bytes of a transfer */

/* Begin a transfer. The lane must be free, and data valid until the transfer is done. */
void channel_send(struct channel *channel, int lane, int rank, int tag, const void *data,
                  size_t bytes);
void channel_receive(struct channel *channel, int lane, int rank, int tag, void *data,
                     size_t bytes);

/* Whether the lane is free, without waiting. */
bool channel_is_free(struct channel *channel, int lane);
/* Waits until the lane is free. */
void channel_wait(struct channel *channel, int lane);
/* Advances the transfers under way. */
void channel_progress(struct channel *channel);

/* Returns what this rank has sent, and how long it has waited. */
struct traffic channel_traffic(const struct channel *channel);

#endif
