/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONTROL_H
#define MUSTER_CONTROL_H

#include <poll.h>
#include <stddef.h>

#include "validate/harness/program.h"

/* Control messages between the leaders of the nodes, over TCP on the management network. MPI is not
 * used, as it does not outlive a rank. A connection to a leader that dies, freezes or is cut off
 * fails as soon as that is known.
 *
 * Every leader has a connection to the leader of the first node, and to one other at a time.
 * Functions that return int return 0, or -1 if the connection is lost: closed, or its other end
 * given up by the watch (watch_is_lost()). Until then they wait, asleep. Messages are raw
 * structs. */

struct control;

/* What else to do while waiting. work() does what can be done now, and sets polled to descriptors
 * that are readable when there is more to do, at most CONTROL_IDLE. Returns their number, or -1 if
 * it cannot tell; it is then called each millisecond. */
enum { CONTROL_IDLE = 32 };
struct control_idle {
    int (*work)(void *context, struct pollfd *polled);
    void *context;
};

/* Connects the leaders. All of them call it while MPI is there. A leader that cannot be reached
 * counts as lost. Returns NULL with err if this node cannot listen. */
struct control *control_open(struct program *program, struct error *err);
void control_close(struct control *control);

/* Between the first node and another one. */
int control_send(struct control *control, int node, const void *data, size_t size_bytes);
int control_receive(struct control *control, int node, void *data, size_t size_bytes);

/* First node: whether, when control_wait() last looked, a message of that node had begun to arrive
 * or its connection was lost. An arrival is reported once. To poll each node here, each time that
 * one has a message, would take as many calls as the square of the nodes. */
bool control_has_message(struct control *control, int node);

/* First node: waits for a moment, until a node that is not in is_received has a message. */
void control_wait(struct control *control, const bool *is_received);

/* Connects two partners, which call it at the same time. */
int control_connect(struct control *control, int partner);

/* Exchanges a message of the same size with the partner. */
int control_exchange(struct control *control, const void *out, void *in, size_t size_bytes,
                     const struct control_idle *idle);
void control_disconnect(struct control *control);

#endif
