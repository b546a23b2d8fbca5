/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SHA256_H
#define MUSTER_SHA256_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), to prove that two processes know the same
 * secret. Not optimized, as a connection has only a few messages. */

enum { SHA256_BYTES = 32 };

struct sha256 {
    uint32_t state[8];
    uint64_t length_bytes;
    unsigned char block[64];
};

void sha256_start(struct sha256 *sha256);
void sha256_add(struct sha256 *sha256, const void *data, size_t size_bytes);
void sha256_end(struct sha256 *sha256, unsigned char digest[SHA256_BYTES]);

/* Computes the MAC of the message with a key of any length. */
void hmac_sha256(const void *key, size_t key_bytes, const void *message, size_t message_bytes,
                 unsigned char mac[SHA256_BYTES]);

/* Returns whether the two are equal, in a time that does not depend on where they differ. */
int sha256_equal(const unsigned char first[SHA256_BYTES], const unsigned char second[SHA256_BYTES]);

#endif
