/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/bench/least_work.h"

#include <string.h>

#include "collectives/reduce/reduce.h"

enum { PIECE = 4096 }; /* numbers: a sum of several stays in the cache */

/* The sum of `ranks` parts that follow each other. */
static void sum(int ranks, const float *parts, float *out, size_t count)
{
    for (size_t at = 0; at < count; at += PIECE) {
        size_t some = count - at < PIECE ? count - at : PIECE;

        for (int part = 1; part < ranks; part++)
            reduce_pair(ELEMENT_FP32, REDUCE_SUM, part == 1 ? parts + at : out + at,
                        parts + (size_t)part * count + at, out + at, some);
    }
}

void least_work(enum collective_kind kind, int ranks, const void *in, void *out, size_t bytes)
{
    size_t share = bytes / sizeof(float) / (size_t)ranks,
           others = bytes / (size_t)ranks * (size_t)(ranks - 1);

    switch (kind) {
    case COLLECTIVE_ALLREDUCE:
        sum(ranks, in, out, share);
        memcpy((float *)out + share, in, others);
        return;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_REDUCE:
        sum(ranks, in, out, share);
        return;
    case COLLECTIVE_BROADCAST: /* to the others, by all ranks together */
        memcpy(out, in, others);
        return;
    default:
        memcpy(out, in, bytes);
    }
}
