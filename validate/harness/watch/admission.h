/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADMISSION_H
#define MUSTER_ADMISSION_H

#include <poll.h>
#include <stddef.h>

#include "lib/base/sha256.h"

/* Who may talk to a listening socket of a run: those that know its secret. Each end proves it to
 * the other by a keyed hash of fresh numbers of both; the secret itself is never sent.
 *
 *   listener -> caller   nonce L
 *   caller -> listener   rank, nonce C, HMAC(key, "caller" rank C L)
 *   listener -> caller   HMAC(key, "listener" rank C L)
 *
 * Connections that have not proved it yet are bounded in number and time, and cost nobody a wait.
 */

enum { NONCE_BYTES = 16, ADMISSION_PENDING = 64, ADMISSION_POLLED = ADMISSION_PENDING + 1 };

struct admission_proof {
    int32_t rank;
    unsigned char nonce[NONCE_BYTES];
    unsigned char mac[SHA256_BYTES];
};

struct admission_pending {
    int fd; /* -1: free */
    double since_s;
    unsigned char nonce[NONCE_BYTES];
    size_t length; /* of what came of the proof */
    struct admission_proof proof;
};

struct admission {
    int listener;
    int rank_count; /* callers are 0 to rank_count - 1 */
    unsigned char key[SHA256_BYTES];
    struct admission_pending pending[ADMISSION_PENDING];
};

/* listener: non-blocking, stays the caller's to close. */
void admission_open(struct admission *admission, int listener, const unsigned char *key,
                    int rank_count);
void admission_close(struct admission *admission);

/* What poll() is to wait for. */
void admission_polled(const struct admission *admission, struct pollfd polled[ADMISSION_POLLED]);

/* Does what can be done without waiting. Returns the socket of a caller that has proved that it
 * knows the secret, non-blocking, and its *rank; or -1: no further one. To be called until then. */
int admission_next(struct admission *admission, double now_s, int *rank);

/* The caller's side, on a connected socket: waits timeout_ms at most. Returns 0; -1 with errno
 * ECONNRESET when the other end has closed, EACCES when it does not know the secret, or ETIMEDOUT.
 */
int admission_call(int fd, const unsigned char *key, int rank, int timeout_ms);

#endif
