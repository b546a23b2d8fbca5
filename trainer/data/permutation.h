/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_PERMUTATION_H
#define MUSTER_PERMUTATION_H

#include <stdint.h>

/* Returns element `index` of a permutation of 0 ... count - 1 (count >= 1), drawn by seed. A
 * Feistel network over the least even number of bits that holds count, applied until the result is
 * below it (Black, Rogaway: Ciphers with arbitrary finite domains, 2002, cycle walking). */
uint64_t permutation_at(uint64_t seed, uint64_t count, uint64_t index);

#endif
