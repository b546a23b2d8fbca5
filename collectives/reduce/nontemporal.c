/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/reduce/nontemporal.h"

#include "collectives/processor.h"

#include <stdint.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>

enum { LINE = 64 };

/* Copies up to the first whole cache line of out. Returns the number of bytes. */
static size_t copy_head(char *out, const char *in, size_t bytes)
{
    size_t head = -(uintptr_t)out % LINE;

    head = head < bytes ? head : bytes;
    memcpy(out, in, head);
    return head;
}

/* Copies whole lines of out by non-temporal stores, and the rest by ordinary ones. A fence orders
 * the non-temporal stores before later ones. */
#define DEFINE_COPY(path, target, vector, load, stream)                                            \
    target static void path##_copy(void *to, const void *from, size_t bytes)                       \
    {                                                                                              \
        enum { EACH = sizeof(vector), VECTORS = LINE / EACH };                                     \
        size_t at = to == from ? bytes : copy_head(to, from, bytes);                               \
        char *out = to;                                                                            \
        const char *in = from;                                                                     \
                                                                                                   \
        for (; bytes - at >= LINE; at += LINE) {                                                   \
            vector line[VECTORS];                                                                  \
                                                                                                   \
            for (size_t i = 0; i < VECTORS; i++)                                                   \
                line[i] = load((const void *)(in + at + i * EACH));                                \
            for (size_t i = 0; i < VECTORS; i++)                                                   \
                stream((void *)(out + at + i * EACH), line[i]);                                    \
        }                                                                                          \
        _mm_sfence();                                                                              \
        memcpy(out + at, in + at, bytes - at);                                                     \
    }

DEFINE_COPY(portable, , __m128i, _mm_loadu_si128, _mm_stream_si128)
DEFINE_COPY(avx2, PROCESSOR_TARGET_AVX2, __m256i, _mm256_loadu_si256, _mm256_stream_si256)
DEFINE_COPY(avx512, PROCESSOR_TARGET_AVX512, __m512i, _mm512_loadu_si512, _mm512_stream_si512)
#else
static void portable_copy(void *out, const void *in, size_t bytes)
{
    memmove(out, in, bytes);
}
#endif

#define ROW(path, target) path##_copy,
PROCESSOR_PATHS(nontemporal_copy_fn *, nontemporal_path_at, ROW)

void nontemporal_copy(void *out, const void *in, size_t bytes)
{
    best(out, in, bytes);
}

/* Computes a piece at a time in the nearest cache, then copies it past the caches. */
void nontemporal_reduce_pair(enum element_type type, enum reduce_op op, const void *left,
                             const void *right, void *out, size_t count)
{
    enum { PIECE_BYTES = 4096 };
    _Alignas(64) char piece[PIECE_BYTES];
    size_t each = element_bytes(type), most = PIECE_BYTES / each;

    for (size_t at = 0; at < count; at += most) {
        size_t some = count - at < most ? count - at : most;

        reduce_pair(type, op, (const char *)left + at * each, (const char *)right + at * each,
                    piece, some);
        nontemporal_copy((char *)out + at * each, piece, some * each);
    }
}
