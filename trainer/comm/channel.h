/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHANNEL_H
#define MUSTER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/comm/comm.h"

/* Bytes from one rank of a communicator to another, apart from what the communicator does together.
 * A transfer is under way in a lane, and nothing else is until it is done; transfers from one rank
 * to another of the same tag arrive in the order in which they were begun. */

struct channel;

/* Collective over the communicator, which must live as long. Returns 0, or -1 with err. */
int channel_create(struct comm *comm, int lanes, struct channel **channel, struct error *err);
void channel_destroy(struct channel *channel);

enum { CHANNEL_MOST = 0x7fffffff }; /* bytes of a transfer */

/* The lane must be free; data valid until the transfer is done. */
void channel_send(struct channel *channel, int lane, int rank, int tag, const void *data,
                  size_t bytes);
void channel_receive(struct channel *channel, int lane, int rank, int tag, void *data,
                     size_t bytes);

/* Whether the lane is free, without waiting. */
bool channel_is_free(struct channel *channel, int lane);
/* Returns when it is. */
void channel_wait(struct channel *channel, int lane);
/* Lets what is under way get on. */
void channel_progress(struct channel *channel);

/* What this rank has sent and waited for. */
struct traffic channel_traffic(const struct channel *channel);

#endif
