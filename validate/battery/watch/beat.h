/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BEAT_H
#define MUSTER_BEAT_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

/* The messages between the watch of every rank and the warden on rank 0, over TCP. All ranks of a
 * job run the same program on the same kind of machine: structs travel as they are. */

enum beat_type {
    BEAT_HELLO,  /* first message of a rank: rank, token, text its node */
    BEAT_TICK,   /* still here: progress, waits_for, text the phase */
    BEAT_FAULT,  /* the rank cannot go on: text says why */
    BEAT_SIGNAL, /* the rank was told to stop by a signal: progress is its number */
    BEAT_BYE,    /* the rank is done */
    BEAT_QUIT,   /* from rank 0: leave now, progress is the exit status */
    BEAT_LOST,   /* from rank 0: the rank `progress` is given up */
    BEAT_OVER,   /* from rank 0: there is nothing more to do */
};

struct beat {
    uint32_t type;
    int32_t rank;
    uint64_t token;
    uint32_t progress;
    int32_t waits_for;
    /* of a tick: the main thread's, and the process's bytes */
    double ran_s, queued_s; /* cpu_time.h; queued_s NAN: not known */
    double moved_bytes;     /* sockets.h, looked at only while no step is done */
    int32_t state;          /* 'R', 'S', 'D', ... */
    char text[232];
};

/* Where rank 0 listens. */
enum { BEAT_ADDRESSES = 8 };
struct beat_endpoint {
    uint64_t token;
    uint32_t address_count;
    struct sockaddr_in6 addresses[BEAT_ADDRESSES]; /* IPv4 ones as mapped */
};

/* Opens a listening socket on all addresses and fills endpoint: addresses of the interface first
 * (NULL or "": none is preferred), then those of others that are up, loopback last. Returns the
 * socket, or -1 with err. */
int beat_listen(const char *interface, struct beat_endpoint *endpoint, struct error *err);

/* Tries the addresses in turn, each for at most timeout_ms; says hello. Returns the socket, or -1
 * with err. */
int beat_connect(const struct beat_endpoint *endpoint, int rank, const char *node, int timeout_ms,
                 struct error *err);

/* Sends without waiting. Returns 0, or -1 when the message did not go out as a whole. */
int beat_send(int socket, const struct beat *beat);

/* What has arrived of the next message. */
struct beat_buffer {
    struct beat beat;
    size_t length;
};

/* Reads what is there. Returns 1 when buffer->beat is a whole message, 0 when not yet, -1 when the
 * other end is gone. */
int beat_receive(int socket, struct beat_buffer *buffer);

#endif
