/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_BF16_GEMM_H
#define MUSTER_BF16_GEMM_H

#include <stdbool.h>

#include "trainer/compute/element.h"

/* One product of operands as bf16_pack.h makes them, summed in float, on the calling thread: c = a
 * b, or c += a b. a: m x k; b: k x n, packed; c: m x n. k is a multiple of BF16_DEPTH. */
struct bf16_gemm {
    int m, n, k;
    const element *a, *b;
    real *c;
    bool is_added;
};

/* By oneDNN. Ends the program, with a line, where that refuses or memory is short. */
void bf16_gemm(const struct bf16_gemm *gemm);

/* Whether the processor has instructions for it. *found: "AMX", "AVX-512 bf16", or what oneDNN says
 * that there is. */
bool bf16_gemm_has_processor(const char **found);

#endif
