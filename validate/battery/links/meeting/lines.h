/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_LINES_H
#define MUSTER_LINES_H

#include <poll.h>
#include <stddef.h>

#include "validate/battery/program.h"

/* What the leaders of the nodes tell each other: messages over TCP on the management network. No
 * MPI, which does not outlive a rank; a line to a leader that dies, freezes or is cut off ends with
 * an error as soon as that is known.
 *
 * Every leader has a line to the first node's, and one at a time to another one. Functions that
 * return int give 0, or -1 when the line is lost: closed, or its other end given up by the watch
 * (watch_is_lost()). They wait as long as neither is so, asleep. Messages are structs as they are.
 */

struct lines;

/* What else a wait is to do: work() does what can be done now, and fills in the descriptors that
 * are readable when there is more, at most LINES_IDLE. Returns how many, or -1: it cannot tell, and
 * is called each millisecond. */
enum { LINES_IDLE = 32 };
struct lines_idle {
    int (*work)(void *context, struct pollfd *polled);
    void *context;
};

/* All leaders, with MPI. A leader that cannot be reached is as one that is lost. Returns NULL with
 * err when this node cannot listen. */
struct lines *lines_open(struct program *program, struct error *err);
void lines_close(struct lines *lines);

/* The line between the first node and another. */
int lines_send(struct lines *lines, int node, const void *data, size_t size_bytes);
int lines_receive(struct lines *lines, int node, void *data, size_t size_bytes);

/* First node: whether a message of that node has begun to arrive, or its line is lost. */
bool lines_has_word(struct lines *lines, int node);

/* First node: waits a moment until some line has a word, of those whose node is not heard yet. */
void lines_wait(struct lines *lines, const bool *is_heard);

/* Two partners call it at the same time: opens a line between them. */
int lines_meet(struct lines *lines, int partner);

/* Exchanges a message of the same size with the partner. */
int lines_swap(struct lines *lines, const void *out, void *in, size_t size_bytes,
               const struct lines_idle *idle);
void lines_part(struct lines *lines);

#endif
