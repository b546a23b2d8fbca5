/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_HEARTBEAT_H
#define MUSTER_HEARTBEAT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "validate/harness/watch/admission.h"

/* The messages between the watch of every rank and the monitor on rank 0, over TCP. All ranks of a
 * job run the same program on the same kind of machine: structs travel as they are. */

enum heartbeat_type {
    HEARTBEAT_TICK,   /* still here: progress, waits_for, text the phase */
    HEARTBEAT_FAULT,  /* the rank cannot go on: text has the cause */
    HEARTBEAT_SIGNAL, /* a signal wants the rank to stop: progress is its number */
    HEARTBEAT_BYE,    /* the rank is done */
    HEARTBEAT_QUIT,   /* from rank 0: leave now, progress is the exit status */
    HEARTBEAT_LOST,   /* from rank 0: the rank `progress` is given up */
    HEARTBEAT_OVER,   /* from rank 0: there is nothing more to do */
};

struct heartbeat {
    uint32_t type;
    int32_t rank;
    uint32_t progress;
    int32_t waits_for;
    /* of a tick: the main thread's, and the process's bytes */
    double ran_s, queued_s; /* cpu_time.h; queued_s NAN: not known */
    double moved_bytes;     /* sockets.h, looked at only while no step is done */
    int32_t state;          /* 'R', 'S', 'D', ... */
    char text[232];
};

/* Where rank 0 listens. */
enum { HEARTBEAT_ADDRESSES = 8, HEARTBEAT_TOKEN_BYTES = 32 };
struct heartbeat_endpoint {
    unsigned char token[HEARTBEAT_TOKEN_BYTES]; /* random; to other ranks by MPI alone */
    uint32_t address_count;
    struct sockaddr_in6 addresses[HEARTBEAT_ADDRESSES]; /* IPv4 ones as mapped */
};

/* Takes the secret of the run out of the environment (MUSTER_SECRET, 32 bytes in hexadecimal
 * figures, which came with the step), so that no other program and no reader of /proc sees it.
 * Without one the tokens alone are secret, as far as MPI's own messages are. */
void heartbeat_read_secret(void);

/* The key by which both ends of a connection to that endpoint prove themselves (admission.h). */
void heartbeat_key(const struct heartbeat_endpoint *endpoint, unsigned char key[SHA256_BYTES]);

/* Opens a listening socket and fills endpoint: addresses of the interface first (NULL or "": none
 * is preferred), then those of others that are up, loopback last. is_only: the socket is bound to
 * the interface's address, where it has one, and that is the only one. Returns the socket, or -1
 * with err. */
int heartbeat_listen(const char *interface, bool is_only, struct heartbeat_endpoint *endpoint,
                     struct error *err);

/* Tries the addresses in turn: each for at most timeout_ms to connect, and answer_ms until both
 * ends have proved that they know the secret. Returns the socket, or -1 with err. */
int heartbeat_connect(const struct heartbeat_endpoint *endpoint, int rank, int timeout_ms,
                      int answer_ms, struct error *err);

/* Sends without waiting. Returns 0, or -1 when the message did not go out as a whole. */
int heartbeat_send(int socket, const struct heartbeat *heartbeat);

/* What has arrived of the next message. */
struct heartbeat_buffer {
    struct heartbeat heartbeat;
    size_t length;
};

/* Reads what is there. Returns 1 when buffer->heartbeat is a whole message, 0 when not yet, -1 when
 * the other end is gone. */
int heartbeat_receive(int socket, struct heartbeat_buffer *buffer);

#endif
