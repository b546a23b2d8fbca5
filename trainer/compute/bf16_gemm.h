/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BF16_GEMM_H
#define MUSTER_BF16_GEMM_H

#include <stdbool.h>
#include <stddef.h>

#include "trainer/compute/element.h"

/* Memory that will be read next: rows of row_bytes, stride_bytes apart; rows 0: none is known. */
struct bf16_ahead {
    const void *from;
    size_t row_bytes, stride_bytes;
    int rows;
};

/* Where sums go: reals or elements, rows stride numbers apart. */
struct bf16_out {
    real *reals;
    element *elements; /* instead of reals: rounded */
    size_t stride;
    bool is_added; /* reals: added to; else set, past the caches, see bf16_settle() */
};

/* One product of operands as bf16_pack.h makes them, summed in float, on the calling thread: c = a
 * b, or c += a b. a: m x k; b: k x n, packed; c: m x n. k is a multiple of BF16_DEPTH and at most
 * BF16_LONGEST. */
struct bf16_gemm {
    int m, n, k;
    int a_stride; /* on AMX k */
    const element *a, *b;
    real *c;                    /* sums of this and the next products of a sum, or room for them */
    const struct bf16_out *out; /* for the last product of a sum: instead of c; else NULL */
    bool is_added;
    struct bf16_ahead ahead; /* prefetched meanwhile, if that can be done */
};

/* Computes the product by oneDNN on AMX, else by bf16_gemm_avx512(). Ends the program, with a line,
 * if oneDNN fails or memory is out. */
void bf16_gemm(const struct bf16_gemm *gemm);

/* The columns (a multiple of BF16_COLUMNS) and the terms of b with which a product of some hundred
 * rows is fastest: what it reads, and what is prefetched meanwhile, fit into a core's cache. */
struct bf16_tile {
    int columns, depth;
};
struct bf16_tile bf16_gemm_tile(void);

/* Computes the product on processors with AVX-512 bf16. */
void bf16_gemm_avx512(const struct bf16_gemm *gemm);

/* Whether the processor has instructions for bfloat16. Sets *found to "AMX", "AVX-512 bf16", or the
 * instructions that oneDNN finds. */
bool bf16_gemm_has_processor(const char **found);

#endif
