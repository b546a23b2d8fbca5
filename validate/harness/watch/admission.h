/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_ADMISSION_H
#define MUSTER_ADMISSION_H

#include <poll.h>
#include <stddef.h>

#include "lib/base/sha256.h"

/* Mutual authentication at a listening socket of a run. Each end proves that it knows the secret of
 * the run by a keyed hash of fresh nonces of both; the secret itself is never sent.
 *
 *   listener -> caller   nonce L
 *   caller -> listener   rank, nonce C, HMAC(key, "caller" rank C L)
 *   listener -> caller   HMAC(key, "listener" rank C L)
 *
 * Pending connections are bounded in number and time, and no function of the listener blocks. */

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
    size_t length; /* bytes of the proof received so far */
    struct admission_proof proof;
};

struct admission {
    int listener;
    int rank_count; /* callers are ranks 0 to rank_count - 1 */
    unsigned char key[SHA256_BYTES];
    struct admission_pending pending[ADMISSION_PENDING];
};

/* listener: a non-blocking socket; the caller of this function owns and closes it. */
void admission_open(struct admission *admission, int listener, const unsigned char *key,
                    int rank_count);
void admission_close(struct admission *admission);

/* Fills polled with the sockets that poll() is to wait for. */
void admission_polled(const struct admission *admission, struct pollfd polled[ADMISSION_POLLED]);

/* Makes progress without waiting. Returns the non-blocking socket of an authenticated caller and
 * its *rank, or -1 if there is no further one. Call it until it returns -1. */
int admission_next(struct admission *admission, double now_s, int *rank);

/* The caller's side, on a connected socket. Waits timeout_ms at most. Returns 0, or -1 with errno:
 * ECONNRESET if the other end closed, EACCES if it does not know the secret, or ETIMEDOUT. */
int admission_call(int fd, const unsigned char *key, int rank, int timeout_ms);

#endif
