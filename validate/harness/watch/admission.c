/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "validate/harness/watch/admission.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/constants/harness_constants.h"

/* Computes the proof of one end. who: "caller" or "listener". */
static void make_mac(const unsigned char *key, const char *who, int32_t rank,
                     const unsigned char *caller_nonce, const unsigned char *listener_nonce,
                     unsigned char mac[SHA256_BYTES])
{
    unsigned char message[16 + sizeof rank + 2 * NONCE_BYTES] = {0};

    memcpy(message, who, strlen(who));
    memcpy(message + 16, &rank, sizeof rank);
    memcpy(message + 16 + sizeof rank, caller_nonce, NONCE_BYTES);
    memcpy(message + 16 + sizeof rank + NONCE_BYTES, listener_nonce, NONCE_BYTES);
    hmac_sha256(key, SHA256_BYTES, message, sizeof message, mac);
}

void admission_open(struct admission *admission, int listener, const unsigned char *key,
                    int rank_count)
{
    *admission = (struct admission){.listener = listener, .rank_count = rank_count};
    memcpy(admission->key, key, SHA256_BYTES);
    for (int i = 0; i < ADMISSION_PENDING; i++)
        admission->pending[i].fd = -1;
}

static void drop(struct admission_pending *pending)
{
    if (pending->fd >= 0)
        close(pending->fd);
    pending->fd = -1;
}

void admission_close(struct admission *admission)
{
    for (int i = 0; i < ADMISSION_PENDING; i++)
        drop(&admission->pending[i]);
}

void admission_polled(const struct admission *admission, struct pollfd polled[ADMISSION_POLLED])
{
    bool has_slot = false;

    for (int i = 0; i < ADMISSION_PENDING; i++) {
        polled[1 + i] = (struct pollfd){.fd = admission->pending[i].fd, .events = POLLIN};
        has_slot |= admission->pending[i].fd < 0;
    }
    polled[0] = (struct pollfd){.fd = has_slot ? admission->listener : -1, .events = POLLIN};
}

/* Returns a free slot, else the slot of the oldest pending connection if it is older than
 * ADMISSION_WANTED_S, else NULL. Without a slot a connection waits in the kernel's queue: all
 * ranks of a large job connect at once. */
static struct admission_pending *find_slot(struct admission *admission, double now_s)
{
    struct admission_pending *oldest = &admission->pending[0];

    for (int i = 0; i < ADMISSION_PENDING; i++) {
        struct admission_pending *slot = &admission->pending[i];

        if (slot->fd < 0)
            return slot;
        if (slot->since_s < oldest->since_s)
            oldest = slot;
    }
    if (now_s - oldest->since_s < ADMISSION_WANTED_S)
        return NULL;
    drop(oldest);
    return oldest;
}

static void accept_all(struct admission *admission, double now_s)
{
    struct pollfd waiting = {.fd = admission->listener, .events = POLLIN};
    struct admission_pending *slot;
    int fd, on = 1;

    while (poll(&waiting, 1, 0) == 1 && (slot = find_slot(admission, now_s)) &&
           (fd = accept4(admission->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        *slot = (struct admission_pending){.fd = fd, .since_s = now_s};
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (getrandom(slot->nonce, NONCE_BYTES, 0) != NONCE_BYTES ||
            send(fd, slot->nonce, NONCE_BYTES, MSG_NOSIGNAL | MSG_DONTWAIT) != NONCE_BYTES)
            drop(slot);
    }
}

/* Returns 1 if the whole proof was received, 0 if not yet, -1 if the other end is gone. */
static int read_proof(struct admission_pending *pending)
{
    ssize_t got = recv(pending->fd, (char *)&pending->proof + pending->length,
                       sizeof pending->proof - pending->length, MSG_DONTWAIT);

    if (got < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -1;
    if (got == 0)
        return -1;
    pending->length += (size_t)got;
    return pending->length == sizeof pending->proof;
}

/* Whether the proof is right; if so, sends the answer. */
static bool is_admitted(const struct admission *admission, const struct admission_pending *pending)
{
    const struct admission_proof *proof = &pending->proof;
    unsigned char mac[SHA256_BYTES];

    make_mac(admission->key, "caller", proof->rank, proof->nonce, pending->nonce, mac);
    if (!sha256_equal(mac, proof->mac) || proof->rank < 0 || proof->rank >= admission->rank_count)
        return false;
    make_mac(admission->key, "listener", proof->rank, proof->nonce, pending->nonce, mac);
    return send(pending->fd, mac, sizeof mac, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof mac;
}

int admission_next(struct admission *admission, double now_s, int *rank)
{
    accept_all(admission, now_s);
    for (int i = 0; i < ADMISSION_PENDING; i++) {
        struct admission_pending *pending = &admission->pending[i];
        int got = pending->fd < 0 ? 0 : read_proof(pending), fd = pending->fd;

        if (got == 1 && is_admitted(admission, pending)) {
            pending->fd = -1;
            *rank = pending->proof.rank;
            return fd;
        }
        if (got != 0 || (fd >= 0 && now_s - pending->since_s > ADMISSION_PROOF_S))
            drop(pending);
    }
    return -1;
}

/* Returns 0, or -1 with errno. */
static int receive_all(int fd, void *data, size_t size, double until_s)
{
    for (size_t at = 0; at < size;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        double left_s = until_s - clock_s();
        ssize_t got;

        errno = ETIMEDOUT;
        if (left_s <= 0 || poll(&wait, 1, (int)(1e3 * left_s) + 1) == 0)
            return -1;
        got = recv(fd, (char *)data + at, size - at, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got <= 0) {
            errno = ECONNRESET;
            return -1;
        }
        at += (size_t)got;
    }
    return 0;
}

int admission_call(int fd, const unsigned char *key, int rank, int timeout_ms)
{
    double until_s = clock_s() + 1e-3 * timeout_ms;
    unsigned char nonce[NONCE_BYTES], mac[SHA256_BYTES], answer[SHA256_BYTES];
    struct admission_proof proof = {.rank = rank};

    if (receive_all(fd, nonce, sizeof nonce, until_s) != 0 ||
        getrandom(proof.nonce, NONCE_BYTES, 0) != NONCE_BYTES)
        return -1;
    make_mac(key, "caller", rank, proof.nonce, nonce, proof.mac);
    if (send(fd, &proof, sizeof proof, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof proof) {
        errno = ECONNRESET;
        return -1;
    }
    if (receive_all(fd, answer, sizeof answer, until_s) != 0)
        return -1;
    make_mac(key, "listener", rank, proof.nonce, nonce, mac);
    errno = EACCES;
    return sha256_equal(mac, answer) ? 0 : -1;
}
