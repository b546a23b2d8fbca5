/* SPDX-License-Identifier: Apache-2.0 */
#include "validate/battery/host/kernels.h"

#include <stdbool.h>
#include <string.h>

#include "lib/base/splitmix.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { LANES = 8, TABLE = 512 };

/* LANES chains of x = r x (1 - x), in which nothing can be left out or put in another order, and a
 * table in the first-level cache that each step reads and writes. */
#define COMPUTE(multiply_add)                                                                      \
    uint64_t table[TABLE], word = 1, sum = 0;                                                      \
    double x[LANES];                                                                               \
                                                                                                   \
    for (int i = 0; i < TABLE; i++)                                                                \
        table[i] = splitmix_at(7, (uint64_t)i);                                                    \
    for (int i = 0; i < LANES; i++)                                                                \
        x[i] = 0.1 + 0.1 * i;                                                                      \
    for (long step = 0; step < steps; step++) {                                                    \
        for (int i = 0; i < LANES; i++) {                                                          \
            double t = 3.99 * x[i];                                                                \
                                                                                                   \
            x[i] = multiply_add(-t, x[i], t);                                                      \
        }                                                                                          \
        word = (word ^ table[word >> 55]) * UINT64_C(0xBF58476D1CE4E5B9) + (uint64_t)step;         \
        table[step % TABLE] ^= word;                                                               \
    }                                                                                              \
    for (int i = 0; i < LANES; i++) {                                                              \
        uint64_t bits;                                                                             \
                                                                                                   \
        memcpy(&bits, &x[i], sizeof bits);                                                         \
        sum = splitmix_at(sum ^ bits, 0);                                                          \
    }                                                                                              \
    for (int i = 0; i < TABLE; i++)                                                                \
        sum = splitmix_at(sum ^ table[i], 0);                                                      \
    return sum

#if defined __x86_64__
__attribute__((target("fma"))) static uint64_t compute_fused(long steps)
{
    COMPUTE(__builtin_fma);
}

static bool has_fused(void)
{
    return __builtin_cpu_supports("fma");
}
#elif defined __FP_FAST_FMA
static uint64_t compute_fused(long steps)
{
    COMPUTE(__builtin_fma);
}

static bool has_fused(void)
{
    return true;
}
#else
#define compute_fused compute_plain
static bool has_fused(void)
{
    return false;
}
#endif

/* In two steps, each rounded: the compiler must not fuse them, nor keep more bits. */
static inline double multiply_then_add(double a, double b, double c)
{
    volatile double product = a * b;

    return product + c;
}

static uint64_t compute_plain(long steps)
{
    COMPUTE(multiply_then_add);
}

const char *kernel_instructions(void)
{
    return has_fused() ? "fma" : "mul";
}

uint64_t kernel_compute(long steps)
{
    return has_fused() ? compute_fused(steps) : compute_plain(steps);
}

void kernel_triad(double *a, const double *b, const double *c, double factor, size_t count)
{
#ifdef __SSE2__
    __m128d factors = _mm_set1_pd(factor);

    for (size_t i = 0; i < count; i += 2)
        _mm_stream_pd(a + i,
                      _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(factors, _mm_load_pd(c + i))));
    _mm_sfence();
#else
    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + factor * c[i];
#endif
}
