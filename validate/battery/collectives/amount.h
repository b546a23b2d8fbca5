/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AMOUNT_H
#define MUSTER_AMOUNT_H

#include <stddef.h>

/* The amount of data that a collective of about `bytes` bytes moves. Pure. */
struct amount {
    size_t block; /* floats of a block, one at least */
    size_t bytes; /* of all blocks together, as nccl-tests counts them */
};

/* blocks: the number of ranks, or 1 if the collective has no blocks. */
struct amount amount_of(size_t bytes, int blocks);

#endif
