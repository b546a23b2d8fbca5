/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CPU_H
#define MUSTER_CPU_H

#include <math.h>

#include "trainer/compute/compute.h"
#include "trainer/compute/element.h"

/* The members of struct compute, as functions. Each precision has its own linear layers, in
 * cpu_linear.c and bf16_linear.c; the others are in the files cpu_*.c, which are built once more
 * for compute_bf16. */
#define LINEAR_FUNCTIONS(EACH, prefix)                                                             \
    EACH(prefix, linear)                                                                           \
    EACH(prefix, linear_real)                                                                      \
    EACH(prefix, linear_backward_in)                                                               \
    EACH(prefix, linear_backward_weight)
#define CPU_FUNCTIONS(EACH)                                                                        \
    EACH(cpu, layernorm)                                                                           \
    EACH(cpu, layernorm_backward)                                                                  \
    EACH(cpu, attention)                                                                           \
    EACH(cpu, attention_backward)                                                                  \
    EACH(cpu, gelu)                                                                                \
    EACH(cpu, gelu_backward)                                                                       \
    EACH(cpu, add)                                                                                 \
    EACH(cpu, sum_rows)                                                                            \
    EACH(cpu, embed)                                                                               \
    EACH(cpu, embed_backward)                                                                      \
    EACH(cpu, cross_entropy)

#define COMPUTE_MEMBER(prefix, name) .name = prefix##_##name,
#define COMPUTE_DECLARE(prefix, name)                                                              \
    __typeof__(*((const struct compute *)0)->name) prefix##_##name;
LINEAR_FUNCTIONS(COMPUTE_DECLARE, cpu)
LINEAR_FUNCTIONS(COMPUTE_DECLARE, bf16)
CPU_FUNCTIONS(COMPUTE_DECLARE)

/* Returns scratch memory of the calling thread, aligned to 64, kept from call to call: page faults
 * would cost more than the work. Invalidates what it returned before for the same kind. Ends the
 * program if memory is out. */
enum cpu_scratch {
    CPU_SCRATCH_OWN,     /* for a thread's part of the work */
    CPU_SCRATCH_SHARED,  /* for what all threads read */
    CPU_SCRATCH_LIBRARY, /* for a library's product, which runs on one thread */
    CPU_SCRATCH_KINDS
};
void *cpu_scratch(enum cpu_scratch which, size_t size_bytes);

/* Computes one product on the calling thread, by the BLAS library. */
struct gemm {
    int m, n, k;
    const real *a, *b;
    real *c;
    int lda, ldb, ldc;
    bool is_a_transposed, is_b_transposed;
    real alpha, beta;
};
void cpu_gemm(const struct gemm *gemm);

/* Sums are made in this many lanes, whatever the processor's vector length, then over the lanes. */
enum { CPU_LANES = 16 };

/* Returns e^x, for vectorized loops. In float by Cephes' expf: x = n ln 2 + r, a polynomial of r;
 * error under 2 units in the last place (measured by tests/unit/trainer/compute.c). Below -87 it
 * returns 0, above 88 the same as for 88. */
static inline real cpu_exp(real x)
{
#ifdef MUSTER_REAL_DOUBLE
    return exp(x);
#else
    /* 1.5 * 2^23: a number that is added to it is rounded to an integer, which is then in the low
     * bits */
    union {
        float f;
        uint32_t bits;
    } shifted, power;
    float clamped = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x, whole, r;
    float y = 1.9875691500e-4f;

    shifted.f = clamped * 1.44269504088896341f + 12582912.0f;
    whole = shifted.f - 12582912.0f;
    power.bits = (shifted.bits - 0x4B400000u + 127u) << 23;
    r = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
    y = y * r + 1.3981999507e-3f;
    y = y * r + 8.3334519073e-3f;
    y = y * r + 4.1665795894e-2f;
    y = y * r + 1.6666665459e-1f;
    y = y * r + 5.0000001201e-1f;
    y = y * r * r + r + 1.0f;
    return x < -87.0f ? 0.0f : y * power.f;
#endif
}

#endif
