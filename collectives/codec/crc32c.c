/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/codec/crc32c.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* the polynomial without its highest term, lowest bit first */
#define POLYNOMIAL 0x82f63b78u

/* table[k][b]: the CRC of byte b followed by k bytes of 0. Filled before main(), so that threads
 * need no synchronization. */
static uint32_t table[8][256];

__attribute__((constructor)) static void fill_table(void)
{
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][b] = crc;
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t b = 0; b < 256; b++)
            table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

uint32_t crc32c_portable(uint32_t crc, const uint8_t *bytes, size_t length)
{
    crc = ~crc;
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t x;

        memcpy(&x, bytes, sizeof x);
        x ^= crc;
        crc = table[7][x & 0xff] ^ table[6][x >> 8 & 0xff] ^ table[5][x >> 16 & 0xff] ^
              table[4][x >> 24 & 0xff] ^ table[3][x >> 32 & 0xff] ^ table[2][x >> 40 & 0xff] ^
              table[1][x >> 48 & 0xff] ^ table[0][x >> 56];
    }
    for (; length > 0; bytes++, length--)
        crc = crc >> 8 ^ table[0][(crc ^ *bytes) & 0xff];
    return ~crc;
}

#ifdef __x86_64__

/* The instruction has a throughput of one cycle and a latency of three: three stretches of this
 * many bytes run side by side and are joined. */
enum { STRETCH = 1024 };

/* x^n modulo the polynomial, lowest bit first (bit 31 is x^0). */
static uint32_t power_of_x(unsigned n)
{
    uint32_t power = 0x80000000;

    for (; n > 0; n--)
        power = power >> 1 ^ (power & 1 ? POLYNOMIAL : 0);
    return power;
}

/* Appending n bytes of 0 multiplies a CRC by x^(8 n). The product of two numbers with their lowest
 * bit first lacks one factor x, and reducing its 64 bits by the instruction adds a factor x^32. */
static uint32_t behind_one, behind_two;

/* Folding: to move sixteen bytes forward over others (64 bytes, or 256), multiply their first eight
 * by the first of these numbers, and their last eight by the second. */
static uint64_t over_vector[2], over_four[2];

static void fill_fold(unsigned bytes, uint64_t fold[2])
{
    fold[0] = power_of_x(8 * bytes + 64 - 33);
    fold[1] = power_of_x(8 * bytes - 33);
}

__attribute__((constructor)) static void fill_powers(void)
{
    behind_one = power_of_x(8 * STRETCH - 33);
    behind_two = power_of_x(16 * STRETCH - 33);
    fill_fold(64, over_vector);
    fill_fold(4 * 64, over_four);
}

__attribute__((target("sse4.2,pclmul"))) static inline uint32_t moved(uint32_t crc, uint32_t power)
{
    __m128i product =
        _mm_clmulepi64_si128(_mm_cvtsi32_si128((int)crc), _mm_cvtsi32_si128((int)power), 0);

    return (uint32_t)_mm_crc32_u64(0, (uint64_t)_mm_cvtsi128_si64(product));
}

__attribute__((target("sse4.2,pclmul"))) uint32_t crc32c_sse42(uint32_t crc, const uint8_t *bytes,
                                                               size_t length)
{
    uint64_t first = ~crc;

    first &= 0xffffffff;
    for (; length >= 3 * STRETCH; bytes += 3 * STRETCH, length -= 3 * STRETCH) {
        uint64_t second = 0, third = 0;

        for (size_t i = 0; i < STRETCH; i += 8) {
            uint64_t a, b, c;

            memcpy(&a, bytes + i, 8);
            memcpy(&b, bytes + STRETCH + i, 8);
            memcpy(&c, bytes + 2 * STRETCH + i, 8);
            first = _mm_crc32_u64(first, a);
            second = _mm_crc32_u64(second, b);
            third = _mm_crc32_u64(third, c);
        }
        first = moved((uint32_t)first, behind_two) ^ moved((uint32_t)second, behind_one) ^ third;
    }
    for (; length >= 8; bytes += 8, length -= 8) {
        uint64_t a;

        memcpy(&a, bytes, 8);
        first = _mm_crc32_u64(first, a);
    }
    for (; length > 0; bytes++, length--)
        first = _mm_crc32_u8((uint32_t)first, *bytes);
    return ~(uint32_t)first;
}

#define VECTORS                                                                                    \
    __attribute__((target("sse4.2,pclmul,avx512f,avx512bw,avx512dq,avx512vl,vpclmulqdq")))

bool crc32c_has_vectors(void)
{
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul") &&
           __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("vpclmulqdq");
}

VECTORS static inline __m512i folded(__m512i bytes, __m512i fold, __m512i onto)
{
    __m512i first = _mm512_clmulepi64_epi128(bytes, fold, 0x00);
    __m512i last = _mm512_clmulepi64_epi128(bytes, fold, 0x11);

    return _mm512_ternarylogic_epi64(first, last, onto, 0x96); /* the sum of all three */
}

/* Folds four vectors over the bytes, and then into one vector, which has the same CRC as all of
 * them. */
VECTORS uint32_t crc32c_vectors(uint32_t crc, const uint8_t *bytes, size_t length)
{
    uint8_t left[64];
    __m512i a, b, c, d, fold;
    uint64_t rest = 0;

    if (length < 8 * 64)
        return crc32c_sse42(crc, bytes, length);
    a = _mm512_xor_si512(_mm512_loadu_si512(bytes),
                         _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)~crc)));
    b = _mm512_loadu_si512(bytes + 64);
    c = _mm512_loadu_si512(bytes + 128);
    d = _mm512_loadu_si512(bytes + 192);
    fold = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)over_four));
    for (bytes += 256, length -= 256; length >= 256; bytes += 256, length -= 256) {
        a = folded(a, fold, _mm512_loadu_si512(bytes));
        b = folded(b, fold, _mm512_loadu_si512(bytes + 64));
        c = folded(c, fold, _mm512_loadu_si512(bytes + 128));
        d = folded(d, fold, _mm512_loadu_si512(bytes + 192));
    }
    fold = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)over_vector));
    d = folded(folded(folded(a, fold, b), fold, c), fold, d);
    for (; length >= 64; bytes += 64, length -= 64)
        d = folded(d, fold, _mm512_loadu_si512(bytes));
    _mm512_storeu_si512(left, d);
    for (size_t i = 0; i < 64; i += 8) {
        uint64_t eight;

        memcpy(&eight, left + i, 8);
        rest = _mm_crc32_u64(rest, eight);
    }
    return crc32c_sse42(~(uint32_t)rest, bytes, length);
}

#endif

uint32_t crc32c(uint32_t crc, const void *bytes, size_t length)
{
#ifdef __x86_64__
    if (crc32c_has_vectors())
        return crc32c_vectors(crc, bytes, length);
    if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul"))
        return crc32c_sse42(crc, bytes, length);
#endif
    return crc32c_portable(crc, bytes, length);
}
