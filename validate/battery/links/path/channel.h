/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CHANNEL_H
#define MUSTER_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/fabric/fabric.h"

/* One NIC driven by its own UCX context and worker, so that a figure belongs to a rail. One peer at
 * a time; tagged messages; every wait has an end. Functions that return int give 0, or -1 with
 * err. */

struct channel;

enum {
    CHANNEL_WINDOW = 16,             /* messages under way at a time, each way */
    CHANNEL_MESSAGE_BYTES = 1 << 20, /* the largest */
};

/* Sets options of UCX for the process, unless the environment has its variables. Call it once,
 * before MPI and the first channel. UCX's own messages are off, as they would stand among ours. */
void channel_prepare(void);

/* Opens a channel: TCP on the rail's interface, or verbs (rc, ud, dc) on its RDMA port. */
int channel_open(const struct rail *rail, struct channel **channel, struct error *err);
void channel_close(struct channel *channel);

/* Whether the rail's channel is over verbs, not TCP. */
bool channel_is_rdma(const struct rail *rail);

/* Returns the device that the rail's channel drives, as channel_transport() names it: "eth1",
 * "mlx5_0:1". */
const char *channel_device(const struct rail *rail);

/* Returns what the peer needs for channel_connect(): *size_bytes bytes, owned by the channel. */
const void *channel_address(const struct channel *channel, size_t *size_bytes);

/* Makes an endpoint; the connection is made by the first message. */
int channel_connect(struct channel *channel, const void *address, struct error *err);

/* Drops the endpoint and all that is under way, waits at most a second for UCX to agree. */
void channel_disconnect(struct channel *channel);

/* Writes the transports and devices of the connection as UCX names them: "tcp/eth1"; "": not
 * connected. */
void channel_transport(const struct channel *channel, char *text, size_t size);

/* Return buffers of CHANNEL_MESSAGE_BYTES. slot: 0 to CHANNEL_WINDOW - 1. */
void *channel_out(struct channel *channel);
void *channel_in(struct channel *channel, int slot);

/* Starts a message in a slot that is free. Messages are always sent from channel_out(). */
int channel_send(struct channel *channel, int slot, uint64_t tag, size_t size_bytes,
                 struct error *err);
int channel_receive(struct channel *channel, int slot, uint64_t tag, size_t size_bytes,
                    struct error *err);

/* Waits for the message of that slot; fails after timeout_s, or when the connection is lost. */
int channel_wait_send(struct channel *channel, int slot, double timeout_s, struct error *err);
int channel_wait_receive(struct channel *channel, int slot, double timeout_s, struct error *err);

/* Starts a small message and waits for it: at most 256 bytes, copied out of or into data. */
int channel_send_small(struct channel *channel, uint64_t tag, const void *data, size_t size_bytes,
                       double timeout_s, struct error *err);
int channel_receive_small(struct channel *channel, uint64_t tag, void *data, size_t size_bytes,
                          double timeout_s, struct error *err);

/* Marks: small messages whose times of arrival count. channel_expect_marks() expects `count` of
 * them with that tag, at most CHANNEL_MARKS. channel_wait_mark() waits for number `index`, and sets
 * *time_s to when it arrived (clock_s()), whatever this thread did at that moment. */
enum { CHANNEL_MARKS = 72 };
int channel_expect_marks(struct channel *channel, uint64_t tag, int count, struct error *err);
int channel_wait_mark(struct channel *channel, int index, double timeout_s, double *time_s,
                      struct error *err);

/* How a wait waits. IDLE, at first: nothing is timed, it sleeps in the kernel until UCX has
 * something to do. STREAM: a throughput is timed; over TCP it sleeps too, as the kernel goes on
 * with the stream meanwhile, over RDMA it polls. LATENCY: it polls, a wake-up would be part of the
 * figure. */
enum channel_wait { CHANNEL_IDLE, CHANNEL_STREAM, CHANNEL_LATENCY };
void channel_set_wait(struct channel *channel, enum channel_wait wait);

/* For a caller that waits for something else: lets UCX work until nothing is left to do. Returns
 * the descriptor that is readable when there is more and it is to be called again, or -1: UCX
 * cannot tell, so that it is to be called often. */
int channel_arm(struct channel *channel);

/* Between channel_watch() and channel_unwatch(), counts the time in which this process waited for
 * the channel and was not scheduled, without the first 10 ms of each pause, which harm no link.
 * channel_unwatch() returns it in seconds. */
void channel_watch(struct channel *channel);
double channel_unwatch(struct channel *channel);

/* Returns how long, in seconds, the last wait may have been over before this process saw it: since
 * it last looked and found nothing. That is long if the process was not scheduled. */
double channel_late_s(const struct channel *channel);

#endif
