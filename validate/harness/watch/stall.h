/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MUSTER_STALL_H
#define MUSTER_STALL_H

#include <stddef.h>
#include <stdint.h>

#include "lib/constants/harness_constants.h"

/* Who holds up a job in which nothing moves any more: no rank has done a step, and no byte has gone
 * over any rank's sockets. Pure.
 *
 * Slow is not hung. Time counts against a rank only as far as it had a processor or slept: time
 * that its main thread was ready to run and others ran is the machine's. */

enum {
    STALL_WORKING = -2,  /* outside of MPI */
    STALL_WAIT_ALL = -1, /* in an operation of all ranks */
    /* >= 0: waits for this rank */
};

struct stall_rank {
    uint32_t progress; /* steps done */
    int waits_for;
    double had_s;    /* of the time without progress: less what it waited in a run queue */
    double queued_s; /* that; NAN: unknown to the kernel, and had_s is 0 */
};

enum stall_kind {
    STALL_SLOW,    /* not enough evidence yet: some that it depends on were not scheduled */
    STALL_UNKNOWN, /* all wait, none is behind */
    STALL_HUNG, /* the faulty ranks do not take part: they are outside of MPI, or behind the rest */
    STALL_PAIR, /* faulty ranks[0] and [1] wait for each other */
    STALL_PAIRS, /* several do at once, [0] and [1], [2] and [3], ...: they have no end in common,
                    so what stops them is none of theirs */
};

/* allowed_s: what each of them must have had at least. faulty ranks holds up to count ranks. */
enum stall_kind stall_find(const struct stall_rank *ranks, size_t count, double allowed_s,
                           int *faulty_ranks, size_t *faulty_count);

/* How long nothing may move in a job of so many ranks: base_s (10 s where it is 0), or less under a
 * short time limit, and more with many ranks. */
double stall_allowed_s(double base_s, double time_limit_s, int size);

/* The silence of a rank that counts as frozen, when heartbeats come every interval_s and the
 * longest pause between two that came lately was gap_s: of this rank, or at rank 0. */
double stall_silence_s(double interval_s, double gap_s);

/* That pause, after another one. */
double stall_gap_s(double gap_s, double pause_s);

/* Whether so many silent nodes of others (all but rank 0's) are more likely the network's fault, or
 * that of rank 0's node, than their own. */
int stall_is_common(int silent, int others);

#endif
