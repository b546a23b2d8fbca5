/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PATTERN_H
#define MUSTER_PATTERN_H

#include <stddef.h>
#include <stdint.h>

/* Data that both ends of a message can compute: every byte depends on who sent it to whom, on the
 * message's size, on a seed and on its place, so that a message that is damaged, shifted, stale or
 * another's is seen. splitmix64 (Steele, Lea, Flood 2014) gives the words. */
struct pattern {
    uint64_t state;
};

struct pattern pattern_of(uint32_t from, uint32_t to, uint64_t size_bytes, uint64_t seed);

/* The byte at that offset. */
uint8_t pattern_byte(const struct pattern *pattern, size_t offset);

/* Fills data[0, size) with the pattern's first bytes. */
void pattern_fill(const struct pattern *pattern, void *data, size_t size);

/* The offset of the first byte that differs, or size when all are right. */
size_t pattern_check(const struct pattern *pattern, const void *data, size_t size);

/* One well-mixed word from two. */
uint64_t pattern_mix(uint64_t a, uint64_t b);

#endif
