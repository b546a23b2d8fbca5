/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_SPLITMIX_H
#define MUSTER_SPLITMIX_H

#include <stdint.h>

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
 * The state after n numbers is seed + n * gamma, so any number of the sequence can be computed
 * without the numbers before it: each rank makes only its own part of weights and data. */
#define SPLITMIX_GAMMA UINT64_C(0x9E3779B97F4A7C15)

/* Returns number `index`, from 0, of the seed's sequence. */
static inline uint64_t splitmix_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * SPLITMIX_GAMMA;

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Returns the next number of the sequence and advances its state, which is the seed at first. */
static inline uint64_t splitmix_next(uint64_t *state)
{
    uint64_t number = splitmix_at(*state, 0);

    *state += SPLITMIX_GAMMA;
    return number;
}

#endif
