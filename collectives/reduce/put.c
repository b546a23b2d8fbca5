/* SPDX-License-Identifier: Apache-2.0 */
#include "collectives/reduce/put.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "collectives/reduce/nontemporal.h"

/* What is written to look is more than a processor holds back until it has a line. */
enum { LOOK_BYTES = 4096, LEAST_BYTES = 2 * LOOK_BYTES, LINE_BYTES = 64 };

/* Of the time stamp counter, 2 to 3 of which are a nanosecond, for a line. Measured on Zen 4: 8 to
 * 25 where the reader shares a cache, 60 to 200 where it does not, 10 past the caches. */
enum { SLOW_TICKS = 40 };

/* That go past the caches without a look once one was slow: looks then cost a tenth at most. */
enum { SLOW_BYTES = 1 << 19 };

#ifdef __x86_64__
#include <immintrin.h>

/* When all that was written before can be seen. */
static uint64_t ticks(void)
{
    _mm_mfence();
    return __rdtsc();
}
#else
static uint64_t ticks(void)
{
    return 0;
}
#endif

/* Whether what was written to look, since `begin`, took long. */
static bool is_slow(struct put_pace *pace, uint64_t begin)
{
    if (ticks() - begin <= SLOW_TICKS * LOOK_BYTES / LINE_BYTES)
        return false;
    pace->slow_left = SLOW_BYTES;
    return true;
}

static void go_on(struct put_pace *pace, size_t bytes)
{
    pace->slow_left -= bytes < pace->slow_left ? bytes : pace->slow_left;
}

void put_copy(struct put_pace *pace, void *out, const void *in, size_t bytes)
{
    uint64_t begin;

    if (bytes < LEAST_BYTES) {
        memcpy(out, in, bytes);
        return;
    }
    if (pace->slow_left > 0) {
        go_on(pace, bytes);
        nontemporal_copy(out, in, bytes);
        return;
    }
    begin = ticks();
    memcpy(out, in, LOOK_BYTES);
    out = (char *)out + LOOK_BYTES;
    in = (const char *)in + LOOK_BYTES;
    if (is_slow(pace, begin))
        nontemporal_copy(out, in, bytes - LOOK_BYTES);
    else
        memcpy(out, in, bytes - LOOK_BYTES);
}

void put_reduce(struct put_pace *pace, enum element_type type, enum reduce_op op, const void *left,
                const void *right, void *out, size_t count)
{
    size_t each = element_bytes(type), look = LOOK_BYTES / each;
    uint64_t begin;

    if (count * each < LEAST_BYTES) {
        reduce_pair(type, op, left, right, out, count);
        return;
    }
    if (pace->slow_left > 0) {
        go_on(pace, count * each);
        nontemporal_reduce_pair(type, op, left, right, out, count);
        return;
    }
    begin = ticks();
    reduce_pair(type, op, left, right, out, look);
    (is_slow(pace, begin) ? nontemporal_reduce_pair : reduce_pair)(
        type, op, (const char *)left + LOOK_BYTES, (const char *)right + LOOK_BYTES,
        (char *)out + LOOK_BYTES, count - look);
}
