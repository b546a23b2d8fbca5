/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_AMOUNT_H
#define MUSTER_AMOUNT_H

#include <stddef.h>

/* What a collective of about so many bytes moves. Pure. */
struct amount {
    size_t block; /* floats of a block, one at least */
    size_t bytes; /* of all blocks together, as nccl-tests counts them */
};

/* blocks: one for each rank, or 1 where the collective has no blocks. */
struct amount amount_of(size_t bytes, int blocks);

#endif
