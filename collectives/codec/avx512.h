/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_CODEC_AVX512_H
#define MUSTER_CODEC_AVX512_H

#include "collectives/codec/path.h"

/* The path for machines with VBMI2: Intel since Ice Lake, AMD since Zen 4. A group's 64 lanes are
 * four vectors of sixteen states; lane 16 j + i is lane i of vector j and belongs to element
 * 4 i + j. The functions are struct codec_path's. */

#ifdef __x86_64__
#include <immintrin.h>

#define AVX512                                                                                     \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2,bmi,bmi2,"    \
                          "popcnt,prfchw")))

/* A function whose constant arguments, such as the type, give each caller a loop of its own. */
#define AVX512_INLINE AVX512 static inline __attribute__((always_inline))

/* Bytes ahead to prefetch: a processor itself prefetches only within a page, and a block spans
 * dozens of pages. The address may be outside the buffer. */
enum { AHEAD = 1024 };

AVX512_INLINE void fetch(const uint8_t *bytes, size_t length)
{
    UNROLL
    for (size_t i = 0; i < length; i += 64)
        __builtin_prefetch(bytes + AHEAD + i, 0);
}

AVX512_INLINE void fetch_to_write(const uint8_t *bytes, size_t length)
{
    UNROLL
    for (size_t i = 0; i < length; i += 64)
        __builtin_prefetch(bytes + AHEAD + i, 1);
}

/* Byte indices for vpermb and vpermi2b, where 64 and more mean the second vector. */
#define FOUR(M, n) M((n)), M((n) + 1), M((n) + 2), M((n) + 3)
#define SIXTEEN(M, n) FOUR(M, (n)), FOUR(M, (n) + 4), FOUR(M, (n) + 8), FOUR(M, (n) + 12)

#define FORTY_EIGHT ((__mmask64)0xffffffffffff)

__typeof__(*((const struct codec_path *)0)->split) codec_avx512_split;
__typeof__(*((const struct codec_path *)0)->encode) codec_avx512_encode;
__typeof__(*((const struct codec_path *)0)->decode) codec_avx512_decode;
__typeof__(*((const struct codec_path *)0)->decode_two) codec_avx512_decode_two;

#endif
#endif
