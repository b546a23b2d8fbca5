/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CPU_H
#define MUSTER_CPU_H

#include <math.h>

#include "trainer/compute/compute.h"
#include "trainer/compute/element.h"

/* The parts of compute_cpu, each in a file of its own; built once more for compute_bf16. */

void cpu_layernorm(const activations *in, const real *weight, const real *bias, int rows,
                   int channels, activations *out, real *mean, real *rstd);
void cpu_layernorm_backward(const activations *dout, const activations *in, const real *weight,
                            const real *mean, const real *rstd, int rows, int channels,
                            activations *din, real *dweight, real *dbias);
void cpu_attention(const activations *qkv, int batch, int time, int heads, int channels,
                   activations *out, real *sums);
void cpu_attention_backward(const activations *dout, const activations *qkv, const activations *out,
                            const real *sums, int batch, int time, int heads, int channels,
                            activations *dqkv);
void cpu_gelu(activations *x, const real *bias, int rows, int columns, activations *out);
void cpu_gelu_backward(const activations *x, size_t count, activations *d, activations *out);
void cpu_add(const activations *a, const activations *b, const real *bias, int rows, int columns,
             activations *out);
void cpu_sum_rows(const activations *d, int rows, int columns, real *dbias);
void cpu_embed(const int32_t *tokens, const real *wte, const real *wpe, int batch, int time,
               int channels, activations *out);
void cpu_embed_backward(const activations *dout, const int32_t *tokens, int batch, int time,
                        int channels, real *dwte, real *dwpe);
void cpu_cross_entropy(real *logits, const int32_t *targets, int rows, int vocabulary, real scale,
                       real *losses, activations *dlogits);

/* Bytes of scratch of the calling thread, aligned to 64, kept from call to call: page faults would
 * cost more than the work. What was got before of that kind is lost. Ends the program where there
 * is no memory. */
enum cpu_room {
    CPU_ROOM_OWN,    /* for a thread's part of the work */
    CPU_ROOM_SHARED, /* for what all threads read of it */
    CPU_ROOMS
};
void *cpu_room(enum cpu_room which, size_t size_bytes);

/* One product on the calling thread, by the BLAS library. */
struct gemm {
    int m, n, k;
    const real *a, *b;
    real *c;
    int lda, ldb, ldc;
    bool is_a_transposed, is_b_transposed;
    real alpha, beta;
};
void cpu_gemm(const struct gemm *gemm);

/* Sums are made in that many lanes, whatever the processor's vectors are, then lane by lane. */
enum { CPU_LANES = 16 };

/* e^x, to be used inside vectorised loops. In float by Cephes' expf: x = n ln 2 + r, a polynomial
 * of r; error under 2 units in the last place (measured by tests/unit/trainer/compute.c).
 * Below -87 it gives 0, above 88 the greatest that it can. */
static inline real cpu_exp(real x)
{
#ifdef MUSTER_REAL_DOUBLE
    return exp(x);
#else
    /* 1.5 * 2^23: what is added to it is rounded to a whole number, which then stands in the low
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

/* What each precision does alike, as members of a struct compute. */
#define CPU_OPERATIONS                                                                             \
    .layernorm = cpu_layernorm, .layernorm_backward = cpu_layernorm_backward,                      \
    .attention = cpu_attention, .attention_backward = cpu_attention_backward, .gelu = cpu_gelu,    \
    .gelu_backward = cpu_gelu_backward, .add = cpu_add, .sum_rows = cpu_sum_rows,                  \
    .embed = cpu_embed, .embed_backward = cpu_embed_backward, .cross_entropy = cpu_cross_entropy

#endif
