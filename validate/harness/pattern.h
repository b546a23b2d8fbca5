/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PATTERN_H
#define MUSTER_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Message data that both ends can compute. Every byte depends on the sender, the receiver, the
 * message size, a seed and its offset; so a damaged, shifted, stale or misdirected message is
 * detected. splitmix64 (Steele, Lea, Flood 2014) generates the words. */
struct pattern {
    uint64_t state;
};

struct pattern pattern_of(uint32_t from, uint32_t to, uint64_t size_bytes, uint64_t seed);

/* Returns the byte at the offset. */
uint8_t pattern_byte(const struct pattern *pattern, size_t offset);

/* Fills data[0, size) with the first bytes of the pattern. */
void pattern_fill(const struct pattern *pattern, void *data, size_t size);

/* Returns the offset of the first byte that differs, or size if none differs. */
size_t pattern_check(const struct pattern *pattern, const void *data, size_t size);

/* Hashes two words into one. */
uint64_t pattern_mix(uint64_t a, uint64_t b);

#endif
