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
 * job run the same program on the same kind of machine, so structs are sent as they are. */

enum heartbeat_type {
    HEARTBEAT_TICK,     /* the rank lives: progress, waits_for; text is the phase */
    HEARTBEAT_FAULT,    /* the rank cannot continue: text is the cause */
    HEARTBEAT_SIGNAL,   /* the rank received a signal: progress is the signal number */
    HEARTBEAT_BYE,      /* the rank is done */
    HEARTBEAT_QUIT,     /* from rank 0: leave now, progress is the exit status */
    HEARTBEAT_LOST,     /* from rank 0: the rank `progress` is given up */
    HEARTBEAT_FINISHED, /* from rank 0: there is nothing more to do */
};

struct heartbeat {
    uint32_t type;
    int32_t rank;
    uint32_t progress;
    int32_t waits_for;
    /* of a tick: of the main thread; moved_bytes is of the process */
    double queued_s;    /* cpu_time.h; NAN: unknown */
    double moved_bytes; /* sockets.h; read only while the rank makes no progress */
    int32_t state;      /* 'R', 'S', 'D', ... */
    char text[232];
};

/* Where rank 0 listens. */
enum { HEARTBEAT_ADDRESSES = 8, HEARTBEAT_TOKEN_BYTES = 32 };
struct heartbeat_endpoint {
    unsigned char token[HEARTBEAT_TOKEN_BYTES]; /* random; sent to other ranks by MPI only */
    uint32_t address_count;
    struct sockaddr_in6 addresses[HEARTBEAT_ADDRESSES]; /* IPv4 addresses are mapped */
};

/* Moves the secret of the run (MUSTER_SECRET of the step, 32 bytes in hexadecimal digits) out of
 * the environment, so that no other program and no reader of /proc sees it. Without this secret
 * only the tokens are secret, as far as MPI's own messages are. */
void heartbeat_read_secret(void);

/* Computes the key with which both ends of a connection to the endpoint authenticate
 * (admission.h). */
void heartbeat_key(const struct heartbeat_endpoint *endpoint, unsigned char key[SHA256_BYTES]);

/* Opens a listening socket and fills endpoint: first the addresses of the interface (NULL or "": no
 * preference), then the addresses of other interfaces that are up, loopback last. is_only: if the
 * interface has an address, the socket is bound to it, and endpoint has no other. The socket
 * listens on all addresses that endpoint has. Returns the socket, or -1 with err. */
int heartbeat_listen(const char *interface, bool is_only, struct heartbeat_endpoint *endpoint,
                     struct error *err);

/* Tries the addresses in turn. For each, waits at most timeout_ms for the connection, and answer_ms
 * for the authentication of both ends. Returns the socket, or -1 with err. */
int heartbeat_connect(const struct heartbeat_endpoint *endpoint, int rank, int timeout_ms,
                      int answer_ms, struct error *err);

/* Sends without waiting. Returns 0, or -1 if not the whole message was sent. */
int heartbeat_send(int socket, const struct heartbeat *heartbeat);

/* The part of the next message that has arrived. */
struct heartbeat_buffer {
    struct heartbeat heartbeat;
    size_t length;
};

/* Reads without waiting. Returns 1 if buffer->heartbeat is a whole message, 0 if not yet, -1 if the
 * other end is gone. */
int heartbeat_receive(int socket, struct heartbeat_buffer *buffer);

#endif
