/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BF16_PACK_H
#define MUSTER_BF16_PACK_H

#include <stddef.h>

#include "trainer/compute/element.h"

/* Packs operands of products in bfloat16 as bf16_gemm() reads them, so that the library need not
 * pack them once more. Both are padded with zeros, depths to a multiple of BF16_DEPTH.
 *
 * a (m x k): row after row.
 * b (k x n): oneDNN's BA16a64b2a, which is what AMX takes: blocks of BF16_COLUMNS columns one
 * behind the other, in each the rows pair by pair, in each of these column after column. */

enum { BF16_DEPTH = 32, BF16_COLUMNS = 64, BF16_LONGEST = 4096 };

/* Returns size rounded up to a multiple of unit. */
int bf16_padded(int size, int unit);

/* Returns the number of elements of a packed b. */
size_t bf16_packed_size(int k, int n);

/* from: a matrix whose rows are `stride` elements apart; to: aligned to 64. */

/* b from k x n. */
void bf16_pack_reals(const real *from, size_t stride, int k, int n, element *to);
void bf16_pack(const element *from, size_t stride, int k, int n, element *to);
/* b from its transpose, n x k; k: at most BF16_LONGEST. */
void bf16_pack_reals_transposed(const real *from, size_t stride, int k, int n, element *to);
/* a from m x k. */
void bf16_pad(const element *from, size_t stride, int m, int k, element *to);
/* a from its transpose, k x m. */
void bf16_transpose(const element *from, size_t stride, int m, int k, element *to);

/* Copies numbers that are not read again soon past the caches. Other threads see them when
 * bf16_settle() has returned. */
void bf16_stream(const real *from, int count, real *to);
void bf16_settle(void);

#endif
