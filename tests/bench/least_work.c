/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/bench/least_work.h"

#include "collectives/reduce/nontemporal.h"

enum { PIECE = 1024 }; /* numbers; a partial sum of so many stays in the L1 cache */

/* Sums `ranks` parts of count numbers each, which follow each other in memory. */
static void sum(int ranks, const float *parts, float *out, size_t count)
{
    _Alignas(64) float piece[PIECE];

    for (size_t at = 0; at < count; at += PIECE) {
        size_t some = count - at < PIECE ? count - at : PIECE;

        for (int part = 1; part < ranks; part++)
            reduce_pair(ELEMENT_FP32, REDUCE_SUM, part == 1 ? parts + at : piece,
                        parts + (size_t)part * count + at, piece, some);
        nontemporal_copy(out + at, piece, some * sizeof *piece);
    }
}

void least_work(enum collective_kind kind, int ranks, const void *in, void *out, size_t bytes)
{
    size_t share = bytes / sizeof(float) / (size_t)ranks,
           others = bytes / (size_t)ranks * (size_t)(ranks - 1);

    switch (kind) {
    case COLLECTIVE_ALLREDUCE:
        sum(ranks, in, out, share);
        nontemporal_copy((float *)out + share, in, others);
        return;
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_REDUCE:
        sum(ranks, in, out, share);
        return;
    case COLLECTIVE_BROADCAST: /* all ranks share the copies for the others */
        nontemporal_copy(out, in, others);
        return;
    default:
        nontemporal_copy(out, in, bytes);
    }
}
