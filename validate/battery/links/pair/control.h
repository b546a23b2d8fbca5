/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CONTROL_H
#define MUSTER_CONTROL_H

#include <poll.h>
#include <stddef.h>

#include "validate/harness/program.h"

/* What the leaders of the nodes tell each other: messages over TCP on the management network. No
 * MPI, which does not outlive a rank; a line to a leader that dies, freezes or is cut off ends with
 * an error as soon as that is known.
 *
 * Every leader has a line to the first node's, and one at a time to another one. Functions that
 * return int give 0, or -1 when the line is lost: closed, or its other end given up by the watch
 * (watch_is_lost()). They wait as long as neither is so, asleep. Messages are structs as they are.
 */

struct control;

/* What else a wait is to do: work() does what can be done now, and fills in the descriptors that
 * are readable when there is more, at most LINES_IDLE. Returns how many, or -1: it cannot tell, and
 * is called each millisecond. */
enum { CONTROL_IDLE = 32 };
struct control_idle {
    int (*work)(void *context, struct pollfd *polled);
    void *context;
};

/* All leaders, with MPI. A leader that cannot be reached is as one that is lost. Returns NULL with
 * err when this node cannot listen. */
struct control *control_open(struct program *program, struct error *err);
void control_close(struct control *control);

/* The line between the first node and another. */
int control_send(struct control *control, int node, const void *data, size_t size_bytes);
int control_receive(struct control *control, int node, void *data, size_t size_bytes);

/* First node: whether a message of that node had begun to arrive, or its line was lost, when
 * control_wait() looked last: said once. A look of its own at each node each time that one has a
 * word would be as many as the square of the nodes. */
bool control_has_message(struct control *control, int node);

/* First node: waits a moment until some line has a word, of those whose node is not heard yet. */
void control_wait(struct control *control, const bool *is_received);

/* Two partners call it at the same time: opens a line between them. */
int control_connect(struct control *control, int partner);

/* Exchanges a message of the same size with the partner. */
int control_exchange(struct control *control, const void *out, void *in, size_t size_bytes,
                     const struct control_idle *idle);
void control_disconnect(struct control *control);

#endif
