/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of muster-gpu. This text is compiled at run time: as C++ by NVRTC for a device, and
 * as C by the stand-in (tests/gpu), which loops over the threads. No thread waits for another or
 * reads what another wrote in the same launch. Each writes its own elements, except the list of
 * errors, whose entries are assigned by an atomic counter, and the counters of atomic_add. */

#ifdef __cplusplus
#define KERNEL extern "C" __global__
#else
#define KERNEL __global__
#endif

typedef unsigned long long word;

/* struct kernel_work of device.h */
struct work {
    void *to;
    const void *from, *other;
    word *errors;
    word count, seed, pattern, base;
};

#define THREAD ((word)blockIdx.x * blockDim.x + threadIdx.x)
#define THREADS ((word)gridDim.x * blockDim.x)

__device__ static word mixed(word value)
{
    value = (value ^ (value >> 31)) * 0x9e3779b97f4a7c15ull;
    value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9ull;
    return value ^ (value >> 32);
}

__device__ static void wrong(word *errors, word index, word found, word expected)
{
    word slot = atomicAdd(errors, 1ull);

    if (slot < 16) {
        errors[1 + 3 * slot] = index;
        errors[2 + 3 * slot] = found;
        errors[3 + 3 * slot] = expected;
    }
}

/* Two matrices whose product is known: A[i][k] = u(i) s(k), B[k][j] = s(k) v(j), so that
 * C[i][j] = u(i) v(j) S with S the sum of s(k)^2. u and v are whole numbers from 1 to 15 with a
 * sign, s from 1 to 3 with a sign: all partial sums are whole and below 2^24 up to 8192 columns,
 * and so exact in whatever order they are added. Each precision has the same numbers, but for fp8:
 * that has four significant bits, and matrix units may add 14 (DeepSeek-V3, arXiv 2412.19437,
 * section 3.3.2). There s is 1 or -1, and u and v are powers of two up to 8 with a sign. */
#define FP8 3 /* work.pattern: its mantissa's bits */
__device__ static int factor(const struct work *work, word index)
{
    word bits = mixed(work->seed + index);

    return (bits & 16 ? -1 : 1) * (int)(work->pattern == FP8 ? 1 << bits % 4 : 1 + bits % 15);
}

__device__ static int inner(const struct work *work, word index)
{
    word bits = mixed(work->seed + (index << 20) + 77);

    return (bits & 16 ? -1 : 1) * (int)(work->pattern == FP8 ? 1 : 1 + bits % 3);
}

__device__ static word inner_sum(const struct work *work)
{
    word sum = 0;

    for (word k = 0; k < work->count; k++)
        sum += (word)(inner(work, k) * inner(work, k));
    return sum;
}

/* Factors: `to` is A, by columns, `other` is B, by rows (so both are written alike). Product: count
 * is a multiple of 8; a thread computes 8 by 8 elements of C. */
#define PRODUCT(type, precision)                                                                   \
    KERNEL void fill_factors_##precision(struct work work)                                         \
    {                                                                                              \
        type *a = (type *)work.to, *b = (type *)work.other;                                        \
                                                                                                   \
        for (word i = THREAD; i < work.count * work.count; i += THREADS) {                         \
            word k = i / work.count, j = i % work.count;                                           \
                                                                                                   \
            a[i] = (type)(inner(&work, k) * factor(&work, j));                                     \
            b[i] = (type)(inner(&work, k) * factor(&work, j + work.count));                        \
        }                                                                                          \
    }                                                                                              \
    KERNEL void product_##precision(struct work work)                                              \
    {                                                                                              \
        const word n = work.count, tiles = n / 8;                                                  \
        const type *a = (const type *)work.from, *b = (const type *)work.other;                    \
        type *c = (type *)work.to;                                                                 \
                                                                                                   \
        if (THREAD < tiles * tiles) {                                                              \
            const word row = THREAD / tiles * 8, column = THREAD % tiles * 8;                      \
            type sums[8][8];                                                                       \
                                                                                                   \
            for (int i = 0; i < 8; i++)                                                            \
                for (int j = 0; j < 8; j++)                                                        \
                    sums[i][j] = 0;                                                                \
            for (word k = 0; k < n; k++) {                                                         \
                type left[8], right[8];                                                            \
                                                                                                   \
                for (int i = 0; i < 8; i++) {                                                      \
                    left[i] = a[k * n + row + i];                                                  \
                    right[i] = b[k * n + column + i];                                              \
                }                                                                                  \
                for (int i = 0; i < 8; i++)                                                        \
                    for (int j = 0; j < 8; j++)                                                    \
                        sums[i][j] += left[i] * right[j];                                          \
            }                                                                                      \
            for (int i = 0; i < 8; i++)                                                            \
                for (int j = 0; j < 8; j++)                                                        \
                    c[(row + i) * n + column + j] = sums[i][j];                                    \
        }                                                                                          \
    }

#define VERIFY(type, precision)                                                                    \
    KERNEL void verify_##precision(struct work work)                                               \
    {                                                                                              \
        const type *c = (const type *)work.from;                                                   \
        const long long sum = (long long)inner_sum(&work);                                         \
                                                                                                   \
        for (word i = THREAD; i < work.count * work.count; i += THREADS) {                         \
            long long expected =                                                                   \
                sum * factor(&work, i / work.count) * factor(&work, i % work.count + work.count);  \
                                                                                                   \
            if (c[i] != (type)expected)                                                            \
                wrong(work.errors, i, (word)(long long)c[i], (word)expected);                      \
        }                                                                                          \
    }

PRODUCT(float, fp32)
PRODUCT(double, fp64)
VERIFY(float, fp32)
VERIFY(double, fp64)
VERIFY(int, int32)

/* Returns the bits of an integer other than 0, with magnitude below 64: in two's complement, or if
 * `mantissa` is not 0 as a float with so many mantissa bits (IEEE 754 or similar). */
__device__ static word encoded(int value, int bytes, int mantissa)
{
    const word bias = mantissa == 3 ? 7 : mantissa == 10 ? 15 : mantissa == 52 ? 1023 : 127;
    const word magnitude = (word)(value < 0 ? -value : value), sign = value < 0;
    int exponent = 0;

    if (mantissa == 0)
        return (word)(long long)value;
    while (magnitude >> exponent > 1)
        exponent++;
    return sign << (8 * bytes - 1) | (bias + (word)exponent) << mantissa |
           ((magnitude << mantissa >> exponent) & ((1ull << mantissa) - 1));
}

/* Factors for a product by the vendor's library: `to` is A, `other` is B, both by rows. base: bytes
 * of an element; pattern: bits of its mantissa. */
KERNEL void fill_operands(struct work work)
{
    const int bytes = (int)work.base, mantissa = (int)work.pattern;

    for (word i = THREAD; i < work.count * work.count; i += THREADS) {
        const int common = inner(&work, i % work.count);
        const word a = encoded(common * factor(&work, i / work.count), bytes, mantissa);
        const word b =
            encoded(common * factor(&work, i / work.count + work.count), bytes, mantissa);

        if (bytes == 1) {
            ((unsigned char *)work.to)[i] = (unsigned char)a;
            ((unsigned char *)work.other)[i] = (unsigned char)b;
        } else if (bytes == 2) {
            ((unsigned short *)work.to)[i] = (unsigned short)a;
            ((unsigned short *)work.other)[i] = (unsigned short)b;
        } else if (bytes == 4) {
            ((unsigned *)work.to)[i] = (unsigned)a;
            ((unsigned *)work.other)[i] = (unsigned)b;
        } else {
            ((word *)work.to)[i] = a;
            ((word *)work.other)[i] = b;
        }
    }
}

/* count: vectors of four floats */
KERNEL void memory_copy(struct work work)
{
    float4 *to = (float4 *)work.to;
    const float4 *from = (const float4 *)work.from;

    for (word i = THREAD; i < work.count; i += THREADS)
        to[i] = from[i];
}

/* Writes only for a sum that never occurs, which the compiler cannot know. */
KERNEL void memory_read(struct work work)
{
    const float4 *from = (const float4 *)work.from;
    float sum = 0;

    for (word i = THREAD; i < work.count; i += THREADS) {
        float4 four = from[i];

        sum += four.x + four.y + four.z + four.w;
    }
    if (sum == -1.25e37f)
        ((float *)work.to)[THREAD] = sum;
}

KERNEL void memory_write(struct work work)
{
    float4 *to = (float4 *)work.to;
    float4 four;

    four.x = four.y = four.z = four.w = (float)work.seed;
    for (word i = THREAD; i < work.count; i += THREADS)
        to[i] = four;
}

KERNEL void memory_triad(struct work work)
{
    float4 *to = (float4 *)work.to;
    const float4 *from = (const float4 *)work.from, *other = (const float4 *)work.other;

    for (word i = THREAD; i < work.count; i += THREADS) {
        float4 left = from[i], right = other[i];

        left.x += 3 * right.x;
        left.y += 3 * right.y;
        left.z += 3 * right.z;
        left.w += 3 * right.w;
        to[i] = left;
    }
}

/* Every thread adds `count` times to each of `pattern` counters in turn; each starts at another
 * counter. The addend is seed times the counter's number from 1. */
KERNEL void atomic_add(struct work work)
{
    word *to = (word *)work.to;

    for (word k = 0; k < work.count * work.pattern; k++) {
        word i = (THREAD + k) % work.pattern;

        atomicAdd(to + i, work.seed * (i + 1));
    }
}

/* Returns the expected word at the index. pattern: 0 its index, 1 the complement, 2 a walking bit,
 * 3 its complement, 4 random bits, 5 their complement. */
__device__ static word pattern_of(const struct work *work, word index)
{
    word value = work->base + index;

    if (work->pattern / 2 == 1)
        value = 1ull << (value + work->seed) % 64;
    else if (work->pattern / 2 == 2)
        value = mixed(value + work->seed);
    return work->pattern % 2 ? ~value : value;
}

/* count: words */
KERNEL void pattern_write(struct work work)
{
    word *to = (word *)work.to;

    for (word i = THREAD; i < work.count; i += THREADS)
        to[i] = pattern_of(&work, i);
}

KERNEL void pattern_verify(struct work work)
{
    const word *from = (const word *)work.from;

    for (word i = THREAD; i < work.count; i += THREADS) {
        word found = from[i], expected = pattern_of(&work, i);

        if (found != expected)
            wrong(work.errors, i, found, expected);
    }
}
