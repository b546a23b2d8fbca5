/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trainer/data/permutation.h"

#include "lib/base/splitmix.h"

enum { FEISTEL_ROUNDS = 6 };

static uint64_t shuffle_bits(uint64_t seed, unsigned half_bits, uint64_t value)
{
    uint64_t mask = ((uint64_t)1 << half_bits) - 1;
    uint64_t left = value >> half_bits, right = value & mask;

    for (uint64_t round = 0; round < FEISTEL_ROUNDS; round++) {
        /* the seed of a round, then the number that it has for this half */
        uint64_t mixed = splitmix_at(splitmix_at(seed, round), right) & mask;
        uint64_t next = left ^ mixed;

        left = right;
        right = next;
    }
    return left << half_bits | right;
}

uint64_t permutation_at(uint64_t seed, uint64_t count, uint64_t index)
{
    unsigned half_bits = 1;

    while (half_bits < 31 && count > (uint64_t)1 << 2 * half_bits)
        half_bits++;
    do
        index = shuffle_bits(seed, half_bits, index);
    while (index >= count);
    return index;
}
