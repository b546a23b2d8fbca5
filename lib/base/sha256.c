/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/base/sha256.h"

#include <string.h>

enum { BLOCK_BYTES = 64, ROUNDS = 64 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4,
 * section 4.2.2). */
static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate(uint32_t word, int bits)
{
    return word >> bits | word << (32 - bits);
}

/* Section 6.2.2. */
static void add_block(uint32_t state[8], const unsigned char *block)
{
    uint32_t words[ROUNDS], v[8];

    for (int t = 0; t < 16; t++)
        words[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
                   (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (int t = 16; t < ROUNDS; t++) {
        uint32_t w15 = words[t - 15], w2 = words[t - 2];

        words[t] = words[t - 16] + words[t - 7] + (rotate(w15, 7) ^ rotate(w15, 18) ^ w15 >> 3) +
                   (rotate(w2, 17) ^ rotate(w2, 19) ^ w2 >> 10);
    }
    memcpy(v, state, sizeof v);
    for (int t = 0; t < ROUNDS; t++) {
        uint32_t first = v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) +
                         ((v[4] & v[5]) ^ (~v[4] & v[6])) + round_constants[t] + words[t];
        uint32_t second = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) +
                          ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));

        memmove(&v[1], &v[0], 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_start(struct sha256 *sha256)
{
    *sha256 = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void sha256_add(struct sha256 *sha256, const void *data, size_t size_bytes)
{
    const unsigned char *bytes = data;

    while (size_bytes > 0) {
        size_t used = sha256->length_bytes % BLOCK_BYTES;
        size_t some = size_bytes < BLOCK_BYTES - used ? size_bytes : BLOCK_BYTES - used;

        memcpy(sha256->block + used, bytes, some);
        sha256->length_bytes += some;
        bytes += some;
        size_bytes -= some;
        if (used + some == BLOCK_BYTES)
            add_block(sha256->state, sha256->block);
    }
}

void sha256_end(struct sha256 *sha256, unsigned char digest[SHA256_BYTES])
{
    static const unsigned char padding[BLOCK_BYTES] = {0x80};
    uint64_t length_bits = 8 * sha256->length_bytes;
    size_t used = sha256->length_bytes % BLOCK_BYTES;
    unsigned char length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(length_bits >> (56 - 8 * i));
    sha256_add(sha256, padding, used < 56 ? 56 - used : 120 - used);
    sha256_add(sha256, length, sizeof length);
    for (int i = 0; i < SHA256_BYTES; i++)
        digest[i] = (unsigned char)(sha256->state[i / 4] >> (24 - 8 * (i % 4)));
}

void hmac_sha256(const void *key, size_t key_bytes, const void *message, size_t message_bytes,
                 unsigned char mac[SHA256_BYTES])
{
    unsigned char padded[BLOCK_BYTES] = {0};
    struct sha256 sha256;

    if (key_bytes > BLOCK_BYTES) {
        sha256_start(&sha256);
        sha256_add(&sha256, key, key_bytes);
        sha256_end(&sha256, padded);
    } else {
        memcpy(padded, key, key_bytes);
    }
    for (int i = 0; i < BLOCK_BYTES; i++)
        padded[i] ^= 0x36;
    sha256_start(&sha256);
    sha256_add(&sha256, padded, sizeof padded);
    sha256_add(&sha256, message, message_bytes);
    sha256_end(&sha256, mac);
    for (int i = 0; i < BLOCK_BYTES; i++)
        padded[i] ^= 0x36 ^ 0x5c;
    sha256_start(&sha256);
    sha256_add(&sha256, padded, sizeof padded);
    sha256_add(&sha256, mac, SHA256_BYTES);
    sha256_end(&sha256, mac);
}

int sha256_equal(const unsigned char first[SHA256_BYTES], const unsigned char second[SHA256_BYTES])
{
    unsigned char differs = 0;

    for (int i = 0; i < SHA256_BYTES; i++)
        differs |= first[i] ^ second[i];
    return differs == 0;
}
